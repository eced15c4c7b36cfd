"""`--profile`: what each statement takes, in seconds and in memory.

The hooks at the points tell when a segment begins. Two more hooks, woven in only for this, tell
when its time is another's again: at each `return` and end of a function the time is the caller's,
at the end of a loop's body it is that of the loop's head, which fetches the next item. So each
segment has the time of its own, without that of the user's functions it calls.

Each hook takes a microsecond or two, too long for a loop of short statements. So points that are
reached in a rush get their flags taken down here as well, and the time until the next hook is
shared among them as they shared the time of the rush: each of the driver's signals makes another.
What a hook takes is left out: what lies between two looks at the clock by not counting it, and
the rest, on the way to a look and from it, by what it takes at least.
"""

from __future__ import annotations

import _ast as ast
import _thread
import os
import sys
from time import perf_counter

from .source import codes, nodes, plant, points, weave
from .stepping import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .source import texts

RETURN, LOOP = "@zr", "@zp"
RUSH = 100  # hooks in this time
MOMENT = 0.004
SHORTEST = 2e-8  # seconds of any statement
TRIES = 20
LOOK = 0.001  # seconds between two looks at the memory
MOST = 1000  # lines that are told
_ENDS = (ast.Return, ast.Raise, ast.Continue, ast.Break)


class Profile:
    """What was measured in this program and those that it was resumed from."""

    def __init__(self, unseen: float = 0.0) -> None:
        self.seconds: dict[int, float] = {}
        self.counts: dict[int, int] = {}
        self.bytes: dict[int, int] = {}
        self.sampled: set[int] = set()  # segments that were not seen each time
        self.unseen = unseen  # what a hook takes at least, beside what is not counted
        self.main = _thread.get_ident()
        self.last = -1  # the segment whose time it is; none while we work ourselves
        self.since = 0.0
        self.looked = 0.0
        self.resident = _resident()
        # The frames of the user's that are under way, as far as is known, and their segments.
        self.frames: list[int] = []
        self.segments: list[int] = []
        self.depths: dict[int, int] = {}
        # The hooks since a moment ago: segments, what they took, and which were their own.
        self.lately: list[int] = []
        self.took: dict[int, float] = {}
        self.own: list[int] = []
        self.began = 0.0
        self.dark: dict[int, float] = {}  # while flags are down: how time is to be shared

    # --- hooks --------------------------------------------------------------------------------

    def leave(self, now: float = 0.0) -> None:
        """A hook begins: the time up to here was the last one's."""
        now = now or perf_counter()
        if self.last < 0 or _thread.get_ident() != self.main:
            return
        last, self.last = self.last, -1
        took = now - self.since - self.unseen
        if self.dark:
            last = self._share(max(0.0, took))
        elif took > 0.0:
            self.took[last] = self.took.get(last, 0.0) + took
        if now - self.looked >= LOOK:
            resident = _resident()
            self.bytes[last] = self.bytes.get(last, 0) + resident - self.resident
            self.resident, self.looked = resident, now

    def enter(self, number: int, frame: int) -> None:
        """A hook ends: the time is this one's."""
        if _thread.get_ident() != self.main:
            return
        self.own.append(number)
        if not self.frames or self.frames[-1] != frame:
            depth = self.depths.get(frame)
            if depth is None:
                self.depths[frame] = len(self.frames)
                self.frames.append(frame)
                self.segments.append(number)
            else:  # those above were left by exceptions, or wait
                while len(self.frames) > depth + 1:
                    self._pop()
        self._go_on(number)

    def enter_rest(self, leave: steps.Leave, frame: int) -> None:
        """The rest of old code runs under a new text: its first segment begins without a hook."""
        from .source import texts

        old = texts.Text(leave.layer.source, leave.file.filename)
        point = next(point for point in old.points() if point.number == leave.number)
        current = leave.file.current
        unit = texts.Text(current.source, leave.file.filename).by_key.get(point.unit.key)
        for one in unit.points if unit is not None else ():
            if one.path == point.path:
                self.enter(current.numbers[one.number], frame)

    def returned(self, value: Any = None) -> Any:
        """A hook: a function is about to return this."""
        if self.dark:
            return value
        now = perf_counter()
        if self.frames and self.frames[-1] == id(sys._getframe(1)):
            self.leave(now)
            self._pop()
            if self.segments:
                self._go_on(self.segments[-1])
        return value

    def looped(self, number: int) -> None:
        """A hook: the end of a loop's body."""
        now = perf_counter()
        if self.frames and self.frames[-1] == id(sys._getframe(1)):
            self.leave(now)
            self._go_on(number)

    def wake(self) -> None:
        """The program goes on in another process."""
        self.last = -1
        self.main = _thread.get_ident()
        self.resident = _resident()

    def _go_on(self, number: int) -> None:
        self.lately.append(number)
        self.segments[-1] = self.last = number
        if len(self.lately) >= RUSH:
            self._see_rush(perf_counter())
        self.since = perf_counter()

    def _pop(self) -> None:
        self.segments.pop()
        self.depths.pop(self.frames.pop(), None)

    # --- rushes -------------------------------------------------------------------------------

    def _see_rush(self, now: float) -> None:
        if now - self.began < MOMENT and self.unseen:
            self.dark = {n: self._weight(n, self.lately.count(n)) for n in set(self.lately)}
            self.sampled.update(self.own)
            steps.take_down(self.dark)
        self.count()
        self.began = now

    def _weight(self, number: int, times: int) -> float:
        """What takes less than a hook can't be told apart: then by how often it is run."""
        return max(self.took.get(number, 0.0) - times * self.unseen, times * SHORTEST)

    def count(self) -> None:
        """Add what was seen since a moment ago."""
        for number, took in self.took.items():
            self.seconds[number] = self.seconds.get(number, 0.0) + took
        for number in self.own:
            self.counts[number] = self.counts.get(number, 0) + 1
        self.lately, self.own, self.took = [], [], {}

    def _share(self, took: float) -> int:
        """Nobody looked for a while; gives the segment that had most of it."""
        dark, self.dark = self.dark, {}
        steps.look_at_the_clock()
        every = sum(dark.values())
        for number, part in dark.items():
            self.seconds[number] = self.seconds.get(number, 0.0) + took * part / every
        self.began = perf_counter()
        return max(dark, key=lambda number: dark[number])


