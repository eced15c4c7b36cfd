"""The stacks of running processes, by the first means that works for each of them."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.spies import find_py_spy, is_python
from zeroin.observe.stacks import faults as agents
from zeroin.observe.stacks import py_spy as spying
from zeroin.observe.stacks.faults import STACKS_SIGNAL as STACKS_SIGNAL  # noqa: PLC0414
from zeroin.observe.stacks.faults import TASKS_SIGNAL as TASKS_SIGNAL  # noqa: PLC0414
from zeroin.observe.stacks.stack import AGENT, Stack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from zeroin.observe.stacks.py_spy import Look

    # Gives what reads the words of a process's agent; None where it has none.
    ReaderOf = Callable[[int], Callable[[], str] | None]


class Means(NamedTuple):
    """How the stacks of one process were got, and why the means before that did not do."""

    source: str  # "py-spy", "agent", "faulthandler", "gdb", or "" if nothing did
    failed: dict[str, str]  # means → its words


class Taken(NamedTuple):
    """All that was seen."""

    stacks: list[Stack]
    means: dict[int, Means]


def take(
    pids: Sequence[int], faults: Callable[[], str] | None = None, *, values: bool = False
) -> list[Stack]:
    """The stacks of all Pythons among the processes, all looked at together."""
    reader = (lambda _: faults) if faults is not None else None
    return take_all(pids, reader, values=values).stacks


def take_all(
    pids: Sequence[int],
    reader_of: ReaderOf | None = agents.reader_of,
    *,
    values: bool = False,
    native: bool = False,
    gdb: bool = False,
    meanwhile: Callable[[], None] = lambda: None,
) -> Taken:
    """Likewise, with the means; `meanwhile` is called when there is nothing to do but wait."""
    pythons = [pid for pid in pids if is_python(pid)]
    failed: dict[int, dict[str, str]] = {pid: {} for pid in pids}
    found = _by_agent(pythons) if values and not native else {}
    rest = [pid for pid in pythons if pid not in found]
    py_spy = find_py_spy()
    looks: dict[int, Look] = {}
    if py_spy is not None:
        looks = spying.look(py_spy, rest, values=values, native=native, meanwhile=meanwhile)
    for pid in rest:
        if pid in looks and looks[pid].stacks:
            found[pid] = looks[pid].stacks
        else:
            said = looks[pid].error if pid in looks else "py-spy is not installed"
            failed[pid]["py-spy"] = said
    for pid in pythons:
        reader = reader_of(pid) if reader_of is not None else None
        if pid not in found and reader is not None:
            found[pid] = agents.stacks(pid, reader)
            if not found[pid]:
                failed[pid]["faulthandler"] = "the agent did not answer"
        if gdb and not found.get(pid):
            from zeroin.observe.stacks import gdb as debugger

            found[pid], failed[pid]["gdb"] = debugger.stacks(pid)
    loops = [pid for pid in pythons if any(map(_runs_asyncio, found.get(pid, ())))]
    for pid, tasks, why in _tasks(loops, reader_of):
        found[pid] = [*found[pid], *tasks]
        if why:
            failed[pid]["asyncio"] = why
    stacks = [one for pid in pids for one in found.get(pid, ()) if not _is_ours(one)]
    source = {pid: of_one[0].source for pid, of_one in found.items() if of_one}
    return Taken(stacks, {pid: Means(source.get(pid, ""), failed[pid]) for pid in pids})


def _by_agent(pids: Sequence[int]) -> dict[int, list[Stack]]:
    """Only a program's own thread knows what its tensors are; few programs have one of ours."""
    from zeroin.observe.stacks import asked

    found = {pid: asked.stacks(pid) for pid in pids}
    return {pid: stacks for pid, stacks in found.items() if stacks}


def _tasks(
    pids: Sequence[int], reader_of: ReaderOf | None
) -> Iterator[tuple[int, list[Stack], str]]:
    """The tasks of event loops, and why they can't be told, if so.

    From outside first: a loop that is held up can't answer.
    """
    if not pids:
        return
    from zeroin.observe.stacks import afar

    reading = afar.read(pids)
    for pid in pids:
        tasks, why = reading.tasks.get(pid, []), reading.failed.get(pid, "")
        reader = reader_of(pid) if why and reader_of is not None else None
        if reader is not None:
            tasks = agents.tasks(pid, reader)
        yield pid, tasks, "" if tasks else why


def _runs_asyncio(stack: Stack) -> bool:
    """A loop that waits shows nothing of the coroutines that wait in it."""
    return any("asyncio" in file for file, _, _ in stack.frames)


def _is_ours(stack: Stack) -> bool:
    """Our own thread, that answers us."""
    return bool(stack.frames) and stack.frames[0][0].startswith(AGENT)
