import inspect

G = 1


def outer(n):
    def f():
        return n + G + len("x")

    return f


print(inspect.getclosurevars(outer(2)))