def begin() -> None:
    """Measure from here on."""
    profile = Profile(_unseen())
    steps.profile_by(profile)
    plant.constants.update({RETURN: profile.returned, LOOP: profile.looped})
    weave.also.append(_weave)
    weave.names += [RETURN, LOOP]
    for function in (Profile.returned, Profile.looped):
        codes.hide(function.__code__)


def _unseen() -> float:
    """Seconds from a look at the clock back to the program, and from there to the next look."""
    profile = Profile()
    inside = []

    def hook(number: int) -> bool:  # much the same as `steps.step`
        inside.append(number)
        try:
            within(number, id(sys._getframe(1)))
        finally:
            inside.pop()
        return False

    def within(number: int, frame: int) -> None:
        profile.leave()
        profile.enter(number, frame)

    for number in range(TRIES):
        for _ in range(TRIES):
            hook(number)
    profile.leave()
    profile.count()
    return min(profile.seconds[n] / profile.counts[n] for n in profile.counts)


def _resident() -> int:
    try:
        fd = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        return int(os.read(fd, 64).split()[1]) * 4096
    finally:
        os.close(fd)


# --- the hooks --------------------------------------------------------------------------------


def _weave(units: list[points.Unit], identify: Callable[[points.Point], int]) -> None:
    """Put in the hooks of our own, before those at the points, whose places stay the same."""
    for unit in units:
        numbers = {point.number: identify(point) for point in unit.points}
        _weave_block(unit, unit.node.body, numbers, None)
        last = unit.node.body[-1]
        if unit.points and not unit.is_module and not isinstance(last, _ENDS):
            unit.node.body.append(_call(RETURN, [], last))


def _weave_block(
    unit: points.Unit, block: list[Any], numbers: dict[int, int], loop: int | None
) -> None:
    for statement in list(block):
        if isinstance(statement, ast.Return):
            _weave_return(statement)
        elif isinstance(statement, ast.Continue) and loop is not None:
            at = next(i for i, one in enumerate(block) if one is statement)
            block.insert(at, _end_of_pass(loop, statement))
        elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        else:
            _weave_inside(unit, statement, numbers, loop)


