from typing import Callable, ClassVar, Final, Literal, TypedDict, get_args, overload


class Movie(TypedDict, total=False):
    name: str
    year: int


class A:
    x: ClassVar[int] = 1
    y: Final = 2


@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x):
    return x


Mode = Literal["r", "w"]
print(Movie(name="x"), Movie.__annotations__, Movie.__total__, get_args(Mode), f(1), A.x + A.y)
print(Callable[[int], str])
