"""Loops to drive: a process that forks one for each caller, so that imports are paid for once.

    python driver.py <socket>

A caller sends a line of JSON (`Request` in running.py), then words as a user would type them, and
`fence`; it gets a line of JSON for each run, with how much the program has written by then, one
for each fence, and one for each mistake that the agent made.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import Any

from zeroin.cycle import Cycle
from zeroin.fronts import report_json
from zeroin.fronts.loop_desk import Words
from zeroin.run.warm import Engine
from zeroin.run.warm.lines import Line
from zeroin.tools.loop import LoopOptions, loop
from zeroin.tools.loop.report import Order

# What loops import when they need it: here it is there before they are forked.
LATE = (
    "hashlib",
    "subprocess",
    "threading",
    "zeroin.cycle.crash",
    "zeroin.cycle.explain",
    "zeroin.cycle.printed",
    "zeroin.libc",
    "zeroin.observe.death.around",
    "zeroin.observe.oom",
    "zeroin.record.store",
)
MOST = 40  # snapshots at a pace that is asked for
LATER = 0.05  # seconds between those that follow


def serve(path: str) -> None:
    """Until the one who started us ends."""
    for name in LATE:
        importlib.import_module(name)
    gc.freeze()  # a collection would copy the pages that loops share
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if 0 in ready:
            return
        caller, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _be_a_loop(caller)
        caller.close()


def _be_a_loop(caller: socket.socket) -> None:
    try:
        os.setsid()
        fd = caller.fileno()
        request = json.loads(_first_line(fd))
        os.environ.clear()
        os.environ.update(request["env"])
        os.chdir(request["cwd"])
        if request["every"] is not None:
            _take_snapshots(request["every"])
        out, err = (
            os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC)
            for name in ("out", "err")
        )
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        teller = _Teller(fd, out, err)
        _hear_mistakes(teller)
        options = LoopOptions(strict=request["strict"], stdin=request["stdin"], targets=(out, err))
        cycle = Cycle(tuple(request["command"]), request["cwd"])
        loop(cycle, options, os.environ, _Desk(fd, teller.note), teller)
    except BaseException:  # the caller shall hear of it, not pytest's own handlers
        bug = json.dumps({"kind": "bug", "text": traceback.format_exc()})
        os.write(caller.fileno(), bug.encode() + b"\n")
    finally:
        os._exit(0)


def _first_line(fd: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        line += os.read(fd, 1)
    return line


def _take_snapshots(every: float) -> None:
    """Ask agents to take them at another pace than they would; the first ones of each run."""
    send = Line.send
    count = 0

    def send_pace(self: Line, message: dict[str, Any], descriptors: Any = ()) -> bool:
        nonlocal count
        if message["kind"] in ("granted", "go"):
            count = 0 if message["kind"] == "go" else count + 1
            message = {**message, "every": every if count < MOST else max(every, LATER)}
        return send(self, message, descriptors)

    Line.send = send_pace  # type: ignore[method-assign]


def _hear_mistakes(teller: _Teller) -> None:
    take = Engine._take

    def take_all(self: Any, line: Line, message: dict[str, Any]) -> None:
        if message.get("kind") == "mistake":
            teller.say(kind="mistake", text=message["text"])
        take(self, line, message)

    Engine._take = take_all  # type: ignore[method-assign]


class _Desk(Words):
    """Words, and fences: an order that is obeyed in its turn, and does nothing."""

    def _order(self, line: bytes) -> Order | None:
        return Order.HELP if line == b"fence" else super()._order(line)


class _Teller:
    def __init__(self, fd: int, out: int, err: int) -> None:
        self.fd = fd
        self.targets = (out, err)

    def say(self, **words: Any) -> None:
        os.write(self.fd, json.dumps(words).encode() + b"\n")

    def iteration(self, done: Any, *, more: bool) -> None:
        del more
        written = [os.fstat(fd).st_size for fd in self.targets]
        broken = done.broken.text if done.broken is not None else None
        told = report_json.loop(done)
        self.say(kind="run", written=written, stopped=done.stopped, broken=broken, **told)

    def verified(self, done: Any) -> None:
        self.say(kind="verified", verified=done.verified, difference=done.difference)

    def note(self, text: str) -> None:
        self.say(kind="note", text=text)

    def error(self, error: Any) -> None:
        self.say(kind="note", text=str(error))

    def waiting(self) -> None:
        pass

    def help(self) -> None:
        self.say(kind="fence")


if __name__ == "__main__":
    serve(sys.argv[1])
