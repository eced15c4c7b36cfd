import sys


def f():
    return [sys._getframe(i).f_code.co_name for i in range(3)], sys._getframe().f_lineno


def g():
    return f()


print(g())
try:
    sys._getframe(10)
except ValueError as error:
    print(error)
