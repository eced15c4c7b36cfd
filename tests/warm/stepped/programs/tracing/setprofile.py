import sys

events = []


def profiler(frame, event, arg):
    name = frame.f_code.co_name if "c_" not in event else arg.__name__
    events.append((event, name, frame.f_lineno))


def f(n):
    if n:
        return f(n - 1)
    return len("abc")


def g():
    yield 1
    yield 2


sys.setprofile(profiler)
f(2)
list(g())
sys.setprofile(None)
print(*events, sep="\n")
