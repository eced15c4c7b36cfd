# ends: ZeroDivisionError
import os


def f():
    return 1 / 0


os.remove(__file__)
f()
