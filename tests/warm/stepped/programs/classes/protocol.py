from typing import Protocol, runtime_checkable


@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...


class Door:
    def close(self) -> None:
        print("closed")


class Wall:
    pass


for thing in (Door(), Wall()):
    print(type(thing).__name__, isinstance(thing, Closes))
    if isinstance(thing, Closes):
        thing.close()
