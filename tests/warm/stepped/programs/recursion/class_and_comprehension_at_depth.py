import sys

sys.setrecursionlimit(200)


def f(n):
    class A:
        x = n

        def m(self):
            return f(A.x + 1)

    seen.append(n)
    return [A().m() for _ in range(1)][0]


seen = []
try:
    f(0)
except RecursionError:
    print(len(seen))
