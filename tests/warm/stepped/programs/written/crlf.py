# bytes: crlf
# ends: ZeroDivisionError
import inspect


def f(a):
    b = """two
lines"""
    print(repr(b))
    return a / 0


print(repr(inspect.getsource(f)))
f(1)
