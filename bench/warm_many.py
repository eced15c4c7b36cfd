"""Two hundred edits in a row: what a loop holds after 20, 100 and 200 of them.

Every tenth edit of the first half is in a part that ran early, so that the loop has to go back;
every fifth one fails; every seventh does not parse. The second half goes on from one and the
same cold run, so that what grows with each edit shows in its times. Memory is that of the
driver and all its snapshots, each shared page counted once; descriptors are the driver's.
"""

from __future__ import annotations

import os
import re
import statistics
from typing import TYPE_CHECKING

from bench.report import Goal, Row, mb, ms
from bench.warm_loop import Loop

if TYPE_CHECKING:
    from bench.scene import Scene
    from bench.warm_loop import Footprint

LOOKS = (20, 100, 200)
QUICK = (10, 20, 40)
MORE_MEMORY = 1.15  # times: what may come and go
MORE_TIME = 1.5  # times
MORE_THINGS = 2  # processes, and descriptors: a spare that is just being forked has both
PROGRAM = "warm_small.py"


def measure(scene: Scene) -> list[Row]:
    """One loop, looked at three times."""
    folder = scene.make("many")
    with open(scene.program(PROGRAM), encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(folder, PROGRAM), "w", encoding="utf-8") as file:
        file.write(text)
    looks = QUICK if scene.quick else LOOKS
    seen: list[Footprint] = []
    took: list[float] = []
    modes: list[str] = []
    wrong = 0
    with Loop(scene, folder, [os.path.realpath(scene.python), PROGRAM]) as loop:
        loop.first()
        for number in range(1, looks[-1] + 1):
            done = loop.save(PROGRAM, edited(text, number, looks[-1]))
            took.append(done.seconds)
            modes.append(str(done.line["mode"]))
            wrong += not is_right(done.line["outcome"], done.shown, number, looks[-1])
            if number in looks:
                seen.append(loop.settled())
    rows = [_look(number, one, seen[0]) for number, one in zip(looks, seen, strict=True)]
    counts = ", ".join(f"{modes.count(mode)} {mode}" for mode in sorted(set(modes)))
    late = [took[n] for n in range(len(took)) if modes[n] == "resumed" and n >= len(took) // 2]
    some = max(1, len(late) // 5)
    early, last = statistics.median(late[:some]), statistics.median(late[-some:])
    return [
        *rows,
        Row(
            f"all {len(took)} edits",
            f"{ms(min(took))} ({ms(statistics.median(took))})",
            counts,
            (Goal(f"target: no wrong outcome ({wrong} were)", not wrong),),
            {"wrong": wrong, "median": statistics.median(took)},
        ),
        Row(
            f"of {len(late)} resumed in the second half, the first and last {some}",
            f"{ms(early)} and {ms(last)} by median",
            f"{last / early:.2f} ×",
            (Goal(f"target ≤ {MORE_TIME:g} ×", last <= MORE_TIME * early),),
            {"early": early, "late": last},
        ),
    ]


def goes_back(number: int, most: int) -> bool:
    """Whether it changes what has run."""
    return number % 10 == 0 and number <= most // 2


def edited(text: str, number: int, most: int) -> str:
    """The program after so many edits."""
    text = re.sub(r"edit \d+ of", f"edit {number} of", text)
    if goes_back(number, most):
        text = text.replace("range(20)", "range(21)")  # what the program itself holds must not grow
    if number % 5 == 0:
        text = text.replace("== 0", "!= 0")
    if number % 7 == 0:
        text += "def\n"
    return text


def is_right(outcome: str, shown: str, number: int, most: int) -> bool:
    """Whether that is what a cold run would have given."""
    if number % 7 == 0:
        return outcome == "failed" and "SyntaxError" in shown
    size = 21 if goes_back(number, most) else 20
    said = f"edit {number} of {size}\n" in shown
    failed = "ValueError" in shown
    return said and failed == (number % 5 == 0) and (outcome == "failed") == failed


def _look(number: int, one: Footprint, first: Footprint) -> Row:
    goals = (
        Goal(f"target ≤ {MORE_MEMORY:g} × the memory", one.pss <= MORE_MEMORY * first.pss),
        Goal(
            f"no more than {MORE_THINGS} more processes",
            one.processes <= first.processes + MORE_THINGS,
        ),
        Goal(
            f"no more than {MORE_THINGS} more descriptors",
            one.descriptors <= first.descriptors + MORE_THINGS,
        ),
    )
    return Row(
        f"after {number} edits",
        f"{mb(one.pss)} in {one.processes} processes and the driver ({mb(one.driver)})",
        f"{one.descriptors} descriptors",
        () if one is first else goals,
        one._asdict(),
    )
