"""`loop`: run, wait for a save, go on from where the edit makes a difference.

Each save of a file that the program used starts an iteration, which is an attempt like those
of `run`. `saves` decides what a save is, `attempt` runs and records, `verify` compares with a
cold run; how a program is resumed is the engine's business (`run/warm`).
"""

from __future__ import annotations

import os
import signal
import time

from zeroin.cycle import Kind, Outcome
from zeroin.cycle.signature import of_words
from zeroin.errors import ZeroinError
from zeroin.run.environment import users
from zeroin.run.warm import standby
from zeroin.tools import limits
from zeroin.tools.loop import compiled, expected, verify
from zeroin.tools.loop.attempt import Attempt
from zeroin.tools.loop.hidden import Hidden
from zeroin.tools.loop.listening import LOOK, TOO_OFTEN, Listening
from zeroin.tools.loop.making import LoopWitness
from zeroin.tools.loop.report import (
    Desk,
    Iteration,
    LoopEnd,
    LoopOptions,
    Order,
    Statement,
    Teller,
)
from zeroin.tools.loop.saves import Broken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.loop.attempt import Done

__all__ = [
    "Broken",
    "Desk",
    "Iteration",
    "LoopEnd",
    "LoopOptions",
    "Order",
    "Statement",
    "Teller",
    "loop",
]

LONG = 3600.0
WORTH_WHILE = 0.5  # seconds between the last snapshot and the end, for a standby
WARM = ("resumed", "standby")  # runs that should be what a cold run is


def loop(
    cycle: Cycle,
    options: LoopOptions,
    environ: Mapping[str, str],
    desk: Desk,
    teller: Teller,
) -> LoopEnd:
    """Go on until the user has enough."""
    if cycle.limits:
        cycle = limits.resolved(cycle, environ)
    one = _Loop(cycle, options, environ, desk, teller)
    try:
        return one.go()
    finally:
        one.close()


