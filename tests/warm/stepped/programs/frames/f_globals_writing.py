import sys


def inject(**kw):
    sys._getframe(1).f_globals.update(kw)


inject(a=1, b=2)
print(a + b)


def f():
    inject(c=3)
    return c


print(f())
