"""A snapshot after its fork, and going on from it under new code.

A snapshot waits. Told to, it forks a *runner*, which gets ready for the next edit and waits as
well. As soon as there is one, it *looks* at what has changed, and brings that in if it is sound;
told to go, it becomes the program, or says how far back one has to go.
"""

from __future__ import annotations

import os
import sys
import time

from .. import asked, post
from . import line, resume
from .fork import carry, gate
from .fork import own as memory_of_its_own
from .source import codes, texts
from .stepping import change, steps
from .used import inputs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 400_000  # bytes of source that are made ready
WORTH = 0.03  # seconds that are run again: a snapshot before what was edited saves them next time


class Origin:
    """The snapshot that a process is, or comes from."""

    def __init__(self, state: Any, taken: resume.Taken, mark: Any, seconds: float) -> None:
        self.state = state
        self.taken = taken
        self.mark = mark  # of what had been used
        self.seconds = seconds  # that the program had run


def frozen(mine: line.Line, origin: Origin) -> None:
    """Wait for orders; returns only in a runner that has become the program."""
    try:
        carry.freeze(origin.state)
        mine.send({"kind": "frozen", "id": origin.taken.number, "pid": os.getpid()})
        while True:
            order, _ = mine.receive()
            if order is None or order.get("kind") == "end":
                os._exit(0)
            if order.get("kind") == "fork":
                child = os.fork()
                if child:
                    os.waitpid(child, 0)
                    continue
                if os.fork():  # the driver becomes the parent of what is forked here
                    os._exit(0)
                mine.close()
                _wait_to_go(origin, int(order.get("own") or 0))
                return
    except ConnectionError:  # the driver has ended, before it has read what we said
        os._exit(0)
    except BaseException as error:
        resume.complain(error)
        os._exit(70)


def _wait_to_go(origin: Origin, copies: int) -> None:
    own = line.Line.to(resume.program().folder)
    if own is None:
        os._exit(0)
    own.send({"kind": "runner", "of": origin.taken.number, "pid": os.getpid()})
    with _NoCollection():
        _get_ready(own)
        if copies:
            memory_of_its_own.make(copies, own.has_mail)
        order, descriptors = own.receive()
        looked = None
        if order is not None and order.get("kind") == "look":
            looked = _Look(origin, order)
            order, descriptors = own.receive()
        if order is None or order.get("kind") != "go" or len(descriptors) < 2:
            os._exit(0)
        if looked is None:
            looked = _Look(origin, order)
        elif not looked.is_so_still():
            os._exit(0)  # another one will see what there is now
    if looked.broken:
        _go_back(own, looked)
    reason = carry.thaw(origin.state, *descriptors[:2])
    if reason is not None:
        looked.broken = [(origin.taken.position, reason)]
        _go_back(own, looked)
    wake(order["agent"], origin.seconds)
    steps.wait(order.get("every") or resume.LEAST)
    resume.program().woke = steps.clock()
    looked.sound.stop_before_edits()
    answer = {"kind": "resumed", "id": origin.taken.number, "at": looked.at or resume.point()}
    own.send({**answer, "seconds": origin.seconds})
    own.close()


def _go_back(own: line.Line, looked: _Look) -> None:
    earliest, why = min(looked.broken)
    valid = looked.valid
    if valid is None:
        valid = [one for one in resume.program().taken if one.position < earliest]
    to = valid[-1].number if valid else None
    own.send({"kind": "back", "to": to, "reason": str(why)})
    os._exit(0)


class _NoCollection:
    """Our many objects shall not make the interpreter go through all of the program's."""

    def __enter__(self) -> None:
        import gc

        self.was_on = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        import gc

        if self.was_on:
            gc.enable()


def _get_ready(own: line.Line) -> None:
    """While nothing is to be done, read the texts that may be edited: those that were, first."""
    codes.get_ready()
    left = MOST
    for file in sorted(steps.files.values(), key=lambda one: -len(one.layers)):
        left -= len(file.current.source)
        if left < 0 or own.has_mail():
            return
        file.ready = texts.Text(file.current.source, file.filename)


# --- looking at an edit -------------------------------------------------------------------------


