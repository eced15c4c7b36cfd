import sys


def tracer(frame, event, arg):
    if event == "exception":
        print("exception", frame.f_code.co_name, frame.f_lineno, arg[0].__name__)
    return tracer


def f():
    raise KeyError("k")


def g():
    try:
        f()
    except KeyError:
        return 1


sys.settrace(tracer)
g()
next(iter([]), None)
sys.settrace(None)
