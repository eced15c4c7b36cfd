def f():
    y = "\q"
    return y is "a"


class A:
    z = 1 is 1


print(f(), A.z)
import lib
# --- file: lib.py
w = "\z"


def g():
    return 0 is 0
