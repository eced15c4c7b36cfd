"""What a worker does with two attempts: some of their changes, run in the place of the project."""

from __future__ import annotations

import glob
import os

from zeroin.axes.changes.choice import read
from zeroin.axes.changes.folder import Folder
from zeroin.axes.commits.worktree import Mine
from zeroin.errors import ZeroinError
from zeroin.run import copies
from zeroin.run.apart import View
from zeroin.search.ranges import members
from zeroin.tools.again import path_into
from zeroin.tools.bisect.packages import told
from zeroin.tools.bisect.viewed import Viewed
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import TrialOrder
    from zeroin.tools.bisect.states import States

NEVER = frozenset(("__pycache__", ".zeroin"))
MOST_LEFT_OUT = 200  # files of one kind that a snapshot left out


class Mixer:
    """In the process of a worker: some of the changes, run in the place of the project."""

    def __init__(
        self, states: States, given: Cycle, mine: Sequence[Mine], own: str, *, apart: bool
    ) -> None:
        self._states = states
        self._given = given  # what holds for all tries
        self._apart = apart
        tree = os.path.join(own, "tree")
        self._folder = Folder(tree, states.root, mine, states.fill, linked=not apart)
        self._scratch = os.path.join(own, "scratch")
        os.makedirs(self._scratch, exist_ok=True)
        self._own = own
        self._viewed = Viewed()
        self._packages: frozenset[int] | None = None  # of the last try

    def tried(self, trial: TrialOrder) -> Answer:
        """Run it with these changes."""
        states, made = self._states, set(members(read(trial.name)))
        cycle, env = states.cycle(made)
        cycle = _with_given(cycle, self._given)._replace(timeout=trial.timeout)
        composed = None
        try:
            self._folder.be(states.files(made))
            if states.installed is not None:
                packages = states.packages_of(made)
                cycle, composed = states.installed.inside(cycle, env, packages, self._own)
                if packages != self._packages:  # what was imported is of another environment
                    self._viewed.close()
                    self._packages = packages
            root, view = states.root, None
            if self._apart:
                folder, shown = self._folder.folder, self._folder.shown
                view = View(root, self._scratch, tree=folder, mine=shown)
            else:
                cycle = copies.led(cycle, {root: self._folder.folder})
                env = path_into(self._folder.folder, states.good.attempt, root, env)
            outcome = self._viewed.run(cycle, env, view, bound=trial.bound).outcome
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        outcome = told(outcome, composed) if composed is not None else outcome
        return Answer(outcome, resumed=self._viewed.pace.resumed, pace=self._viewed.pace)

    def close(self) -> None:
        """End what is kept."""
        self._viewed.close()


def _with_given(cycle: Cycle, given: Cycle) -> Cycle:
    """An attempt's own settings, and those of this search, which hold for all tries."""
    return cycle._replace(
        env=given.env,
        reset=(*given.reset, *(one for one in cycle.reset if one not in given.reset)),
        seed=cycle.seed if given.seed is None else given.seed,
        sync=cycle.sync or given.sync,
        limits=given.limits or cycle.limits,
    )


def belongings(states: States, *, with_git: bool) -> list[Mine]:
    """What is in the project and in no snapshot: data, environments, git's own."""
    root = states.root
    if states.good.attempt.root is None:
        return _beside(root, states.good.attempt.cwd, states)
    found = [*([".git"] if with_git else []), *states.ignored()]
    for entry in states.left_out:
        name = entry.rpartition(" (")[0]
        if "*" in name:
            folder, last = os.path.split(name)
            pattern = os.path.join(glob.escape(os.path.join(root, folder)), last)
            names = sorted(glob.glob(pattern))[:MOST_LEFT_OUT]
            found += [os.path.relpath(one, root) for one in names]
        else:
            found.append(name)
    kept = [path for path in dict.fromkeys(found) if not NEVER & set(path.split("/"))]
    return [Mine(path) for path in kept if not path.endswith((".pyc", ".pyo"))]


def _beside(root: str, cwd: str, states: States) -> list[Mine]:
    """Outside of projects only files that the command names are kept: the rest is as it is."""
    kept = {*states.code.old, *states.code.new}
    above = {os.path.dirname(path) for path in kept}
    found = []
    for folder in {"", *above}:
        for name in os.listdir(os.path.join(root or cwd, folder)):
            path = os.path.join(folder, name)
            if path not in kept and path not in above:
                found.append(Mine(path))
    return found
