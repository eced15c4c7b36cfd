# ends: AttributeError: module 'lib' has no attribute 'other'
import lib

print(lib.lazy, lib.value, dir(lib))
from lib import lazy as again

print(again)
lib.other
# --- file: lib.py
value = 1


def __getattr__(name):
    print("getattr", name)
    if name == "lazy":
        return "made"
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return ["lazy", "value"]
