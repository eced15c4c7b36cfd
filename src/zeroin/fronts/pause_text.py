"""What is said when a program is held still, and when it goes on."""

from __future__ import annotations

import shlex

from zeroin.common import secrets
from zeroin.fronts import words
from zeroin.run.hold import Missed
from zeroin.sizes import format_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.hold import Held

MOST = 5
MB = 1_000_000
NEAR = 0.95  # of the peak: no two are the same


def lines(told: Held | Missed | None, cycle: Cycle) -> list[str]:
    """What has come about."""
    if told is None:
        return ["zeroin: it goes on"]
    return _missed(told, cycle) if isinstance(told, Missed) else _held(told)


def _missed(told: Missed, cycle: Cycle) -> list[str]:
    """Where it had most, and how to get there."""
    most, when = words.size(told.peak), words.seconds(told.between[1])
    if told.peak < told.at:
        return [f"zeroin: it was not held: it had {most} at most (at {words.size(told.at)})"]
    command, near = shlex.join(cycle.command), format_size(int(NEAR * told.peak) // MB * MB)
    held = f"it was held at {words.size(told.held)}" if told.held else "it was not held"
    if told.seen:
        return [
            f"zeroin: {held}, and had most after {when}: {most}",
            f"  hold it there: zeroin run --pause-at-peak={near} -- {command}",
        ]
    return [
        f"zeroin: {held}; it had most for a moment shortly before {when}: {most}",
        f"  end it there, with its stack: zeroin limit memory={near} -- {command}",
    ]


def _held(held: Held) -> list[str]:
    """Who is held, and the commands to type in another terminal."""
    pids = " ".join(str(pid) for pid, _ in held.processes)
    biggest = held.processes[0][0]
    has, wanted = words.size(held.total), words.size(held.at)
    out = [
        f"zeroin: held still after {words.seconds(held.seconds)}: it has {has} (at {wanted})",
        *(f"  {pid}  {words.size(size):>8}  {_name(pid)}" for pid, size in held.processes[:MOST]),
    ]
    if len(held.processes) > MOST:
        out.append(f"  and {len(held.processes) - MOST} more")
    return [
        *out,
        f"  look at it:  zeroin why -p {biggest}",
        f"  let it go on: kill -CONT {pids}",
        f"  end it:      kill {pids}; kill -CONT {pids}",
    ]


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return words.cut(words.clean(" ".join(secrets.mask_words(text.split("\0")))), 60)
