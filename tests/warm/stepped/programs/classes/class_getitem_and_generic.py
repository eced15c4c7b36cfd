from typing import Generic, TypeVar

T = TypeVar("T")


class Box(Generic[T]):
    def __init__(self, v: T):
        self.v = v


class Own:
    def __class_getitem__(cls, item):
        return f"{cls.__name__}[{item}]"


print(Box[int](3).v, Box[str], Own[1, 2], Own["x"])
