"""What a probe can do where it stands."""

from __future__ import annotations

import os
import time

from . import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, Callable

    from .asked import Probe
    from .hit import At

    Action = Callable[[Probe, At], None]

DIED = 70  # the exit code
SNAPSHOTS = 8  # that one process keeps of one probe
SECONDS = 0.15  # for looking at the values


def of(probe: Probe) -> Iterator[Action]:
    """What was asked for, in a fixed order: look first, wait then, end last."""
    for name, action in _ACTIONS.items():
        if probe.wants.get(name):
            yield action


def peek(probe: Probe, at: At) -> None:
    """Say what expressions are."""
    from .. import summary
    from ..common import secrets
    from . import hit

    values = []
    for text, code in probe.peeks:
        try:
            values.append((text, hit.evaluate(code, at)))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            hit.raised(probe, at, text, error, "the program goes on")
    if values:
        hidden = secrets.of_environment(os.environ)
        told = summary.summarise_all(values, SECONDS, hidden, signs=True)
        texts = [f"{name} = {words}" for (name, _), words in zip(values, told)]
        say.say(at.place, *texts)


def mem(_probe: Probe, at: At) -> None:
    """Say how much memory the process has."""
    from . import memory

    say.say(at.place, memory.words())


def stack(_probe: Probe, at: At) -> None:
    """Say how the program came here."""
    lines = [say.label() + at.place + "  called from"]
    one: Any = at.frame
    while one.f_back is not None:
        one = one.f_back
        lines.append(f"  {say.place(one)}")
    if len(lines) == 1:
        lines = [say.label() + at.place + "  is the top of the program: nothing has called it"]
    say.write(("\n".join(lines) + "\n").encode("utf-8", "backslashreplace"))


def snapshot(probe: Probe, at: At) -> None:
    """Keep every frame with its variables, as a crash does."""
    from .. import crash, post

    probe.snapshots += 1
    if probe.snapshots > SNAPSHOTS:
        return
    post.send(
        {
            "kind": "snapshot",
            "pid": os.getpid(),
            "time": time.time(),
            "probe": probe.id,
            "number": probe.acted.value(),
            "place": say.label() + at.place,
            "frames": crash.frames_at(at.frame),
        }
    )
    if not probe.quiet:
        last = ", the last one of this process" if probe.snapshots == SNAPSHOTS else ""
        say.say(at.place, f"snapshot kept{last}")


def sleep(probe: Probe, at: At) -> None:
    """Stand still for a while."""
    seconds = probe.wants["sleep"]
    if not probe.quiet:
        say.say(at.place, f"sleeps {seconds:g} s (pid {os.getpid()})")
    time.sleep(seconds)


def pdb(_probe: Probe, at: At) -> None:
    """Open the debugger here."""
    from .. import debugger

    if not debugger.has_terminal():
        say.say(at.place, "no debugger: this process has no terminal to type in")
        return
    debugger.at(at.frame)


def die(probe: Probe, at: At) -> None:
    """End the process here and now; nothing of the program runs after."""
    from .. import crash, loaded, post
    from . import tally

    say.flush()
    if not probe.quiet:
        say.say(at.place, f"ends here, as --at asked (pid {os.getpid()}, exit code {DIED})")
        if at.frame.f_back is not None and not probe.wants.get("stack"):
            stack(probe, at)
    probe.tell("died")
    link = {
        "type": "die",
        "module": "zeroin",
        "message": "ended there, as --at asked",
        "frames": crash.frames_at(at.frame),
        "leads_by": "",
    }
    about = {"pid": os.getpid(), "time": time.time(), "thread": "main", "fatal": True, "took": 0.0}
    post.send({"kind": "crash", **about, "chain": [link], **loaded.facts()})
    tally.write()
    os._exit(DIED)


_ACTIONS: dict[str, Action] = {
    "peek": peek,
    "mem": mem,
    "stack": stack,
    "snapshot": snapshot,
    "sleep": sleep,
    "pdb": pdb,
    "die": die,
}
