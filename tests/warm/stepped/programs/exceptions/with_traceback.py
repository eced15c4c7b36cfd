# ends: ValueError: moved
import sys


def f():
    raise KeyError("origin")


def g():
    try:
        f()
    except KeyError:
        tb = sys.exc_info()[2]
    raise ValueError("moved").with_traceback(tb)


g()
