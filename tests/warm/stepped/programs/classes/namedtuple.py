# ends: AttributeError
from collections import namedtuple
from typing import NamedTuple


class P(NamedTuple):
    """A point."""

    x: int
    y: int = 5

    def total(self):
        return self.x + self.y

    @property
    def flipped(self):
        return P(self.y, self.x)


Q = namedtuple("Q", "a b", defaults=[1])
print(P(1), P(1).total(), P(1).flipped, P._fields, P.__doc__, Q(3), Q.__module__)
P(1).x = 2
