# ends: ModuleNotFoundError: No module named 'not_there'
def load(name):
    module = __import__(name)
    return module.__name__


print(load("json"))
try:
    from os import nothing
except ImportError as error:
    print(error.name, str(error).partition("(")[0])
try:
    import json.nothing
except ModuleNotFoundError as error:
    print(error)
import lib
# --- file: lib.py
def setup():
    import not_there


setup()
