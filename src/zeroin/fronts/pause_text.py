"""What is said when a program is held still, and when it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zeroin.fronts import words

if TYPE_CHECKING:
    from zeroin.run.hold import Held

MOST = 5


def lines(held: Held) -> list[str]:
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
            text = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return ""
    return words.cut(words.clean(text), 60)
