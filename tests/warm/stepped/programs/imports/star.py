from lib import *

print(sorted(k for k in globals() if not k.startswith("__")), f())
from other import *

print(_hidden, shown)
# --- file: lib.py
import os
a = 1
_b = 2


def f():
    return a + _b
# --- file: other.py
__all__ = ["_hidden", "shown"]
_hidden = 1
shown = 2
extra = 3
