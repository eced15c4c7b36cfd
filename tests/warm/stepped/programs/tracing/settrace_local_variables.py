import sys


def tracer(frame, event, arg):
    if frame.f_code.co_name == "f":
        print(event, frame.f_lineno, dict(frame.f_locals), arg if event == "return" else "")
        return tracer


def f(a):
    b = a + 1
    while b < 4:
        b += 1
    with open(__file__):
        c = b
    return c


sys.settrace(tracer)
f(1)
sys.settrace(None)
