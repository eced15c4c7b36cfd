import sys


def depth():
    n = 0
    frame = sys._getframe()
    while frame:
        n += 1
        frame = frame.f_back
    return n


def f(n):
    global most
    most = n
    return f(n + 1)


most = 0
for limit in (100, 150, 301):
    sys.setrecursionlimit(limit)
    try:
        f(0)
    except RecursionError:
        print(limit, most, depth())
