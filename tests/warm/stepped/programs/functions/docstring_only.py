def f():
    """Only a docstring."""


def g():
    ...


def h():
    "also"
    "not this"
    return h.__doc__


print(f(), g(), h(), f.__doc__, g.__doc__)
