# ends: ZeroDivisionError
def f(n):
    text = "one"
    return text * n


g = f.__code__.replace(co_consts=tuple("two" if c == "one" else c for c in f.__code__.co_consts))
f.__code__ = g
print(f(2))


def h(a):
    return 1 / a


h.__code__ = h.__code__.replace(co_name="renamed", co_firstlineno=100, co_filename="other.py")
h(0)
