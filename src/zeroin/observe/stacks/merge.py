"""Identical stacks put together, the odd one out first."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.stacks.stack import Stack, users
from zeroin.observe.stacks.standing import Standing, is_idle, standing
from zeroin.observe.stacks.waits import Wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from zeroin.observe.stacks.ranks import Name
    from zeroin.observe.stacks.stack import Frame

NO_WAIT = Wait("hidden", "")
BUSY = 0.5  # of a processor's time while we looked
_ORDER = {"rank": 0, "main": 0, "worker": 1, "child": 1, "launcher": 2, "helper": 3, "zeroin": 3}
# Kinds whose words of the kernel's side say something that the frames don't.
_TOLD_BY_KERNEL = ("read", "write", "child", "file-lock", "connect", "accept", "file", "kernel")
_DETAILED = (*_TOLD_BY_KERNEL, "many", "stopped")


class Thread(NamedTuple):
    """One thread as it is merged: its stack, whose it is, what it waits for, how busy it is."""

    stack: Stack
    name: Name
    wait: Wait = NO_WAIT
    busy: float = 0.0  # of a processor

    @property
    def is_main(self) -> bool:
        """Whether the program began with it."""
        return self.stack.is_main


class Group(NamedTuple):
    """Threads that stand at the same place."""

    threads: list[Thread]
    standing: Standing
    idle: bool  # nothing of the user's on it: a helper that waits for work

    @property
    def frames(self) -> Sequence[Frame]:
        """Of any of them: they are the same."""
        return self.threads[0].stack.frames

    @property
    def is_main(self) -> bool:
        """Whether these are threads that programs began with."""
        return self.threads[0].is_main

    @property
    def ranks(self) -> list[int]:
        """The ranks whose own threads these are, not those of their workers."""
        found = {one.name.rank for one in self.threads if one.name.role == "rank"}
        return sorted(rank for rank in found if rank is not None)

    @property
    def pids(self) -> list[int]:
        """The processes."""
        return list(dict.fromkeys(one.stack.pid for one in self.threads))

    @property
    def labels(self) -> list[str]:
        """What they are called."""
        return list(dict.fromkeys(one.name.label for one in self.threads))

    @property
    def details(self) -> list[str]:
        """What the kernel says they wait for, where the frames don't say it."""
        if self.standing.kind == "loop":  # its own wake-up socket says nothing
            return []
        found = {one.wait.words: None for one in self.threads if one.wait.kind in _DETAILED}
        return [words for words in found if words and words not in self.standing.words]


def grouped(
    threads: Iterable[Thread], line_of: Callable[[str, int], str] = lambda _file, _line: ""
) -> list[Group]:
    """All groups, in the order in which they are told. `line_of` gives the text of a line."""
    judged: dict[tuple[Frame, ...], tuple[tuple[Frame, ...], Standing, bool]] = {}
    found: dict[object, Group] = {}
    for thread in threads:
        frames = tuple(thread.stack.frames)
        if frames not in judged:
            idle = bool(frames) and is_idle(frames)
            judged[frames] = (tuple(users(frames)) or frames, standing(frames), idle)
        own, plain, idle = judged[frames]
        refined = _refined(plain, thread, line_of)
        task = thread.stack.source == "asyncio"
        key = (thread.is_main, task, _ORDER.get(thread.name.role, 1), own, refined)
        group = found.get(key)
        if group is None:
            found[key] = group = Group([], refined, idle and refined.kind != "busy")
        group.threads.append(thread)
    return sorted(found.values(), key=_place_in_order)


def _place_in_order(group: Group) -> tuple[bool, int, bool, int, list[int]]:
    first = group.threads[0]
    role = _ORDER.get(first.name.role, 1)
    return group.idle, role, not group.is_main, len(group.threads), group.ranks or group.pids


def _refined(plain: Standing, thread: Thread, line_of: Callable[[str, int], str]) -> Standing:
    """With what the kernel says: a frame that calls into C tells only its line."""
    wait = thread.wait
    if thread.stack.source == "asyncio":
        return plain._replace(kind="await", words="waits") if plain.kind == "runs" else plain
    if wait.kind == "stopped":
        return plain._replace(kind="stopped", words=wait.words)
    if plain.kind not in ("runs", "loop-blocked", "backward", "unknown"):
        return plain
    if not thread.stack.frames:
        return Standing("native", "", wait.words or "has no Python frames", "")
    blocked = plain.kind == "loop-blocked"
    kind, words = _kernel_side(thread, line_of)
    if not kind:
        return plain
    if blocked:
        return plain._replace(words=f"holds up its event loop: it {words}", what=kind)
    if plain.kind == "backward":
        return plain
    return plain._replace(kind=kind, words=words)


def _kernel_side(thread: Thread, line_of: Callable[[str, int], str]) -> tuple[str, str]:
    wait = thread.wait
    if wait.kind == "runs" or thread.busy > BUSY:
        return "busy", "computes" + (", holding the GIL," if thread.stack.gil else "")
    if wait.kind in ("sleep", "terminal") or wait.kind in _TOLD_BY_KERNEL:
        return wait.kind, wait.words
    if wait.kind == "turn":
        return "turn", wait.words
    if wait.kind in ("lock", "timed"):
        own = users(thread.stack.frames)
        file, line, _ = (own or thread.stack.frames)[-1]
        text = line_of(file, line)
        is_last = bool(own) and own[-1] == thread.stack.frames[-1]
        if is_last and (text.startswith(("with ", "async with ")) or "acquire" in text):
            return "lock", "waits for a lock"
        return "thread", "waits for another thread, in C"
    if wait.kind == "many":
        return "many", wait.words
    return "", ""
