# ends: ZeroDivisionError
def apply(f, *args):
    result = f(*args)
    return result


add = lambda a, b=1: a + b
print(apply(add, 1), apply(lambda: (lambda: 3)())())if 0 else print(apply(add, 1))
print(sorted([3, 1, 2], key=lambda n: -n))
print(list(map(lambda n: 1 / n, [1, 0])))
