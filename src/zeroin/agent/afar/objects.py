"""Objects of the other process: strings, dicts and sets, and what they hold."""

from __future__ import annotations

import sys

from .layout import Layout, kind_of_text
from .memory import WORD, LostError, Memory, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .image import Image

LONGEST = 1 << 16  # characters of a string
LARGEST = 1 << 24  # entries of a dict or a set
_ENCODINGS = {1: "latin-1", 2: "utf-16-le", 4: "utf-32-le"}
_DICT_KEYS, _DICT_VALUES = 32, 40
_SET_MASK, _SET_TABLE = 32, 40
_TYPE_NAME = 24


class Objects:
    """The objects of a process that runs the same interpreter as this one."""

    def __init__(self, memory: Memory, layout: Layout, here: Image, there: Image) -> None:
        self.memory = memory
        self.layout = layout
        self._here = here
        self._there = there

    def place(self, static: object) -> int:
        """Where something is that lies in the interpreter's file, like a built-in type."""
        return self._here.at(self._there, id(static))

    def type_of(self, address: int) -> int:
        """The address of an object's type."""
        return self.memory.word(address + WORD)

    def is_a(self, address: int, kind: type) -> bool:
        """Whether it is of a built-in type, and of no class derived from it."""
        return bool(address) and self.type_of(address) == self.place(kind)

    def must_be(self, address: int, kind: type) -> int:
        """Believe nothing that is of another type."""
        if not self.is_a(address, kind):
            raise LostError(f"no {kind.__name__} at {address:#x}")
        return address

    def type_name(self, kind: int) -> str:
        """The name of a type, as C has it: with its module where it is written in C."""
        name = self.memory.text(self.memory.word(kind + _TYPE_NAME))
        return name.decode("utf-8", "replace")

    def text(self, address: int) -> str:
        """A string."""
        self.must_be(address, str)
        blob = self.memory.some(address, 256)
        length = int.from_bytes(blob[16:24], "little")
        width, begin = self.layout.texts.get(kind_of_text(blob), (0, 0))
        if not width or length > LONGEST:
            raise LostError("a string of another kind")
        end = begin + length * width
        if end > len(blob):
            blob = self.memory.read(address, end)
        return blob[begin:end].decode(_ENCODINGS[width], "replace")

    def data(self, address: int) -> bytes:
        """What is in a bytes object."""
        self.must_be(address, bytes)
        size = self.memory.word(address + 16)
        if size > LONGEST * 16:
            raise LostError("too many bytes")
        return self.memory.read(address + self.layout.data_of_bytes, size)

    def number(self, address: int) -> int:
        """A small integer, as 3.12 and later keep them."""
        self.must_be(address, int)
        size = self.memory.word(address + 16) >> 3
        if size > 2:
            raise LostError("a large number")
        digits = [self.memory.int32(address + 24 + 4 * n) for n in range(size)]
        return sum(digit << 30 * n for n, digit in enumerate(digits))

    def items(self, address: int) -> Iterator[tuple[int, int]]:
        """The keys and values of a dict."""
        self.must_be(address, dict)
        keys = self.memory.word(address + _DICT_KEYS)
        values = self.memory.word(address + _DICT_VALUES)
        head = self.memory.read(keys, 40)
        if sys.version_info >= (3, 11):
            indices, count = 1 << head[9], int.from_bytes(head[24:32], "little")
            start, size = keys + 32 + indices, 3 if head[10] == 0 else 2
        else:
            slots, count = (int.from_bytes(head[at : at + 8], "little") for at in (8, 32))
            width = 1 if slots <= 0xFF else 2 if slots <= 0xFFFF else 4
            start, size = keys + 40 + slots * width, 3
        if count > LARGEST:
            raise LostError("too many keys")
        entries = words(self.memory.read(start, count * size * WORD))
        for number in range(count):
            key, value = entries[number * size + size - 2 : number * size + size]
            if values and not value:  # one of several dicts with the same keys
                value = self.memory.word(self._values(values) + number * WORD)
            if key and value:
                yield key, value

    def _values(self, values: int) -> int:
        return values + WORD if sys.version_info >= (3, 13) else values

    def get(self, address: int, name: str) -> int:
        """The value of a key that is a string; 0 if there is none."""
        for key, value in self.items(address):
            if self.is_a(key, str) and self.text(key) == name:
                return value
        return 0

    def members(self, address: int) -> Iterator[int]:
        """What is in a set."""
        self.must_be(address, set)
        slots = self.memory.word(address + _SET_MASK) + 1
        if slots > LARGEST:
            raise LostError("too many members")
        table = self.memory.read(self.memory.word(address + _SET_TABLE), slots * 2 * WORD)
        entries = words(table)
        for number in range(slots):
            key, hashed = entries[2 * number : 2 * number + 2]
            if key and hashed != (1 << 64) - 1:  # where a member was once
                yield key

    def weakly(self, address: int) -> Iterator[int]:
        """What is in a WeakSet."""
        for one in self.members(self._set_of(address)):
            found = self.memory.word(one + self.layout.weak_target)
            if found and found != self.place(None):
                yield found

    def _set_of(self, address: int) -> int:
        """A WeakSet is an instance as others are: its set is an attribute, in a dict or not."""
        try:
            found = address
            for step in self.layout.weak_set:
                found = self.memory.word(found + step)
            if found != address and self.is_a(found, set):
                return found
        except LostError:
            pass
        for place in range(-5 * WORD, 5 * WORD, WORD):
            try:
                found = self.memory.word(address + place)
                if self.is_a(found, dict):
                    return self.must_be(self.get(found, "data"), set)
            except LostError:
                continue
        raise LostError("a WeakSet without its set")
