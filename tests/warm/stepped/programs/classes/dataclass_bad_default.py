# ends: ValueError: mutable default
from dataclasses import dataclass


@dataclass
class Good:
    n: int = 1


print(Good())


@dataclass
class Bad:
    xs: list = []
