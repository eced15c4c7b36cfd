"""Where the fields of objects lie: found by looking at objects whose fields are known.

Each field is looked for in several objects at once, so that a value that is there by chance is
not taken for it.
"""

from __future__ import annotations

import asyncio
import sys
import types
import weakref
from typing import NamedTuple

from .memory import WORD, LostError, Memory, places, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence
    from typing import Any, TypeVar

    T = TypeVar("T", int, tuple[int, int], tuple[int, int, int])

REACH = 1024  # bytes of an object that are looked at
# From 3.11 on, a coroutine has its frame in it; before, the frame is an object.
IN_ONE = sys.version_info >= (3, 11)


class Layout(NamedTuple):
    """Offsets of fields, by the names that they have in Python."""

    texts: dict[int, tuple[int, int]]  # kind of a string → bytes of a character, where they begin
    data_of_bytes: int
    module_dict: int
    weak_target: int
    weak_set: tuple[int, ...]  # the way to the set in a WeakSet, if not by its dict
    type_base: int
    task_coro: int
    task_name: int
    task_state: int
    coro_code: int
    coro_frame: int  # where the frame is an object
    lasti: tuple[int, int]  # where it is, and what is added to the code's address or by how much
    awaited: tuple[int, int, int]  # see `_awaited`
    passed_on: dict[str, int]  # type → the field with the coroutine that it drives
    code_filename: int
    code_name: int
    code_lines: int
    code_first: int


class Pause:
    """Something to wait for."""

    def __await__(self) -> Generator[None, None, None]:
        """Wait."""
        yield


async def _pauses() -> int:
    await Pause()
    return 0


async def _few() -> None:
    await _pauses()


async def _some(one: int = 1, two: int = 2) -> None:
    three = one + two
    await _pauses()
    await _pauses()
    del three


async def _many(one: int = 1, two: int = 2, *more: int) -> Any:
    three, four, five = one, two, more
    await _pauses()
    return [three, four, (five, await _pauses())]


async def _rows() -> Any:
    await Pause()
    yield 1


def measured(memory: Memory) -> Layout:
    """Look at this process's own objects."""
    see = Seer(memory)
    loop = asyncio.new_event_loop()
    coros: list[Any] = [_few(), _some(), _some(), _many(), _many()]
    for coro, steps in zip(coros, (1, 1, 2, 1, 2)):
        for _ in range(steps):
            coro.send(None)
    named = [asyncio.Task(coro, loop=loop, name=f"of {coro}") for coro in coros]
    codes = [coro.cr_code for coro in coros]
    loaded = [asyncio, types, weakref]
    frames = [coro.cr_frame for coro in coros]
    kept = [{1}, {2}]
    sets: list[Any] = [weakref.WeakSet(), weakref.WeakSet()]
    for one, its in zip(sets, kept):
        one.data = its
    table = "co_linetable" if hasattr(codes[0], "co_linetable") else "co_lnotab"
    try:
        return Layout(
            texts=dict(map(see.text, ("zeroin", "z\xe9roin", "zer\u014din", "zeroin\U0001f41b"))),
            data_of_bytes=memory.read(id(b"zeroin"), 64).index(b"zeroin\0"),
            module_dict=see.field(loaded, [one.__dict__ for one in loaded]),
            weak_target=see.field([weakref.ref(one) for one in coros], coros),
            weak_set=see.way(sets, kept),
            type_base=see.field([bool, asyncio.CancelledError], [int, BaseException]),
            task_coro=see.field(named, coros),
            task_name=see.field(named, [one.get_name() for one in named]),
            task_state=_state(see, loop),
            coro_code=see.field(coros, codes),
            coro_frame=-1 if IN_ONE else see.field(coros, frames),
            lasti=_lasti(see, coros, frames, codes),
            awaited=_awaited(see, coros, frames),
            passed_on=dict(_passed_on(see)),
            code_filename=see.field(codes, [one.co_filename for one in codes]),
            code_name=see.field(codes, [one.co_name for one in codes]),
            code_lines=see.field(codes, [getattr(one, table) for one in codes]),
            code_first=see.int32(codes, [one.co_firstlineno for one in codes]),
        )
    finally:
        loop.close()


