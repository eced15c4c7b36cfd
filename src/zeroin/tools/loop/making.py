"""How the program is run: resumed or cold by the engine, or plainly, to compare with."""

from __future__ import annotations

import functools
import os
import signal

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.run.execute import Run
from zeroin.run.spawn import spawn
from zeroin.run.tree import is_stopped
from zeroin.run.warm import Engine, NeedsCold, wrapper
from zeroin.run.warm.standby import Command
from zeroin.tools.run import stacks_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.run.warm.standby import Place
    from zeroin.tools.loop.report import LoopOptions
    from zeroin.tools.run import Conduct

LOOK = 0.1  # seconds between two looks at a run that is out of sight


class Made(NamedTuple):
    """How the last run came to be."""

    mode: str
    at: str | None
    saved: float
    reason: str


class Maker:
    """Makes runs of one command, with one engine."""

    def __init__(self, cycle: Cycle, options: LoopOptions) -> None:
        self.cycle = cycle
        self.options = options
        self.engine = Engine(budget_bytes=options.budget, profile=options.profile > 0)
        self.aside = self.engine.aside
        self._env: dict[str, str] = {}  # of the last run
        self.wants_terminal = False  # the last run to compare with, which can't have it
        self.reason = ""  # why the next run is cold, if that is decided already
        self.told = 0  # a signal that means us as well, and came while the program ran

    def warm(self, *, cold: bool) -> Conduct:
        """From the newest snapshot that is valid; cold if there is none, or if it is wanted."""
        if self.cycle.limits:
            return self._limited(self.options.targets)

        def conduct(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
            self._give_stdin()
            self._env = env
            engine = self.engine
            how: dict[str, Any] = {
                "targets": self.options.targets,
                "take_stacks": lambda: stacks_of(inbox),
                "aside": self.aside,
                "tap": engine.tap,
            }
            command, cwd = self.cycle.command, self.cycle.cwd
            reason, self.reason = self.reason, ""
            try:
                if not cold and inbox is not None:
                    start = engine.starter(
                        inbox.folder, strict=self.options.strict, lenient=self.options.lenient
                    )
                    how_on = how | {
                        "start": start,
                        "prologue": start.prologue,
                        "also": start.wires,
                    }
                    try:
                        ended = self._run(keeper, inbox).execute(command, cwd, env, **how_on)
                        engine.faults = ended.faults
                        return self._as_told(ended)
                    except NeedsCold as needed:
                        reason = needed.reason
                engine.begin_cold(reason)
                env = {**env, **engine.environment()}
                return self._run(keeper, inbox).execute(command, cwd, env, **how)
            finally:
                engine.rest()

        return conduct

    def _as_told(self, ended: Ended) -> Ended:
        """A resumed program has no `uv run` around it, which would say how it ended."""
        if not self.engine.through or ended.stopped or ended.timed_out:
            return ended
        return ended._replace(status=wrapper.as_it_ends(ended.status))

    def look(self) -> None:
        """There is an edit: what takes time can begin before the run is set up."""
        self.engine.look(strict=self.options.strict, lenient=self.options.lenient)

    def plain(self, targets: tuple[int, int]) -> Conduct:
        """As without us, and without a trace in the engine: what others are compared with."""
        if self.cycle.limits:
            return self._limited(targets)

        def conduct(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
            self.engine.end_standby()  # two of the program could get in each other's way
            self._give_stdin()
            how: dict[str, Any] = {}
            self.wants_terminal = False
            if os.isatty(0):
                # Nobody sees what it asks, so nobody can answer: it is stopped if it reads.
                how["start"] = functools.partial(self._start_apart, env)
                self.aside.later(LOOK, self._look_at_plain)
            return self._run(keeper, inbox).execute(
                self.cycle.command,
                self.cycle.cwd,
                env,
                targets=targets,
                take_stacks=lambda: stacks_of(inbox),
                aside=self.aside,
                **how,
            )

        return conduct

    def _limited(self, targets: tuple[int, int]) -> Conduct:
        """From the beginning, with all of each limit and no snapshots that take some of it."""
        from zeroin.run import limited

        def conduct(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
            self._give_stdin()
            reason, self.reason = self.reason, ""
            self.engine.begin_cold(reason)
            try:
                return limited.execute(
                    self._run(keeper, inbox),
                    self.cycle,
                    env,
                    targets=targets,
                    take_stacks=lambda: stacks_of(inbox),
                    aside=self.aside,
                )
            finally:
                self.engine.rest()

        return conduct

    def _start_apart(self, env: dict[str, str], out: int, err: int) -> int:
        return spawn(self.cycle.command, self.cycle.cwd, env, out, err, apart=True)

    def _look_at_plain(self) -> None:
        """Has the kernel stopped it, or is it to end? Ctrl-C does not reach it by itself."""
        run = self.aside.run
        if run is None or run.stopped:
            return
        self.wants_terminal = is_stopped(run.pid)
        if self.wants_terminal or run.interrupted:
            run.stop()
        self.aside.later(LOOK, self._look_at_plain)

    def stand_by(self, place: Place, peak_bytes: int) -> bool:
        """Run ahead to there in the background, if that can be."""
        self._give_stdin()
        env = {**self._env, **self.engine.environment()}
        command = Command(self.cycle.command, self.cycle.cwd, env, self.options.targets)
        try:
            return self.engine.stand_by(command, place, peak_bytes)
        except (ZeroinError, OSError):  # it could be started before; the next run will say more
            return False

    def made(self) -> Made:
        """How the engine's last run came to be."""
        came = self.engine.came
        if self.engine.came_ahead:
            return Made("standby", came.at, came.saved, came.reason)
        if came.id is None:
            return Made("cold", None, 0.0, came.reason)
        mode = "from-failure" if self.options.lenient else "resumed"
        return Made(mode, came.at, came.saved, came.reason)

    def _give_stdin(self) -> None:
        """The file anew, from its beginning; what is resumed has its own place in it."""
        if self.options.stdin is not None:
            fd = os.open(self.options.stdin, os.O_RDONLY | os.O_CLOEXEC)
            os.dup2(fd, 0)
            os.close(fd)

    def _run(self, keeper: Keeper, inbox: Inbox | None) -> Run:
        return _Heard(keeper, inbox, self.cycle.timeout, self._hear)

    def _hear(self, number: int) -> None:
        self.told = number


class _Heard(Run):
    """A run that lets us know which signals it passed on: to end the program is to end us."""

    def __init__(
        self,
        keeper: Keeper,
        inbox: Inbox | None,
        timeout: float | None,
        hear: Callable[[int], None],
    ) -> None:
        super().__init__(keeper, inbox, timeout)
        self._hear_signal = hear

    def _pass_on(self, number: int) -> None:
        if number in (signal.SIGTERM, signal.SIGHUP):
            self._hear_signal(number)
        super()._pass_on(number)
