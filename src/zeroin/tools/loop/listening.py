"""What the loop hears while it waits and while the program runs: saves, orders, signals."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections import deque

from zeroin.run.watch import Watch
from zeroin.tools.loop.attempt import named, used
from zeroin.tools.loop.making import Maker
from zeroin.tools.loop.saves import Saves
from zeroin.tools.loop.signals import ENDING, Signals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.tools.loop.attempt import Done
    from zeroin.tools.loop.report import Desk, LoopOptions, Order, Teller

TOO_OFTEN = 3  # runs in a row that one and the same file stopped: the program writes it itself
# The temporary folders of all runs of pytest are in one, and each run looks at the others'.
OF_ALL_PYTESTS = re.compile(r"/pytest-of-[^/]+(/pytest-(\d+|current)(/\.lock)?|/garbage-.*)?$")
LOOK = 0.25  # seconds between two looks at what a running program has used so far


class Listening:
    """Everything is heard through the engine's `aside`, which runs serve as well."""

    def __init__(self, cycle: Cycle, options: LoopOptions, desk: Desk, teller: Teller) -> None:
        self.cycle = cycle
        self.options = options
        self.desk = desk
        self.teller = teller
        self.signals = Signals()
        self.maker = Maker(cycle, options)
        self.engine = self.maker.engine
        self.aside = self.maker.aside
        self.watch = Watch()
        self.saves = Saves(self.watch)
        self.aside.add(self.signals.fileno(), self._signalled)
        self.aside.add(self.watch.fileno(), self._touched)
        self.orders: deque[Order] = deque()
        self._heard = -1  # the desk's descriptor, while it is listened to
        self.began = 0  # when the last run did
        self.saved: list[str] = []  # what stopped the run that goes on
        self.own: set[str] = set()  # what the program writes itself while it runs
        self.given: set[str] = set()  # data that a whole run has read and not written
        self.beside: set[str] = set()  # what stands in the command, and the program did not use
        self._made: set[str] = set()  # what stands in the command, and the program writes
        self._stops: dict[str, int] = {}

    def close(self) -> None:
        """The terminal first: the rest may take a moment."""
        self.close_desk()
        self.engine.close()
        self.watch.close()
        self.signals.close()

    # --- signals ------------------------------------------------------------------------------

    def _signalled(self) -> None:
        """While we wait, this only wakes us; one that came just before a run is for that run."""
        self.signals.read()
        run = self.aside.run
        if run is None:
            return
        taken, self.signals.taken = self.signals.taken, []
        for number in taken:
            if number == signal.SIGINT:
                run.interrupt()
            elif number in (signal.SIGTERM, signal.SIGHUP):
                self.maker.told = number
                run.stop()

    def take_signals(self) -> list[int]:
        """Those that came; one that stops us is obeyed here."""
        taken, self.signals.taken = self.signals.taken, []
        if signal.SIGTSTP in taken:
            self.close_desk()
            self.signals.stop()
            self.open_desk(after_run=False)
            self.teller.waiting()
        elif signal.SIGCONT in taken:  # perhaps we are in the foreground now
            self.close_desk()
            self.open_desk(after_run=False)
        return taken

    def is_over(self) -> bool:
        """Whether a signal that ends us waits to be obeyed."""
        return any(number in ENDING for number in self.signals.taken)

    def open_desk(self, *, after_run: bool = True) -> None:
        """Take orders from now on."""
        self.desk.open(after_run=after_run)
        self.signals.mind_stops(mind=True)
        if self._heard >= 0:
            return
        self._heard = self.desk.fileno()
        if self._heard >= 0:
            self.aside.add(self._heard, self._read_desk)
        else:
            self._read_desk()

    def close_desk(self) -> None:
        """The terminal is the program's."""
        self._let_go_of_desk()
        self.desk.close()
        self.signals.mind_stops(mind=False)

    def _read_desk(self) -> None:
        self.orders.extend(self.desk.read())
        if self.desk.fileno() < 0:  # what has ended could be read for ever
            self._let_go_of_desk()

    def _let_go_of_desk(self) -> None:
        if self._heard >= 0:
            self.aside.remove(self._heard)
            self._heard = -1

    def _touched(self) -> None:
        """Somebody wrote; while the program runs, only what it does not write itself counts."""
        touched = self.watch.read()
        if self.aside.run is None:
            self.saves.touch(touched)
        else:
            self.saves.touch(touched & (self.saves.code | self.given) - self.own)
            self._stop_if_saved()

    def _stop_if_saved(self) -> None:
        run = self.aside.run
        if run is None or run.stopped:
            return
        self.saved = self.saves.decided()
        if self.saved:
            run.stop()
        elif (due := self.saves.due()) is not None:
            self.aside.later(due, self._stop_if_saved)

    def look(self) -> None:
        """A long run has used files already: a save of one of them stops it."""
        if self.aside.run is None:
            return
        code = {path for path in self.engine.used if path.endswith(".py")}
        if not code <= self.watch.files:  # other files would not stop it anyway
            self.saves.follow(self.watch.files | code, self.saves.code | code, self.began)
            self._stop_if_saved()
        self.aside.later(LOOK, self.look)

    # --- which files --------------------------------------------------------------------------

    def follow(self, done: Done) -> None:
        """Watch what it used, and nothing more; what it wrote while it ran was no save."""
        if done.ended.stopped:
            return
        files, code = used(done.facts, self.cycle)
        if self.engine.used:  # it tells of all but what it wrote itself
            new = code - self.engine.used - self.watch.files
            made = {path for path in new if _is_since(path, self.began)}
            files, code = files - made, code - made
        # Where modules are looked for is listed by every import, and says nothing.
        files |= {path for path in self.engine.used if not OF_ALL_PYTESTS.search(path)}.difference(
            done.facts.get("path") or ()
        )
        python = done.facts.get("python")
        if python:
            self.saves.python = python.get("executable") or ""
            version = [int(part) for part in python["version"].split(".")[:2]]
            self.saves.newer = version > list(sys.version_info[:2])
        beside = named(self.cycle, self.engine.through) - files
        if python:
            self._made.update(path for path in beside if _is_since(path, self.began))
            beside -= self._made
        files |= beside
        self.beside = beside if python else set()
        code |= {path for path in self.engine.used if path.endswith(".py")}
        self.saves.follow(files, code & files, self.began)
        data = self.engine.used.intersection(files) - code
        self.given = {path for path in data if not os.path.isdir(path)}
        self.settle()

    def settle(self) -> None:
        """What the program wrote while it ran was saved by nobody."""
        self.saves.settle([*(self.watch.files - self.saves.code - self.given), *self.own])

    def note_own(self) -> None:
        """A file that changes in each run is written by the program: it can't stop a run."""
        self._stops = {path: self._stops.get(path, 0) + 1 for path in self.saved}
        for path, times in self._stops.items():
            if times >= TOO_OFTEN:
                self.own.add(path)
                name = os.path.relpath(path, self.cycle.cwd)
                self.teller.note(
                    f"{name} changes in each run: while the program runs it is not watched"
                )


def _is_since(path: str, began: int) -> bool:
    try:
        return os.stat(path).st_mtime_ns >= began
    except OSError:
        return False
