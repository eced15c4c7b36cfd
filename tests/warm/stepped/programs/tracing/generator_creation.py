import sys


def gen():
    yield 1


def f():
    _ = (x for x in [1])
    _ = gen()
    for y in gen():
        z = y
    return z


lines = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        lines.append((frame.f_code.co_name, event, frame.f_lineno))
        return tracer


sys.settrace(tracer)
f()
sys.settrace(None)
print(*lines, sep="\n")
