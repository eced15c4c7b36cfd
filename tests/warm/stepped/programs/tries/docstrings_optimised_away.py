# options: -OO
"""Module doc."""


def f():
    """Gone."""
    return 1


class A:
    """Gone."""

    x = 1


print(__doc__, f.__doc__, A.__doc__, f())
