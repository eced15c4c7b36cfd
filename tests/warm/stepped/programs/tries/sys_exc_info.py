import sys


def name():
    kind = sys.exc_info()[0]
    return kind and kind.__name__


def f():
    print(name())
    try:
        raise ValueError
    except ValueError:
        print(name())
        try:
            raise KeyError
        except KeyError:
            print(name())
        print(name())
        for i in range(1):
            print(name())
    print(name())


f()
try:
    1 / 0
except ZeroDivisionError:
    f()
    print(name())
print(name())
