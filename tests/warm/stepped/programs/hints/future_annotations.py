from __future__ import annotations

import typing


class Node:
    next: Node | None = None
    items: list[Undefined]

    def f(self, other: Node) -> list[Node]:
        return [self, other]


def g(x: int, y: "str" = "") -> typing.Optional[int]: ...


print(Node.__annotations__, Node.f.__annotations__)
print(typing.get_type_hints(g))
print(typing.get_type_hints(Node.f))
try:
    typing.get_type_hints(Node)
except Exception as error:
    print(type(error).__name__, error)
