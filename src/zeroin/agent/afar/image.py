"""The interpreter's own file in memory: what lies in it lies equally far in every process."""

from __future__ import annotations

import sys
from typing import NamedTuple

from .memory import WORD, LostError, Memory, words

REACH = 4096  # bytes of the interpreter's state, among which the loaded modules are


class Image(NamedTuple):
    """Where the interpreter's file is mapped in a process."""

    file: tuple[str, str]  # device and inode
    start: int
    writable: list[tuple[int, int]]  # its variables, start and end

    def at(self, other: Image, address: int) -> int:
        """The place in the other process of what lies at an address in this one."""
        return address - self.start + other.start


def own(memory: Memory) -> Image:
    """The file that holds the built-in types of this process."""
    for start, end, _, file, _ in memory.mappings():
        if start <= id(object) < end:
            # Variables without a value of their own lie in a mapping of no file behind it.
            return of(memory, file if file[1] != "0" else _file_before(memory, start))
    raise LostError("the interpreter's file is not mapped")


def _file_before(memory: Memory, address: int) -> tuple[str, str]:
    before = [file for start, _, _, file, _ in memory.mappings() if start < address]
    return next(file for file in reversed(before) if file[1] != "0")


def of(memory: Memory, file: tuple[str, str]) -> Image:
    """Where a file is mapped."""
    first = last = 0
    writable: list[tuple[int, int]] = []
    for start, end, flags, found, name in memory.mappings():
        if found == file:
            first = first or start
        elif not (first and start == last and found[1] == "0" and _is_nameless(name)):
            continue
        last = end
        if flags.startswith("rw"):
            writable.append((start, end))
    if not first:
        raise LostError("it runs another interpreter")
    return Image(file, first, writable)


def _is_nameless(name: str) -> bool:
    """No file's, and not the heap; some kernels name what is left."""
    return not name or name.startswith("[anon")


def roots(memory: Memory, image: Image) -> list[tuple[int, ...]]:
    """The ways from a variable of the interpreter to `sys.modules`, each a few offsets.

    From 3.11 on, the first interpreter's state is a variable; before, one points to it.
    """
    wanted = id(sys.modules)
    packed = wanted.to_bytes(WORD, "little")
    found: list[tuple[int, ...]] = []
    pointers: dict[int, int] = {}
    for start, end in image.writable:
        for number, word in enumerate(words(memory.read(start, end - start))):
            place = start + WORD * number - image.start
            if word == wanted:
                found.append((place,))
            elif word > 1 << 16 and not word % WORD:
                pointers.setdefault(word, place)
    if found:
        return found
    spans = [(s, e) for s, e, flags, *_ in memory.mappings() if flags.startswith("rw")]
    for word, place in pointers.items():
        if not any(start <= word < end for start, end in spans):
            continue
        inside = memory.some(word, REACH).find(packed)
        if inside >= 0 and not inside % WORD:
            found.append((place, inside))
    return found
