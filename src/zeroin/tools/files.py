"""`files`: which file, socket or permission failed, over the whole tree of a command."""

from __future__ import annotations

import os
import re

from zeroin.emulate import causes
from zeroin.named import NamedTuple
from zeroin.observe.calls import report as reporting
from zeroin.observe.calls.about import EXECUTES
from zeroin.observe.calls.places import Places
from zeroin.observe.calls.reason import reason
from zeroin.observe.calls.report import Failure, Used
from zeroin.observe.calls.told import told
from zeroin.run import traced
from zeroin.run.launch import pick_launcher
from zeroin.run.witness import Witness
from zeroin.tools.run import RunReport, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.calls.history import History, Tried
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.run.launch.traced import TracedLauncher
    from zeroin.tools.run import Options

_ERRNO = re.compile(r"\[Errno (\d+)\]")
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
AGENT = (_HERE + "/agent/", _HERE + "/common/")


class Found(NamedTuple):
    """What was seen of files. `source` is "strace" or "agent"."""

    failures: list[Failure]
    hidden: int  # failures that say nothing about the program
    opened: list[Used]
    written: list[Used]
    source: str
    lost: int = 0  # failures that were too many to keep
    remark: str = ""  # what failed without a call that did


class FilesReport(NamedTuple):
    """A run, and what it did to files."""

    run: RunReport
    found: Found


def files(
    cycle: Cycle, options: Options, environ: Mapping[str, str], *, everything: bool = False
) -> FilesReport:
    """Run it once, traced where there is a strace, else as its Pythons tell."""
    if traced.can_trace():
        from zeroin.run.launch.traced import TracedLauncher

        launcher = TracedLauncher(pick_launcher(cycle))
        watch: FilesWitness = TracedFiles(cycle, launcher, everything=everything)
        report = run(cycle, options, environ, launcher=launcher, witnesses=[watch])
    else:
        watch = ToldFiles(cycle)
        report = run(cycle, options, environ, witnesses=[watch])
    return FilesReport(report, watch.found())


class FilesWitness(Witness):
    """Lets the agents note their lines, and keeps what is needed afterwards."""

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.places: Places | None = None
        self.output = ""
        self.own: tuple[str, ...] = ()
        self.crashes: list[dict[str, Any]] = []
        self._agents = False  # whether there are any

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:  # noqa: ARG002
        """See `Witness`."""
        self._agents = True
        return order._replace(lines=True)

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.output = keeper.recent("err") or keeper.recent("tty") or keeper.recent("out")
        self.own = (*AGENT, os.path.join(inbox.folder, ""))
        if self._agents:
            self.places = Places(inbox.folder)
            self.crashes = [m for m in inbox.messages if m["kind"] == "crash"]

    def found(self) -> Found:
        """What is told of files; empty without anybody who saw them."""
        return Found([], 0, [], [], "agent", remark=self.remark())

    def crashed_at(self, pid: int, path: str, error: str) -> str:
        """The line of an OSError that ended the program, where nothing else tells."""
        for crash in self.crashes:
            last = crash["chain"][-1]
            number = _ERRNO.search(last["message"])
            is_it = number and reporting.name_of(int(number[1])) == error
            other = "'" in last["message"] and os.path.basename(path) not in last["message"]
            if crash["pid"] != pid or not is_it or other:
                continue
            frames = [f for f in last["frames"] if f["owner"] == "user"] or last["frames"]
            if frames:
                return f"{frames[-1]['file']}:{frames[-1]['line']} in {frames[-1]['name']}"
        return ""

    def remark(self) -> str:
        """A name server that says no has answered: no call failed."""
        for crash in self.crashes:
            last = crash["chain"][-1]
            if last["type"].endswith("gaierror"):
                return f"a name could not be looked up: {last['message']}"
        return ""


class TracedFiles(FilesWitness):
    """By strace: every call of every process."""

    def __init__(self, cycle: Cycle, launcher: TracedLauncher, *, everything: bool) -> None:
        super().__init__(cycle)
        self._launcher = launcher
        self._everything = everything

    @property
    def history(self) -> History:
        """All calls, once the run is over."""
        return self._launcher.history

    def correct(self, ended: Ended) -> Ended:
        """See `Witness`."""
        return ended._replace(calls=tuple(map(reporting.line, self.history.last)))

    def found(self) -> Found:
        """See `FilesWitness`."""
        failures, hidden = reporting.failures(
            self.history,
            everything=self._everything,
            place=self._place,
            output=self.output,
            own=self.own,
            why=self._reason,
        )
        opened = reporting.used(self.history.opened, self.own)
        written = reporting.used(self.history.written, self.own)
        lost = self.history.lost
        return Found(failures, hidden, opened, written, "strace", lost, self.remark())

    def _reason(self, path: str, error: str, operation: str) -> str:
        cycle = self.cycle
        by_limit = causes.cause(cycle.limits, cycle.cwd, path, error) if cycle.limits else ""
        return by_limit or reason(path, error, operation)

    def _place(self, tried: Tried, time: float) -> str:
        place = self.places.of(tried, time) if self.places else ""
        if self.places and not place and tried.name in EXECUTES:
            # A child runs no Python before it is another program: its parent has the line.
            parent = self.history.forked.get(tried.thread, 0)
            place = self.places.of(tried._replace(thread=parent), time)
        pid = self.history.process(tried.thread).pid
        return place or self.crashed_at(pid, tried.path, tried.error)


class ToldFiles(FilesWitness):
    """By the agents: what Python programs tell themselves."""

    def found(self) -> Found:
        """See `FilesWitness`."""
        noted = self.places.everything() if self.places else []
        failures = told(noted, self.crashes, self.output, self.cycle.cwd)
        opened = {one.path: one for one in noted if not one.raised and one.path}
        used = [Used(path, "open", 1) for path in reversed(opened)]
        return Found(failures, 0, used, [], "agent", remark=self.remark())
