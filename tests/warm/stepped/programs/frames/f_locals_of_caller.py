import sys


def peek():
    frame = sys._getframe(1)
    return dict(frame.f_locals), frame.f_lineno


def f(a):
    b = a + 1
    print(peek())
    for i in range(2):
        c = i
        print(peek())
    try:
        1 / 0
    except ZeroDivisionError as e:
        print(sorted(peek()[0]))
    return sorted(peek()[0])


print(f(1))
