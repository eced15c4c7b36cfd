"""`files`: which file, socket or permission failed, over the whole tree of a command."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext

from zeroin.emulate import causes
from zeroin.named import NamedTuple
from zeroin.observe.calls import report as reporting
from zeroin.observe.calls.about import EXECUTES
from zeroin.observe.calls.history import program
from zeroin.observe.calls.places import Places
from zeroin.observe.calls.reason import reason
from zeroin.observe.calls.report import Failure, Used
from zeroin.observe.calls.told import told
from zeroin.run import traced
from zeroin.run.execute import Ended, Run
from zeroin.run.inbox import Inbox
from zeroin.run.limit_guard import Guarded
from zeroin.tools.run import RunReport, run, stacks_of, start_and_wait

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.observe.calls.history import History, Tried
    from zeroin.run.keep import Keeper
    from zeroin.tools.run import Options

_ERRNO = re.compile(r"\[Errno (\d+)\]")
AGENT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + "/agent/"


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
    watching = _Traced if traced.can_trace() else _Heard
    watch = watching(cycle, options, everything=everything)
    report = run(cycle, options._replace(conduct=watch.conduct), environ)
    return FilesReport(report, watch.found())


class _Watch:
    """Runs the command, and keeps what is needed afterwards."""

    def __init__(self, cycle: Cycle, options: Options, *, everything: bool) -> None:
        self.cycle = cycle
        self.options = options
        self.everything = everything
        self.places: Places | None = None
        self.output = ""
        self.own: tuple[str, ...] = ()
        self.crashes: list[dict[str, Any]] = []

    def conduct(self, keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        """See `Conduct`."""
        if inbox is not None:
            env = {**env, "ZEROIN_LINES": "1"}
        ended = self.execute(keeper, inbox, env)
        self.output = keeper.recent("err") or keeper.recent("tty") or keeper.recent("out")
        if inbox is not None:
            inbox.drain()
            self.places = Places(inbox.folder)
            self.own = (AGENT, os.path.join(inbox.folder, ""))
            self.crashes = [m for m in inbox.messages if m["kind"] == "crash"]
        return ended

    def execute(self, keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        return self._run(list(self.cycle.command), keeper, inbox, env)

    def _run(
        self,
        words: list[str],
        keeper: Keeper,
        inbox: Inbox | None,
        env: dict[str, str],
        **how: Any,
    ) -> Ended:
        return start_and_wait(
            Run(keeper, inbox, self.cycle.timeout),
            self.cycle._replace(command=tuple(words)),
            env,
            targets=self.options.targets,
            take_stacks=lambda: stacks_of(inbox),
            **how,
        )

    def found(self) -> Found:
        raise NotImplementedError

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


class _Traced(_Watch):
    """By strace: every call of every process."""

    history: History

    def execute(self, keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        if inbox is not None or not self.cycle.limits:
            return self._trace(keeper, inbox, env)
        inbox = Inbox()  # for its folder: no agent knows of it
        try:
            return self._trace(keeper, inbox, env)
        finally:
            inbox.close()

    def _trace(self, keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
        asked = bool(self.cycle.limits)
        folder = inbox.folder if inbox is not None and asked else ""
        trace = traced.Trace(program(self.cycle.command), self.cycle.cwd, folder)
        own = [inbox.folder] if inbox is not None else []
        try:
            # Under limits there is a guard already. It is forked, so it comes before our thread.
            with nullcontext(env) if asked else Guarded(env, own) as marked:
                words = trace.around(self.cycle.command, self.cycle.cwd, marked, asked=asked)
                trace.begin()
                ended = self._run(words, keeper, inbox, marked, busy=trace.lags)
        except BaseException:
            trace.close()
            raise
        self.history = trace.end(ended.pid, ended.survivors)
        return ended._replace(calls=tuple(map(reporting.line, self.history.last)))

    def found(self) -> Found:
        failures, hidden = reporting.failures(
            self.history,
            everything=self.everything,
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


class _Heard(_Watch):
    """By the agents: what Python programs tell themselves."""

    def found(self) -> Found:
        noted = self.places.everything() if self.places else []
        failures = told(noted, self.crashes, self.output, self.cycle.cwd)
        opened = {one.path: one for one in noted if not one.raised and one.path}
        used = [Used(path, "open", 1) for path in reversed(opened)]
        return Found(failures, 0, used, [], "agent", remark=self.remark())
