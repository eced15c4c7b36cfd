"""What a worker does with packages: compose an environment of them, run the command there."""

from __future__ import annotations

import json
import os
import re

from zeroin.errors import UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import interpreter
from zeroin.run.apart import View, can_be_apart
from zeroin.run.composed import Composed, compose, keep_bytecode
from zeroin.run.dists import installed
from zeroin.run.environment import users
from zeroin.run.launch import pick_launcher
from zeroin.run.uv import normal
from zeroin.tools.search.quiet_trial import BRIEF, run_quiet_trial
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from zeroin.cycle import Cycle, Outcome
    from zeroin.run.composed import Part
    from zeroin.run.interpreter import Python
    from zeroin.run.trial import Trial
    from zeroin.tools.bisect.report import TrialOrder

MOST_NAMES = 3000  # modules that the agent is asked about
SEEN = "seen"


class Mix(NamedTuple):
    """An environment: of what it is composed, and which packages of it are in question."""

    parts: Sequence[Part]
    asked: Sequence[str]  # names of packages
    strict: bool = False  # only modules that are called like their package must come from it


class Rig(NamedTuple):
    """What all workers share."""

    folder: str  # of ours
    python: Python
    cycle: Cycle
    environ: Mapping[str, str]
    store: str  # the folder of releases
    root: str  # what a try changes below this is its own
    mix: Callable[[str], Mix]  # for the name of a candidate
    apart: bool = True  # there are namespaces


class Packages:
    """In the process of a worker."""

    def __init__(self, rig: Rig, slot: int) -> None:
        self._rig = rig
        self._own = os.path.join(rig.folder, str(slot))
        self._scratch = os.path.join(self._own, "scratch")
        os.makedirs(self._scratch, exist_ok=True)

    def tried(self, trial: TrialOrder) -> Answer:
        """Run it with these packages."""
        try:
            mix = self._rig.mix(trial.name)
            made = compose(os.path.join(self._own, "env"), self._rig.python, mix.parts)
            owners = _modules(made, mix.asked)
            seen = self._run(trial, made, list(owners))
            self._check(seen, made, owners if mix.strict else {})
            self._note(trial.name, seen, made, owners)
            keep_bytecode(made, self._rig.store)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        except OSError as error:
            return Answer(None, f"an environment can't be made in {self._own}: {error.strerror}")
        return Answer(told(seen.outcome, made))

    def _run(self, order: TrialOrder, made: Composed, names: list[str]) -> Trial:
        rig = self._rig
        cycle = inside(rig.cycle, made, rig.python, rig.environ)
        cycle = cycle._replace(timeout=order.timeout)
        asked = BRIEF._replace(where=tuple(names[:MOST_NAMES]))
        return run_quiet_trial(cycle, pick_launcher(cycle, self._view()), rig.environ, asked)

    def _view(self) -> View:
        rig = self._rig
        view = view_of(rig.root, self._scratch)._replace(copied=not rig.apart)
        return view._replace(as_is=(self._own,)) if _is_below(self._own, rig.root) else view

    def _check(self, seen: Trial, made: Composed, owners: Mapping[str, str]) -> None:
        """Was it what we have put there that was imported?"""
        for name, path in _where(seen):
            if owners and normal(name) != owners.get(name):
                continue  # a name that anybody may give to a module of their own
            if not path.startswith(os.path.join(made.site, "")):
                hint = "take that out of PYTHONPATH, or run from another folder with --cwd"
                if "/site-packages/" in path:
                    hint = "let the command start python without a path: that of the try is first"
                raise UntestableError(
                    f"{name} was imported from {path}, and not from the release that was tried",
                    hint=hint,
                )

    def _note(self, name: str, seen: Trial, made: Composed, owners: Mapping[str, str]) -> None:
        """Which packages it has loaded, and which its tracebacks go through."""
        loaded = {owners[module] for module, _ in _where(seen) if module in owners}
        inside = re.compile(re.escape(os.path.join(made.site, "")) + r"(\w+)")
        found = inside.findall(json.dumps([one.get("crash") or one for one in seen.messages]))
        shown = {owners[module] for module in found if module in owners}
        folder = os.path.join(self._rig.folder, SEEN)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump({"loaded": sorted(loaded), "shown": sorted(shown)}, file)

    def close(self) -> None:
        """Nothing is kept."""


def inside(cycle: Cycle, made: Composed, python: Python, environ: Mapping[str, str]) -> Cycle:
    """The same cycle with another environment for the one that it would use."""
    env = users(cycle, environ)
    # The environment that the command names may be another one than that which is varied.
    own = interpreter.named(cycle.command, cycle.cwd, env)
    programs = {python.scripts, *(os.path.dirname(one) for one in (python.executable, own) if one)}
    command = tuple(made.led(word, cycle.cwd, programs) for word in cycle.command)
    return cycle._replace(command=command, env={**cycle.env, **made.variables(env)})


def told(outcome: Outcome, made: Composed) -> Outcome:
    """Without our folders: where those are is of no interest to anybody."""
    return outcome._replace(headline=outcome.headline.replace(f"{made.site}/", ""))


def view_of(root: str, scratch: str) -> View:
    """What a try sees: all, but what it changes below the root is its own."""
    return View("" if root == "/" else root, scratch)


def cannot_be_apart(folder: str, root: str) -> str:
    """Why tries can't be kept apart; "" if they can."""
    scratch = os.path.join(folder, "probe")
    os.makedirs(scratch, exist_ok=True)
    return can_be_apart(view_of(root, scratch))


def _modules(made: Composed, asked: Sequence[str]) -> dict[str, str]:
    """Modules of packages, and whose they are."""
    here = installed([made.site])
    return {name: one for one in asked if one in here for name in here[one].modules()}


def noted(folder: str, name: str) -> dict[str, list[str]]:
    """What a try has left: packages that it has loaded, and those of its tracebacks."""
    try:
        with open(os.path.join(folder, SEEN, name), encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError):
        return {}


def _where(seen: Trial) -> Iterator[tuple[str, str]]:
    for message in seen.messages:
        yield from (message.get("where") or {}).items()


def _is_below(path: str, root: str) -> bool:
    return path.startswith(os.path.join(root, ""))
