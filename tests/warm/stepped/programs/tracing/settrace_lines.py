import sys

events = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    events.append((frame.f_code.co_name, event, frame.f_lineno))
    return tracer


def f(n):
    total = 0
    for i in range(n):
        if i % 2:
            total += i
        else:
            continue
    try:
        total / 0
    except ZeroDivisionError:
        pass
    return total


sys.settrace(tracer)
f(3)
sys.settrace(None)
for e in events:
    print(*e)
