import inspect


def check(f):
    sig = inspect.signature(f)
    print(f.__name__, sig)

    def inner(*args, **kwargs):
        bound = sig.bind(*args, **kwargs)
        bound.apply_defaults()
        return f(*bound.args, **bound.kwargs), dict(bound.arguments)

    return inner


@check
def f(a, /, b: int, c=3, *args, d, e=5, **kw) -> list:
    return [a, b, c, d]


print(f(1, 2, d=4, z=1))
print(inspect.getfullargspec(lambda x, *y, z=1, **w: 0))


class A:
    def __init__(self, p, q=1): ...

    def m(self, r): ...


print(inspect.signature(A), inspect.signature(A.m), inspect.signature(A(1).m))