class _Look:
    """What has changed since the snapshot; sound changes are in the program after this."""

    def __init__(self, origin: Origin, order: dict[str, Any]) -> None:
        self._mark = origin.mark
        self.valid: list[resume.Taken] | None = None  # those before it that could be asked
        self._sources = _sources()
        self._inputs = list(inputs.changed(origin.mark))
        self.sound, found = _judge(self._sources, self._inputs, bool(order.get("strict")))
        position = origin.taken.position
        self.broken = [(when, why) for when, why in found if when <= position]
        if order.get("lenient"):
            from .stepping import lenient

            self.broken = lenient.in_the_way(self.sound.edits, self.broken)
            if self.broken:
                taken = resume.program().taken
                self.valid = lenient.before(taken, position, self.broken)
        self.at = None if self.broken else self.sound.place()
        if not self.broken and not self.sound.bring_in():
            self.broken = [(-1, "the new code can't be brought into the program")]

    def is_so_still(self) -> bool:
        """Whether nothing has changed meanwhile."""
        return self._sources == _sources() and self._inputs == list(inputs.changed(self._mark))


def _sources() -> dict[str, bytes | None]:
    """The user's files as they are now; None for one that is gone."""
    found: dict[str, bytes | None] = {}
    for path in steps.files:
        try:
            with open(path, "rb") as opened:
                found[path] = opened.read()
        except OSError:
            found[path] = None
    return found


class Sound:
    """Edits that can be brought in together."""

    def __init__(self) -> None:
        self.edits: list[change.Edit] = []

    def place(self) -> str | None:
        """Where the program stands, if that is in code that has changed."""
        return next(filter(None, (edit.place() for edit in self.edits)), None)

    def bring_in(self) -> bool:
        """False if that can't be."""
        try:
            return all(edit.bring_in() for edit in self.edits)
        except ValueError:  # no room for a hook
            return False

    def stop_before_edits(self) -> None:
        """The next edit will be near this one: have a snapshot right before it, if it pays."""
        program, woken = resume.program(), time.monotonic()
        fresh = [number for edit in self.edits for number in edit.fresh]

        def reached() -> None:
            for number in fresh:
                steps.stops.pop(number, None)
            saves = time.monotonic() - woken > WORTH + program.last_fork
            if saves and program.woke != steps.clock():
                steps.make_due()

        for number in fresh:
            steps.stops.setdefault(number, reached)


def judge(mark: Any, strict: bool) -> tuple[Sound, list[tuple[int, str]]]:
    """What has changed, and when was it first used?"""
    return _judge(_sources(), list(inputs.changed(mark)), strict)


def _judge(
    sources: dict[str, bytes | None], changed: list[tuple[int, str]], strict: bool
) -> tuple[Sound, list[tuple[int, str]]]:
    sound = Sound()
    broken = list(changed)
    for path, source in sources.items():
        file = steps.files[path]
        if source == file.current.source:
            continue
        first = min((steps.reached.get(n, 1 << 60) for n in file.current.numbers), default=-1)
        name = os.path.basename(path)
        if source is None:
            broken.append((file.loaded, f"{name} is gone"))
            continue
        try:
            edit = change.Edit(file, source)
        except (SyntaxError, ValueError):
            broken.append((file.loaded, f"{name} can't be parsed"))
            continue
        if strict and edit.comparison.changed:
            broken.append((first, f"{name} was changed (--strict)"))
        broken += edit.broken
        sound.edits.append(edit)
    return sound, broken


# --- going on -----------------------------------------------------------------------------------


woken = 0.0  # when this process became the program, with the files as they were then


def wake(agent: str, seconds: float) -> None:
    """This process is the program now."""
    global woken  # noqa: PLW0603 - one program a process
    from .. import hooks

    woken = time.time()
    program = resume.program()
    program.pid = os.getpid()
    asleep = time.monotonic() - seconds - program.started
    program.started += asleep
    asked.change_folder(agent)
    post.remember(agent)
    inputs.ignore(agent)
    hooks.wake(agent)
    if steps.profile() is not None:
        steps.profile().wake()
    gate.our_descriptors.add(hooks.FAULT_FD)  # another file than at the start
    _forget_texts()
    runner = sys.modules.get(__name__.rpartition(".")[0] + ".pytest_points")
    if runner is not None:
        runner.woken(asleep)


def _forget_texts() -> None:
    """Caches of files that have other content now."""
    cache = sys.modules.get("linecache")
    if cache is not None:
        cache.checkcache()
    importlib = sys.modules.get("importlib")
    if importlib is not None:
        importlib.invalidate_caches()