class Seer:
    """Finds fields of objects of this process."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def blob(self, one: object) -> bytes:
        """The beginning of an object."""
        return self.memory.some(id(one), REACH)

    def field(self, holders: Sequence[object], held: Sequence[object]) -> int:
        """Where all of the holders have what they hold."""
        return _first(set(places(self.blob(one), id(its))) for one, its in zip(holders, held))

    def int32(self, holders: Sequence[object], values: Sequence[int]) -> int:
        """Where all of them have their numbers."""
        return _first(
            {
                place
                for place in range(16, REACH, 4)
                if blob[place : place + 4] == value.to_bytes(4, "little", signed=True)
            }
            for blob, value in zip(map(self.blob, holders), values)
        )

    def text(self, sample: str) -> tuple[int, tuple[int, int]]:
        """How strings of this kind look."""
        blob = self.blob(sample)
        for width, encoding in ((1, "latin-1"), (2, "utf-16-le"), (4, "utf-32-le")):
            if ord(max(sample)) >> 8 * width:
                continue
            return kind_of_text(blob), (width, blob.index(sample.encode(encoding)))
        raise AssertionError(sample)

    def way(self, holders: Sequence[object], held: Sequence[object]) -> tuple[int, ...]:
        """From an instance to a value that it has, where it has no dict: through a pointer."""
        found = []
        for one, its in zip(holders, held):
            ways: set[tuple[int, ...]] = set()
            for place in range(-5 * WORD, 20 * WORD, WORD):
                pointer = self.memory.word(id(one) + place)
                if pointer == id(its):
                    ways.add((place,))
                # 3.12 marks the pointer by one less.
                for beside in (0, 1):
                    try:
                        inside = self.memory.some(pointer + beside, 8 * WORD)
                    except LostError:
                        continue
                    ways.update((place, beside + inner) for inner in places(inside, id(its)))
            found.append(ways)
        both = set.intersection(*found)
        return min(both, key=len) if both else ()


def kind_of_text(blob: bytes) -> int:
    """The bits that say how a string is kept, without whether it is interned."""
    return blob[32] >> 2 & 0x1F


def _first(found: Iterable[set[T]]) -> T:
    common = set.intersection(*found)
    if not common:
        raise LostError("a field was not found")
    return min(common)


def _state(see: Seer, loop: asyncio.AbstractEventLoop) -> int:
    """Where a future says that it is done; 0 while it is not."""
    pending, ended, cancelled = (loop.create_future() for _ in range(3))
    ended.set_result(None)
    cancelled.cancel()
    return see.int32([pending, cancelled, ended], [0, 1, 2])


def _lasti(
    see: Seer, coros: Sequence[Any], frames: Sequence[Any], codes: Sequence[object]
) -> tuple[int, int]:
    """Where the last instruction is.

    A number in a frame, counted in bytes or in instructions; or a pointer into the code.
    """
    if IN_ONE:
        return _first(
            {
                (place * WORD, word - id(code) - frame.f_lasti)
                for place, word in enumerate(words(see.blob(coro)))
                if 0 <= word - id(code) - frame.f_lasti < REACH
            }
            for coro, frame, code in zip(coros, frames, codes)
        )
    for scale in (1, 2):
        try:
            return see.int32(frames, [frame.f_lasti // scale for frame in frames]), scale
        except LostError:
            continue
    raise LostError("the last instruction was not found")


def _awaited(see: Seer, coros: Sequence[Any], frames: Sequence[Any]) -> tuple[int, int, int]:
    """Where the top of the stack is: what a coroutine awaits lies there.

    (pointer, number, begin): the stack begins at `begin` in the object, or where `pointer` points
    to; `number` says how many things are on it. Without a number, it ends where `pointer` does.
    """
    holders = coros if IN_ONE else frames
    blobs = [see.blob(one) for one in holders]
    held = [id(coro.cr_await) for coro in coros]
    pairs = list(zip(blobs, held))
    common = set.intersection(*(_ends(see.memory, blob, its) for blob, its in pairs))
    if common:
        return min(common), -1, -1
    return _first(_counted(see.memory, blob, its) for blob, its in pairs)


def _ends(memory: Memory, blob: bytes, its: int) -> set[int]:
    found = set()
    for number, word in enumerate(words(blob)):
        try:
            if word > REACH and memory.word(word - WORD) == its:
                found.add(number * WORD)
        except LostError:
            continue
    return found


def _counted(memory: Memory, blob: bytes, its: int) -> set[tuple[int, int, int]]:
    counts = {
        place: int.from_bytes(blob[place : place + 4], "little")
        for place in range(16, len(blob) - 4, 4)
    }
    found: set[tuple[int, int, int]] = set()
    for at in places(blob, its):
        for place, count in counts.items():
            if 0 < count < 64 and at + WORD - count * WORD > 0:
                found.add((-1, place, at + WORD - count * WORD))
    for number, word in enumerate(words(blob)):
        if word <= REACH:
            continue
        try:
            stack = memory.some(word, 64 * WORD)
        except LostError:
            continue
        tops = {at // WORD + 1 for at in places(stack, its)}
        found.update((number * WORD, place, 0) for place, n in counts.items() if n in tops)
    return found


def _passed_on(see: Seer) -> Iterable[tuple[str, int]]:
    """What stands between a coroutine and the one that it waits for."""
    wrapped = [_few(), _few()]
    yield "coroutine_wrapper", see.field([one.__await__() for one in wrapped], wrapped)
    rows = [_rows(), _rows()]
    yield "async_generator_asend", see.field([one.__anext__() for one in rows], rows)
    for one in wrapped:
        one.close()
