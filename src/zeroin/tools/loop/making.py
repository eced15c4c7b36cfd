"""How the program is run: resumed or cold by the engine, or plainly, to compare with."""

from __future__ import annotations

import os
import signal

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.run.agent_order import AgentOrder
from zeroin.run.launch.limited import LimitedLauncher
from zeroin.run.launch.plain import PlainLauncher
from zeroin.run.launch.warm import ResumeWish, WarmLauncher
from zeroin.run.spawn import spawn
from zeroin.run.tree import is_stopped
from zeroin.run.warm import Engine, wrapper
from zeroin.run.warm.standby import Command
from zeroin.run.witness import Witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.warm.standby import Place
    from zeroin.tools.loop.report import LoopOptions

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
        self._env: dict[str, str] = {}  # of the last run,
        self._order = AgentOrder()  # and what its agents were asked for
        self.wants_terminal = False  # the last run to compare with, which can't have it
        self.reason = ""  # why the next run is cold, if that is decided already
        self.told = 0  # a signal that means us as well, and came while the program ran

    def warm(self, *, cold: bool) -> Launcher:
        """From the newest snapshot that is valid; cold if there is none, or if it is wanted."""
        self._give_stdin()
        reason, self.reason = self.reason, ""
        if self.cycle.limits:
            # With all of each limit, and no snapshots that take some of it.
            return WarmLauncher(self.engine, LimitedLauncher(), may_resume=False, reason=reason)
        wish = ResumeWish(strict=self.options.strict, lenient=self.options.lenient)
        return LoopLauncher(
            self,
            WarmLauncher(
                self.engine,
                PlainLauncher(),
                may_resume=not cold,
                wish=wish,
                order=self.engine.order(),
                reason=reason,
            ),
        )

    def note_start(self, env: dict[str, str], order: AgentOrder) -> None:
        """Remember what the program was started with: a standby is started with the same."""
        self._env, self._order = env, order

    def look(self) -> None:
        """There is an edit: what takes time can begin before the run is set up."""
        self.engine.look(strict=self.options.strict, lenient=self.options.lenient)

    def plain(self) -> Launcher:
        """As without us, and without a trace in the engine: what others are compared with."""
        if self.cycle.limits:
            return self.warm(cold=True)
        self.engine.end_standby()  # two of the program could get in each other's way
        self._give_stdin()
        self.wants_terminal = False
        return UnseenLauncher(self)

    def watch_unseen(self) -> None:
        """Stop the run that is out of sight if it reads the terminal: nobody sees what it asks."""
        self.aside.later(LOOK, self._look_at_plain)

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
        command = Command(
            self.cycle.command, self.cycle.cwd, self._env, self.options.targets, self._order
        )
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

    def take_signal(self, number: int) -> None:
        """Hear a signal that was passed on to the program: to end the program is to end us."""
        if number in (signal.SIGTERM, signal.SIGHUP):
            self.told = number


class LoopLauncher:
    """The warm launcher of a loop, which remembers how its program was started and ended."""

    def __init__(self, maker: Maker, warm: WarmLauncher) -> None:
        self._maker = maker
        self._warm = warm

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return self._warm.arrange(cycle)

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        self._maker.note_start(env, stage.order or AgentOrder())
        engine = self._maker.engine
        ended = self._warm.launch(process, cycle, env, stage)
        if not self._warm.resumed:
            return ended
        if not engine.through or ended.stopped or ended.timed_out:
            return ended
        # A resumed program has no `uv run` around it, which would say how it ended.
        return ended._replace(status=wrapper.as_it_ends(ended.status))


class UnseenLauncher:
    """Starts the program where it can't reach the terminal, while others are served."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return cycle

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        stage = stage._replace(aside=self._maker.aside)
        if not os.isatty(0):
            return process.execute(cycle.command, cycle.cwd, env, stage)
        self._maker.watch_unseen()

        def start(out: int, err: int) -> int:
            return spawn(cycle.command, cycle.cwd, env, out, err, apart=True)

        return process.execute(cycle.command, cycle.cwd, env, stage, start=start)


class LoopWitness(Witness):
    """Lets the loop know which signals were passed on; a save may end the run."""

    may_stop = True

    def __init__(self, maker: Maker) -> None:
        self._maker = maker

    def take_signal(self, number: int, *, passed_on: bool) -> None:
        """See `Witness`."""
        if passed_on:
            self._maker.take_signal(number)
