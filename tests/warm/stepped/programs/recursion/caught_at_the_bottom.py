import sys

sys.setrecursionlimit(150)
log = []


def f(n):
    x = n
    try:
        return f(x + 1)
    except RecursionError:
        log.append(x)
        y = x
        return y


print(f(0), len(log))


def g(n):
    with open(__file__):
        pass
    if n > 60:
        return n
    return g(n + 1)


print(g(0))
