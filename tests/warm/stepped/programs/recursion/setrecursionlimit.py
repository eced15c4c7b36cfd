import sys

sys.setrecursionlimit(5000)


def f(n):
    if n == 0:
        return 0
    return 1 + f(n - 1)


print(f(4500), sys.getrecursionlimit())
sys.setrecursionlimit(200)
try:
    f(300)
except RecursionError:
    print("too deep")
print(f(100))
