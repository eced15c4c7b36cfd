"""What looking at a crash costs, with locals that break other tools.

From the `raise` to the end of the process, with the agent minus without it: the plain
traceback and freeing the memory are in both. `took` is the agent's own clock around it.
Memory is the program's high-water mark after the traceback minus that before the raise,
with the agent minus without it, and in rounds of their own what the agent's forked child
held for itself, sampled every 2 ms.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from bench.agent import has_numpy
from bench.listening import Listener
from bench.measure import CommandFailedError, Sample, interleave
from bench.report import Row, at_most, mb, more, ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

KINDS = {
    "plain": "small locals",
    "list": "a list of 10^7",
    "dict": "a dict of 2·10^6",
    "objects": "a list of 10^6 objects whose repr raises",
    "slow": "a repr that sleeps 8 s",
    "many-slow": "a list of 60 of those",
    "huge": "a repr of 100 MB",
    "broken": "a repr that raises",
    "deep": "900 frames deep, a repr that sleeps",
    "all": "all of these together",
}
ARRAY = {"array": "a numpy array of 2 GB"}
NEEDED = 5_000_000_000  # bytes free for the array
MOST_MS, MOST_MB = 200, 20
ROUNDS = 5


class _Crash(NamedTuple):
    seconds: float  # from the raise to the end
    cpu: float
    grown: int  # bytes of high-water mark between the raise and the exit
    took: float  # by the agent's own clock


def measure(scene: Scene) -> list[Row]:
    """Crash with each kind of locals."""
    libs = os.environ.get("ZEROIN_TEST_LIBS", "")
    python = os.path.realpath(scene.python)
    program = scene.program("crash.py")
    rounds = 2 if scene.quick else ROUNDS
    with Listener(scene) as listener:
        rows = [
            _row(listener, [python, program, kind], what, rounds) for kind, what in KINDS.items()
        ]
        if not libs or not has_numpy(libs):
            rows.append(Row("numpy: skipped, ZEROIN_TEST_LIBS names no Python with numpy"))
        elif _free() < NEEDED:
            rows.append(Row(f"numpy: skipped, less than {NEEDED / 1e9:g} GB of memory free"))
        else:
            for kind, what in ARRAY.items():
                rows.append(_row(listener, [libs, program, kind], what, min(rounds, 3)))
        return rows


def _row(listener: Listener, words: list[str], what: str, rounds: int) -> Row:
    seen: dict[bool, list[_Crash]] = {True: [], False: []}
    series = interleave(
        {str(agent): _case(listener, words, seen[agent], agent=agent) for agent in (False, True)},
        rounds,
    )
    bare, ours = series["False"], series["True"]
    added = ours.wall - bare.wall
    child = _child_memory(listener, words)
    grown = max(c.grown for c in seen[True]) - max(c.grown for c in seen[False])
    most = max(0, grown) + child
    took = min(c.took for c in seen[True])
    return Row(
        what,
        f"{more(added)} ({more(ours.median - bare.median)})  cpu {more(ours.cpu - bare.cpu)}  "
        f"took {ms(took)}",
        f"+{mb(most)} ({mb(max(0, grown))} and {mb(child)} in its child)",
        (at_most(added * 1000, MOST_MS, "ms"), at_most(most / 1e6, MOST_MB, "MB")),
        {"added": added, "cpu": ours.cpu - bare.cpu, "took": took, "grown": grown, "child": child},
    )


def _case(
    listener: Listener, words: list[str], seen: list[_Crash], *, agent: bool
) -> Callable[[], Sample]:
    def once() -> Sample:
        crash = _crash(listener, words, agent=agent)
        seen.append(crash)
        return Sample(crash.seconds, crash.cpu)

    return once


def _crash(
    listener: Listener,
    words: list[str],
    *,
    agent: bool,
    look: Callable[[int], object] | None = None,
) -> _Crash:
    ended, written, messages = listener.run(words, agent=agent, look=look, every=0.002)
    told = [line.split() for line in written.splitlines()]
    crashes = [m for m in messages if m["kind"] == "crash"]
    if ended.code != 1 or [t[0] for t in told] != [b"raise", b"after"] or bool(crashes) != agent:
        raise CommandFailedError(f"exit code {ended.code} of: {' '.join(words)}")
    raised, spent = int(told[0][1]) / 1e9, int(told[0][2]) / 1e9
    # Both clocks are the kernel's monotonic one.
    return _Crash(
        ended.at - raised,
        ended.cpu - spent,
        (int(told[1][3]) - int(told[0][3])) * 1024,
        crashes[0]["took"] if crashes else 0.0,
    )


def _child_memory(listener: Listener, words: list[str]) -> int:
    """The most that the forked children held for themselves in one crash."""
    most = [0]
    _crash(listener, words, agent=True, look=lambda pid: most.append(_private(pid)))
    return max(most)


def _private(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
            children = file.read().split()
        total = 0
        for child in children:
            with open(f"/proc/{child.decode()}/smaps_rollup", "rb") as file:
                total += sum(
                    int(line.split()[1]) * 1024 for line in file if line.startswith(b"Private_")
                )
    except OSError:
        return 0
    return total


def _free() -> int:
    with open("/proc/meminfo", "rb") as file:
        found = [line for line in file if line.startswith(b"MemAvailable:")]
    return int(found[0].split()[1]) * 1024 if found else 0
