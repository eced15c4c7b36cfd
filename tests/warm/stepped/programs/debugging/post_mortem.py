# stdin: w\np n\nup\np k\nll\nq\n
import pdb
import sys


def g(n):
    m = n - 1
    return 1 / m


def f():
    k = 1
    return g(k)


try:
    f()
except ZeroDivisionError:
    pdb.post_mortem(sys.exc_info()[2])
print("after")
