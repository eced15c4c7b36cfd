import sys


def f(x):
    return sys.getrefcount(x)


def g(x):
    y = x
    n = sys.getrefcount(x)
    return n, f(x)


v = []
print(f(v), g(v), f([]), (lambda z: sys.getrefcount(z))(v))


class A:
    def m(self):
        return sys.getrefcount(self)


a = A()
print(a.m(), A().m())
