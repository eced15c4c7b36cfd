# ends: failed
"""Module.

>>> add(1, 2)
3
>>> add(1, 2)
4
"""
import doctest
import sys


def add(a, b):
    """Add.

    >>> add(2, 2)
    4
    >>> add(1, "x")
    Traceback (most recent call last):
        ...
    TypeError: unsupported operand type(s) for +: 'int' and 'str'
    >>> 1 / 0
    """
    return a + b


class A:
    """
    >>> A().m()
    5
    """

    def m(self):
        """
        >>> A().m() + 1
        6
        """
        return 5


result = doctest.testmod()
sys.exit(f"{result.failed} failed of {result.attempted}")
