import inspect


def outer():
    x = 1

    def inner(y):
        return x + y

    lam = lambda z: z * 2  # noqa
    return inner, lam


inner, lam = outer()
print(inspect.getsource(inner), inspect.getsource(lam))


def gen():
    yield 1


print(inspect.getsource(gen), inspect.getsource(gen().gi_frame))
