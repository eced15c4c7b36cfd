import sys


def gen():
    print("g1", sys.exc_info()[0])
    yield
    try:
        raise KeyError
    except KeyError:
        yield
        print("g2", sys.exc_info()[0].__name__)
    print("g3", sys.exc_info()[0])
    yield


g = gen()
try:
    raise ValueError
except ValueError:
    next(g)
    next(g)
    print("main", sys.exc_info()[0].__name__)
next(g)
print("main", sys.exc_info()[0])
