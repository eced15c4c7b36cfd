import sys
from collections import namedtuple
from enum import Enum


def make():
    return namedtuple("P", "x"), Enum("E", "a b")


P, E = make()
print(P.__module__, E.__module__, namedtuple("Q", "y").__module__)
