"""The tasks of the other process's event loops, and where each of them waits."""

from __future__ import annotations

import sys
import types

from . import image, layout
from .layout import IN_ONE
from .memory import WORD, LostError, Memory
from .objects import Objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Frame = tuple[str, int, str]  # file, line, function
    Waiting = tuple[str, list[Frame]]  # the name of a task, innermost frame first

DEEPEST = 1_000  # frames
BASES = 8  # classes between a task's own and asyncio's


class Tasks:
    """The tasks of a process."""

    def __init__(self, pid: int) -> None:
        own = Memory("self")
        here = image.own(own)
        self.layout = layout.measured(own)
        self._roots = image.roots(own, here)
        own.close()
        self.memory = Memory(pid)
        self._there = image.of(self.memory, here.file)
        self.objects = Objects(self.memory, self.layout, here, self._there)
        kinds = (types.CoroutineType, types.GeneratorType, types.AsyncGeneratorType)
        self._with_frames = set(map(self.objects.place, kinds))
        self._kinds: dict[int, str] = {}  # type → its name; most tasks have the same ones
        self._codes: dict[tuple[int, int], Frame] = {}  # code and instruction
        self.missed: LostError | None = None  # why a task was left out at the last look

    def waiting(self) -> list[Waiting]:
        """All tasks that are not done, but those that run: their threads' stacks show these."""
        found = self.objects
        self._kinds, self._codes = {}, {}  # what was there before need not be there now
        names = found.must_be(self.memory.word(self._module("asyncio.tasks")), dict)
        held = {found.text(k): v for k, v in found.items(names) if found.is_a(k, str)}
        running = {task for _, task in found.items(held["_current_tasks"])}
        tasks: list[int] = []
        for name in ("_all_tasks", "_scheduled_tasks"):  # the second since 3.12
            if name in held:
                tasks += found.weakly(held[name])
        told: list[Waiting] = []
        self.missed = None
        for task in dict.fromkeys(tasks):
            try:
                if task not in running and self._is_task(task) and self._is_pending(task):
                    told.append((self._name(task), list(self._frames(task))))
            except LostError as error:  # this one has gone on meanwhile
                self.missed = error
        return told

    def _module(self, name: str) -> int:
        """Where the dict of a module is written down."""
        for way in self._roots:
            try:
                loaded = self._there.start
                for step in way:
                    loaded = self.memory.word(loaded + step)
                if not self.objects.get(loaded, "sys"):
                    continue
            except LostError:
                continue
            module = self.objects.get(loaded, name)
            if not module:
                raise LostError(f"{name} is not loaded")
            return self.objects.must_be(module, types.ModuleType) + self.layout.module_dict
        raise LostError("its modules were not found")

    def _is_task(self, address: int) -> bool:
        """Whether it is a task as asyncio's C part makes them, or of a class derived from that."""
        kind = self.objects.type_of(address)
        for _ in range(BASES):
            if not kind:
                return False
            if self._kind(kind) == "_asyncio.Task":
                return True
            kind = self.memory.word(kind + self.layout.type_base)
        return False

    def _kind(self, address: int) -> str:
        if address not in self._kinds:
            self._kinds[address] = self.objects.type_name(address)
        return self._kinds[address]

    def _is_pending(self, task: int) -> bool:
        return self.memory.int32(task + self.layout.task_state) == 0

    def _name(self, task: int) -> str:
        name = self.memory.word(task + self.layout.task_name)
        if self.objects.is_a(name, int):  # 3.13 makes a text of it when it is asked for
            return f"Task-{self.objects.number(name)}"
        return self.objects.text(name)

    def _frames(self, task: int) -> Iterator[Frame]:
        """From where it waits to the task's own coroutine."""
        found: list[Frame] = []
        one = self.memory.word(task + self.layout.task_coro)
        while one and len(found) < DEEPEST:
            one = self._driven(one)
            if not self._has_frame(one):
                break
            frame, one = self._frame(one)
            found.append(frame)
        return reversed(found)

    def _has_frame(self, address: int) -> bool:
        return bool(address) and self.objects.type_of(address) in self._with_frames

    def _driven(self, address: int) -> int:
        """What is behind an iterator that only passes on."""
        place = self.layout.passed_on.get(self._kind(self.objects.type_of(address)))
        return address if place is None else self.memory.word(address + place)

    def _frame(self, coro: int) -> tuple[Frame, int]:
        """Where one coroutine is, and what it awaits; 0 if nothing that has frames."""
        code = self.objects.must_be(self.memory.word(coro + self.layout.coro_code), types.CodeType)
        holder = coro if IN_ONE else self.memory.word(coro + self.layout.coro_frame)
        lasti = self._lasti(holder, code)
        frame = self._codes.get((code, lasti))
        if frame is None:
            frame = self._codes[code, lasti] = (
                self.objects.text(self.memory.word(code + self.layout.code_filename)),
                self._line(code, lasti),
                self.objects.text(self.memory.word(code + self.layout.code_name)),
            )
        if lasti < 0:  # it has not begun
            return frame, 0
        awaited = self._awaited(holder)
        if awaited and not self.objects.is_a(coro, types.CoroutineType):
            # A generator that yields has something else there: an iterator, perhaps.
            is_one = self.objects.is_a(awaited, types.CoroutineType)
            awaited = awaited if is_one or self._driven(awaited) != awaited else 0
        return frame, awaited

    def _lasti(self, holder: int, code: int) -> int:
        place, add = self.layout.lasti
        if IN_ONE:
            return self.memory.word(holder + place) - code - add
        return self.memory.int32(holder + place) * add

    def _awaited(self, holder: int) -> int:
        pointer, number, begin = self.layout.awaited
        if number < 0:
            return self.memory.word(self.memory.word(holder + pointer) - WORD)
        count = self.memory.int32(holder + number)
        if not 0 <= count < 1 << 16:
            raise LostError("a stack of another kind")
        stack = holder + begin if pointer < 0 else self.memory.word(holder + pointer)
        return self.memory.word(stack + (count - 1) * WORD) if count else 0

    def _line(self, code: int, lasti: int) -> int:
        """The line, read from the table by the interpreter that has made it."""
        first = self.memory.int32(code + self.layout.code_first)
        table = self.objects.data(self.memory.word(code + self.layout.code_lines))
        if lasti < 0:
            return first
        if sys.version_info < (3, 10):
            return _line_before_3_10(first, table, lasti)
        like = Tasks._line.__code__.replace(co_firstlineno=first, co_linetable=table)
        return next((n for start, end, n in like.co_lines() if start <= lasti < end and n), first)


def _line_before_3_10(first: int, table: bytes, lasti: int) -> int:
    address, line = 0, first
    for step, lines in zip(table[::2], table[1::2]):
        address += step
        if address > lasti:
            break
        line += lines - 256 if lines >= 128 else lines
    return line
