import inspect


def g():
    x = yield
    yield x


it = g()
print(inspect.getgeneratorstate(it), inspect.isgeneratorfunction(g), inspect.isgenerator(it))
next(it)
print(inspect.getgeneratorstate(it), inspect.getgeneratorlocals(it))
it.send(5)
print(inspect.getgeneratorlocals(it))
it.close()
print(inspect.getgeneratorstate(it))
