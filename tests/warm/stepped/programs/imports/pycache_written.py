import os

import lib

print(sorted(name.partition(".")[0] for name in os.listdir("__pycache__")))
print(os.path.exists(lib.__cached__), lib.f())
import importlib.util

print(open(lib.__cached__, "rb").read(4) == importlib.util.MAGIC_NUMBER)
import marshal

code = marshal.loads(open(lib.__cached__, "rb").read()[16:])
print(code.co_names, code.co_filename == lib.__file__)
# --- file: lib.py
def f():
    a = 1
    return a
