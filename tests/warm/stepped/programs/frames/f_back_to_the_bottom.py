import sys


def names():
    out = []
    frame = sys._getframe()
    while frame:
        out.append((frame.f_code.co_name, frame.f_lineno, frame.f_code.co_filename == __file__))
        frame = frame.f_back
    return out


def a():
    return b()


def b():
    for _ in range(1):
        try:
            with open(__file__):
                return names()
        finally:
            pass


class C:
    x = names()


print(a())
print(C.x)
print(names())
