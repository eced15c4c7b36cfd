# ends: ZeroDivisionError
import sys

try:
    import lib
except ZeroDivisionError:
    print("lib" in sys.modules)
import lib
# --- file: lib.py
print("lib starts")
x = 1


def f():
    return x / 0


f()
