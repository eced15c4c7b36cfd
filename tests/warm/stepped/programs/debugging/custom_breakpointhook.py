import sys


def hook(*args, **kw):
    frame = sys._getframe(1)
    print("hook", args, kw, frame.f_code.co_name, frame.f_lineno, frame.f_locals)


sys.breakpointhook = hook


def f(a):
    breakpoint("x", y=1)
    for i in range(2):
        breakpoint()
    return a


f(5)
