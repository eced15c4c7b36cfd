import sys

lines = []


def tracer(frame, event, arg):
    lines.append((event, frame.f_lineno - frame.f_code.co_firstlineno))
    return tracer


def f(n):
    try:
        [][n]
    except (ValueError,
            IndexError) as e:
        if n:
            pass
    finally:
        for i in "a":
            continue
    while n < 2:
        n += 1
    else:
        n = 0
    with open(__file__) as h, \
            open(__file__):
        n = (
            1,
            2,
        )
    return n


sys.settrace(tracer)
f(0)
f(1)
sys.settrace(None)
print(lines)