class _Loop(Listening):
    def __init__(
        self,
        cycle: Cycle,
        options: LoopOptions,
        environ: Mapping[str, str],
        desk: Desk,
        teller: Teller,
    ) -> None:
        super().__init__(cycle, options, desk, teller)
        self.environ = environ
        self.saves.prefix = users(cycle, environ).get("PYTHONPYCACHEPREFIX", "")
        self.n = 0
        self.last: Iteration | None = None
        self.done: Done | None = None  # of the last iteration
        self.differed = False
        self.edits = expected.Edits()
        self._told_of_standby = False
        self._warned: set[str] = set()  # what is still so, and told
        # What is put back before each run would have to be put back for a resumed one, too; and
        # what a snapshot has taken of a limit is no more known than what it has written.
        self.always_cold = bool(cycle.reset or cycle.restore or cycle.limits)

    def go(self) -> LoopEnd:
        """The first run is cold; each one after it has a reason."""
        if self.always_cold and not self.options.once:
            if self.cycle.limits:
                self.teller.note("every run is cold: each begins with its whole --limit")
            else:
                self.teller.note(
                    "every run is cold: --reset and --restore put files back before it"
                )
        self._iterate(cold=True)
        while not self.options.once and not self.maker.told:
            ending = self._wait()
            if ending is not None:
                return LoopEnd(self.last, self.differed, ending)
        return LoopEnd(self.last, self.differed, self.maker.told)

    # --- waiting ------------------------------------------------------------------------------

    def _wait(self) -> int | None:
        """For the next reason to do something, and do it.

        Gives the signal to end by, 0 to end because the user said so, None to go on.
        """
        self.open_desk()
        self._stand_by()
        while True:
            for number in self.take_signals():
                if number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                    return number
            if self.saves.decided():
                self.close_desk()
                self._on_save()
                return None
            if self.orders:
                return self._obey(self.orders.popleft())
            if self.watch.pace is not None:
                self.saves.touch_all()
            pauses = [self.saves.due(), self.watch.pace, LONG]
            self.aside.serve(min(pause for pause in pauses if pause is not None))

    def _stand_by(self) -> None:
        """Where there can be no snapshots, a fresh process runs ahead to the next edit's place."""
        done, gate = self.done, self.engine.gate
        if done is None or done.ended.stopped or self.engine.standby is not None:
            return
        self.edits.look(self.saves.code)
        if not self.options.standby or self.options.lenient or self.always_cold:
            return
        if gate is None or not standby.fits(gate[1]):
            return
        seconds = self.engine.came.saved + done.outcome.seconds
        newest = self.engine.snapshots[-1].seconds if self.engine.snapshots else 0.0
        place = expected.failure(done.facts) or self.edits.last
        if place is None or place[0] not in self.saves.code or seconds - newest < WORTH_WHILE:
            return
        wanted = standby.Place(*place, seconds)
        if self.maker.stand_by(wanted, done.outcome.peak_bytes) and not self._told_of_standby:
            self._told_of_standby = True
            where = f"{os.path.basename(place[0])}:{place[1]}"
            self.teller.note(
                f"standby: running ahead in the background up to {where} (not with --no-standby)"
            )

    # --- what there is to do ------------------------------------------------------------------

    def _on_save(self) -> None:
        beside = self.beside.intersection(self.saves.decided())
        self.saves.accept()
        if self.saves.broken:
            self._show_broken(next(iter(self.saves.broken.values())))
            return
        if beside:
            names = sorted(os.path.relpath(path, self.cycle.cwd) for path in beside)
            self.maker.reason = f"{', '.join(names)} was changed and belongs to the command"
        self._iterate(cold=bool(beside))

    def _obey(self, order: Order) -> int | None:
        if order is Order.QUIT:
            return 0
        if order is Order.HELP:
            self.teller.help()
            return None
        self.close_desk()
        if order is Order.VERIFY:
            self._verify_last(tell=True)
        elif order is Order.DEBUG:
            self._debug()
        else:
            self._iterate(cold=order is Order.COLD)
        return None

    def _show_broken(self, broken: Broken) -> None:
        """The program is not started, so nothing is lost and nothing recorded."""
        self.n += 1
        where = f"{os.path.basename(broken.path)}:{broken.line}"
        headline = f"{broken.type} at {where}: {broken.message}"
        outcome = Outcome(Kind.FAILED, 1, of_words(broken.type, message=broken.message), headline)
        name = os.path.relpath(broken.path, self.cycle.cwd)
        self.last = self._with_snapshots(
            Iteration(
                self.n, outcome, 1 << 8, reason=f"{name} does not parse: not started", broken=broken
            )
        )
        self.done = None
        self.open_desk()
        self.teller.iteration(self.last, more=False)

    def _debug(self) -> None:
        """Hand the terminal to the failure, which is kept alive; or say why it is not."""
        holder, terminal = self.engine.failure, self.desk.terminal()
        over = self.is_over
        if holder is not None and terminal is not None and holder.debug(*terminal, over=over):
            self.open_desk()
            self.teller.waiting()
            return
        self.open_desk(after_run=False)  # nothing ran: a key that was pressed is a key
        if self.last is None or not self.last.outcome.failed:
            self.teller.note("there is no failure to look at")
        elif self.last.broken is not None:
            self.teller.note("it was not started: there is no state to look at")
        elif self.engine.gate is not None:
            since = " since" if self.engine.gate[0] else ":"
            self.teller.note(f"the failure was not kept alive: no snapshots{since} {self._gate()}")
        else:
            self.teller.note("the failure was not kept alive: see zeroin show, or again --pdb")

    # --- a run --------------------------------------------------------------------------------

    def _iterate(self, *, cold: bool) -> None:
        """Run, and again for as long as saves stop it."""
        first = self.last is None
        retreats = 0
        while True:
            try:
                self._run_once(cold=cold or self.always_cold)
            except ZeroinError as error:
                if first:
                    raise
                self.teller.error(error)
                return
            if self.engine.retreated is not None and not self.maker.told:
                retreats += 1
                cold = retreats >= TOO_OFTEN
                continue
            if not self.saved or self.maker.told:
                return
            self.note_own()
            self.saves.accept()
            cold = False
            if self.saves.broken:
                self._show_broken(next(iter(self.saves.broken.values())))
                return

    def _run_once(self, *, cold: bool) -> None:
        if not cold:
            self.maker.look()
        self.n += 1
        self.saved = []
        self.saves.accept()
        self.began = time.time_ns()
        self.aside.later(LOOK, self.look)
        attempt = Attempt(self.cycle, self.environ, {"loop": self.n}, cold=cold)
        try:
            launcher, witness = self.maker.warm(cold=cold), LoopWitness(self.maker)
            self.done = done = attempt.execute(launcher, self.options.targets, [witness])
            self.follow(done)
            report = self._report(done)
            attempt.recorder.note_settings({"mode": report.mode})
            to_verify = self.options.verify and report.mode in WARM and not report.stopped
            if not (to_verify or report.stopped or self.options.once or self.maker.told):
                self.open_desk()  # keys that are pressed once it is told count
            self.last = report
            self.teller.iteration(report, more=to_verify)
            warnings = attempt.record(report.reason if report.stopped else "")
        finally:
            attempt.close()
        for warning in warnings:
            if warning not in self._warned:
                self.teller.note(f"warning: {warning}")
        # A resumed run does not look for all that a cold one warns of.
        self._warned = {*warnings, *(() if cold else self._warned)}
        if to_verify:
            self._verify_last()

    def _report(self, done: Done) -> Iteration:
        made = self.maker.made()
        reason = made.reason
        if done.ended.stopped:
            names = [os.path.relpath(path, self.cycle.cwd) for path in self.saved]
            reason = f"stopped: {', '.join(names)} was saved" if names else "stopped"
            if self.engine.retreated is not None:
                reason = f"given up: {self.engine.retreated[1]}"
        report = Iteration(
            self.n,
            done.outcome,
            done.ended.status,
            done.number,
            made.mode,
            made.at,
            made.saved,
            reason,
            stopped=done.ended.stopped,
            profile=self._profile(),
            limits=done.ended.limits,
        )
        return self._with_snapshots(report)

    def _profile(self) -> tuple[Statement, ...]:
        rows = self.engine.profile
        every = sum(row["seconds"] for row in rows)
        return tuple(
            Statement(
                os.path.relpath(row["file"], self.cycle.cwd),
                row["line"],
                row["end_line"],
                row["source"],
                row["count"],
                row["sampled"],
                row["seconds"],
                row["seconds"] / every if every else 0.0,
                row["bytes"],
            )
            for row in rows[: self.options.profile]
        )

    def _with_snapshots(self, report: Iteration) -> Iteration:
        kept = len(self.engine.snapshots)
        return report._replace(
            snapshots=kept,
            snapshot_bytes=self.engine.held_bytes() if kept and report.mode == "cold" else 0,
            gate=self._gate(),
            never=bool(self.engine.gate and not self.engine.gate[0]),
        )

    def _gate(self) -> str:
        return ": ".join(filter(None, self.engine.gate)) if self.engine.gate else ""

    # --- verifying ----------------------------------------------------------------------------

    def _verify_last(self, *, tell: bool = False) -> None:
        """Run it cold as well, unseen, and compare; it takes a while, so say so on demand."""
        last, done = self.last, self.done
        if last is None or done is None or done.ended.stopped:
            self.teller.note("there is no finished run to verify")
            return
        if tell:
            self.teller.note("running it cold as well, out of sight (Ctrl-C ends that)")
        ours = verify.Taken(done.outcome, done.output())
        colds: list[Done] = []
        for _ in range(2):  # a second one only if the first differs
            cold = self._run_plain(last.n)
            if cold is None:
                why = "it was interrupted"
                if self.maker.wants_terminal:
                    why = "it reads the terminal, and what was typed is not known (see --stdin)"
                self._verified(last._replace(difference=f"not verified: {why}"))
                return
            colds.append(cold)
            if not verify.differ(ours, verify.Taken(cold.outcome, cold.output())):
                break
        found = verify.compare(ours, [verify.Taken(c.outcome, c.output()) for c in colds])
        self.differed |= found.same is False
        self._verified(
            last._replace(
                verified=found.same,
                verify_seconds=colds[0].outcome.seconds,
                difference=found.difference,
                cold_attempts=tuple(c.number for c in colds if c.number is not None),
            )
        )

    def _verified(self, report: Iteration) -> None:
        self.last = report
        if not self.saved and not self.maker.told:
            self.open_desk()
        self.teller.verified(report)
        if self.saved:
            self.saves.accept()
            self._iterate(cold=False)

    def _run_plain(self, n: int) -> Done | None:
        self.saved = []
        attempt = Attempt(self.cycle, self.environ, {"loop": n, "mode": "verify"}, cold=True)
        try:
            compiled.forget_doubtful(self.saves.code, self.saves.prefix)
            with Hidden(self.options.targets, self.aside) as targets:
                witness = LoopWitness(self.maker)
                done = attempt.execute(self.maker.plain(), targets, [witness])
            attempt.record("stopped" if done.ended.stopped else "")
        finally:
            attempt.close()
        self.settle()
        return None if done.ended.stopped or done.ended.interrupted or self.maker.told else done
