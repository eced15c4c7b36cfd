# ends: RecursionError
import sys


def f(n):
    if n:
        return f(n - 1)
    sys.setrecursionlimit(3)
    return "never"


f(20)
