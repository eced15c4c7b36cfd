# ends: ValueError: thrown
def g():
    x = 1
    yield x
    yield x + 1


it = g()
next(it)
it.throw(ValueError("thrown"))
