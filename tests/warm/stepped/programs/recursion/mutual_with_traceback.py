# ends: RecursionError
def a(n):
    return b(n)


def b(n):
    return c(n)


def c(n):
    return a(n)


a(0)
