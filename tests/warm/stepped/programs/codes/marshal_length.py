import marshal


def f(n):
    a = n
    b = a
    return b


print(len(marshal.dumps(f.__code__)))
