# needs: 3.10
from dataclasses import dataclass


@dataclass
class P:
    x: int
    y: int


class Old:
    __match_args__ = ("a",)

    def __init__(self):
        self.a = 1
        self.b = 2


def f(v):
    match v:
        case P(0, 0):
            return "origin"
        case P(x=0, y=n) | P(x=n, y=0):
            return "axis", n
        case P(x, y) if x == y:
            return "diagonal"
        case P():
            return "point"
        case Old(1, b=b):
            return "old", b
        case int(n) | float(n):
            return "number", n
        case str() as s:
            return "str", s
        case [P(x, y), *_]:
            return "list of", x, y


for v in (P(0, 0), P(0, 2), P(3, 0), P(4, 4), P(1, 2), Old(), 3, 2.5, "s", [P(8, 9)], None):
    print(f(v))
