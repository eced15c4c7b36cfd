# needs: 3.10
import typing


def make():
    class Local:
        x: int
        y: "int | str"

    def f(a: Local, *b: int) -> Local: ...

    return Local, f


L, f = make()
print(typing.get_type_hints(L), f.__annotations__["a"] is L)
