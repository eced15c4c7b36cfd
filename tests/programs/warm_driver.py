"""A small loop on the real engine, in a process of its own: what the scenarios of test_warm use."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from zeroin.run import environment, keep, tree
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.execute import Run, Stage
from zeroin.run.inbox import Inbox
from zeroin.run.keep import Keeper
from zeroin.run.warm import Engine, NeedsCold

AGENT = Path(__file__).with_name("warm_agent.py")


class Loop:
    """Stories, told again and again."""

    def __init__(self, **options: object) -> None:
        self.engine = Engine(**options)
        self.number = 0
        self.command = [sys.executable, str(AGENT), "story"]
        self.env = dict(os.environ)

    def use_real_agent(self, script: str) -> None:
        """A program of Python's, instead of a story."""
        self.command = [sys.executable, script]
        self.env["PYTHONPATH"] = environment.BOOT

    def story(self, *lines: str) -> None:
        """Edit."""
        Path("story").write_text("".join(f"{line}\n" for line in lines))

    def run(self, *lines: str, targets=None, timeout=None, rest=True) -> dict:
        """One attempt: what was shown, what was kept, how it came and ended."""
        if lines:
            self.story(*lines)
        self.number += 1
        folder = f"kept{self.number}"
        keeper = Keeper(folder)
        inbox = Inbox()
        shown = Path(f"shown{self.number}")
        fd = os.open(shown, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        engine = self.engine
        command = self.command
        env = hand_order(AgentOrder(), inbox.folder, self.env)
        stage = Stage(targets or (fd, fd), engine.aside, engine.tap)
        began = time.monotonic()
        try:
            starter = engine.starter(inbox.folder)
            try:
                ended = Run(keeper, inbox, timeout).execute(
                    command, ".", env, stage, start=starter, prologue=starter.prologue
                )
            except NeedsCold as needed:
                engine.begin_cold(needed.reason)
                env = hand_order(AgentOrder(warm=engine.order()), inbox.folder, self.env)
                ended = Run(keeper, inbox, timeout).execute(command, ".", env, stage)
        finally:
            if rest:
                engine.rest()
            inbox.close()
            os.close(fd)
        return {
            "shown": shown.read_text(),
            "kept": [[p.stream, p.data.decode()] for p in keep.pieces(folder)],
            "code": os.waitstatus_to_exitcode(ended.status),
            "came": list(engine.came),
            "ids": [s.id for s in engine.snapshots],
            "stopped": ended.stopped,
            "interrupted": ended.interrupted,
            "survivors": ended.survivors,
            "timed_out": ended.timed_out,
            "peak": ended.peak_bytes,
            "took": time.monotonic() - began,
        }

    def on_output(self, text: str, call) -> None:
        """Call once, when the program writes this."""
        plain = self.engine.spool.add
        seen = bytearray()

        def add(stream: str, data: bytes) -> bool:
            seen.extend(data)
            if text.encode() in seen:
                self.engine.spool.add = plain
                self.engine.aside.later(0.0, call)
            return plain(stream, data)

        self.engine.spool.add = add

    def until(self, done) -> None:
        """Serve between two runs."""
        limit = time.monotonic() + 20
        while not done():
            assert time.monotonic() < limit, "it never came to be"
            self.engine.aside.serve(0.05)

    def spare(self, id_: int):
        """Wait for the spare of a snapshot."""
        self.until(lambda: (s := self.engine.table.get(id_)) is not None and s.spare is not None)
        return self.engine.table.get(id_).spare


def report(**values: object) -> None:
    """The last line of a scenario."""
    print(json.dumps(values))


def alive(pids) -> list[int]:
    """Those that have not ended."""
    return [pid for pid in pids if not tree.is_zombie(pid)]


def children() -> list[int]:
    return tree.descendants(os.getpid())


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def kill(pid: int) -> None:
    """And come back when it is dead."""
    fd = os.pidfd_open(pid)
    os.kill(pid, signal.SIGKILL)
    select.select([fd], [], [], 20)
    os.close(fd)


def wait_for_rest(pid: int) -> None:
    """Until a process has read what it was sent, and waits for more."""
    limit = time.monotonic() + 20
    quiet, before = 0, None
    while quiet < 5:
        assert time.monotonic() < limit, "it is never at rest"
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rpartition(")")[2].split()
        now = fields[0], fields[11], fields[12]
        quiet = quiet + 1 if now == before and now[0] == "S" else 0
        before = now
        time.sleep(0.02)