def _weave_inside(
    unit: points.Unit, statement: Any, numbers: dict[int, int], loop: int | None
) -> None:
    segment = unit.segment.get(id(statement))
    for field in points.BLOCKS:
        within = getattr(statement, field, None)
        if not isinstance(within, list) or not within:
            continue
        if field in ("handlers", "cases"):
            for part in within:
                _weave_block(unit, part.body, numbers, loop)
        elif field == "body" and isinstance(statement, points.LOOPS) and segment is not None:
            last = within[-1]
            _weave_block(unit, within, numbers, numbers[segment])
            if not isinstance(last, _ENDS):
                within.append(_end_of_pass(numbers[segment], last))
        else:
            _weave_block(unit, within, numbers, loop)


def _weave_return(statement: Any) -> None:
    value = statement.value or _constant(None, statement)
    statement.value = _call(RETURN, [value], statement).value


def _end_of_pass(loop: int, at: Any) -> Any:
    """It looks at the flag of the loop's own point: in a rush it costs as little as that."""
    test = nodes.at(ast.Name(weave.flag(loop), ast.Load()), at)
    if plant.DOWN is None:
        test = nodes.at(ast.Compare(test, [ast.IsNot()], [_constant(None, at)]), at)
    return nodes.at(ast.If(test, [_call(LOOP, [_constant(loop, at)], at)], []), at)


def _call(name: str, args: list[Any], at: Any) -> Any:
    call = ast.Call(nodes.at(ast.Name(name, ast.Load()), at), args, [])
    return nodes.at(ast.Expr(nodes.at(call, at)), at)


def _constant(value: Any, at: Any) -> Any:
    return nodes.at(ast.Constant(value), at)


# --- what came of it --------------------------------------------------------------------------


def rows(profile: Profile) -> list[dict[str, Any]]:
    """One for each segment that has run, what took longest first."""
    profile.leave()
    profile.count()
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for file in list(steps.files.values()):
        known: set[int] = set()
        for layer in [file.current, *reversed(file.layers)]:
            if set(layer.numbers) - known & profile.counts.keys():
                for number, row in _rows_of(file, layer):
                    if number in profile.counts and number not in known:
                        _add(found, profile, number, row)
            known.update(layer.numbers)
    every = sorted(found.values(), key=lambda row: (-row["seconds"], -row["bytes"]))
    return every[:MOST]


def _add(
    found: dict[tuple[Any, ...], dict[str, Any]],
    profile: Profile,
    number: int,
    row: dict[str, Any],
) -> None:
    zero = {"count": 0, "sampled": False, "seconds": 0.0, "bytes": 0}
    row = found.setdefault(tuple(row.values()), {**row, **zero})
    row["count"] += profile.counts[number]
    row["seconds"] += profile.seconds.get(number, 0.0)
    row["sampled"] |= number in profile.sampled
    row["bytes"] += profile.bytes.get(number, 0)


def _rows_of(file: texts.File, layer: texts.Layer) -> list[tuple[int, dict[str, Any]]]:
    """The segments of a text, with the lines that they have in the current one."""
    from .source import texts
    from .stepping import change

    lines = layer.source.decode("utf-8", "replace").splitlines()
    plain = texts.Text(layer.source, file.filename)
    moved = plain if layer is file.current else change.as_it_stands(layer, file)
    found = []
    for point, now in zip(plain.points(), moved.points()):
        first, last = _segment(point)
        shown = last if points.is_long(last) else first
        row = {
            "file": file.path,
            "line": points.first_line(now.statement),
            "end_line": points.first_line(_segment(now)[1]),
            "source": lines[points.first_line(shown) - 1].strip()[:200],
        }
        found.append((layer.numbers[point.number], row))
    return found


def _segment(point: points.Point) -> tuple[Any, Any]:
    """Its first statement and its last, which is the one that may take long."""
    block = weave.block_of(point.unit.node, point.path)
    *way, (field, index) = point.path
    others = [
        other.path[-1][1]
        for other in point.unit.points
        if other.path[:-1] == tuple(way) and other.path[-1][0] == field
    ]
    end = min([i for i in others if i > index], default=len(block))
    return block[index], block[end - 1]
