import importlib

import lib

print(lib.n, lib.f())
lib.n = 50
with open(lib.__file__, "a") as f:
    f.write("\nadded = 'yes'\nn += 1\n")
importlib.invalidate_caches()
import sys

sys.dont_write_bytecode = True
lib = importlib.reload(lib)
print(lib.n, lib.f(), lib.added)
# --- file: lib.py
print("loading", __name__)
n = globals().get("n", 0) + 1


def f():
    return n
