"""Asking whether a payload still fails the same way: by several workers, nothing twice."""

from __future__ import annotations

import json
import os
import select

from zeroin.cycle import Kind, Outcome, Verdict
from zeroin.cycle.oracle import repeats_for
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.record import place
from zeroin.tools.folders import OwnFolder
from zeroin.tools.shrink.worker import Order, Tryer
from zeroin.tools.shrink.world import ARGS, ENV, World, name_of, outputs, words_of
from zeroin.tools.workers import Answer, Worker

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.axes.payload.group import Group
    from zeroin.cycle import Cycle
    from zeroin.cycle.oracle import Oracle, Rate
    from zeroin.cycle.signature import Signature
    from zeroin.run.apart import View

PREFIX = "zeroin-shrink-"
OTHERS = 20  # other failures of which an example is kept


class Other(NamedTuple):
    """A failure that is not the one looked for."""

    headline: str
    times: int
    example: str


class Tried(NamedTuple):
    """One try that is over."""

    name: str  # of the payload
    verdict: Verdict
    outcomes: tuple[Outcome, ...]
    resumed: bool = False


class GoneError(UntestableError):
    """The payload itself is not there any more."""


class Tries:
    """Workers, what they have found out, and where that is kept."""

    def __init__(
        self,
        world: World,
        cycle: Cycle,
        environ: Mapping[str, str],
        view: Callable[[str], View],
        kept: str,
    ) -> None:
        self.world = world
        self._cycle = cycle
        self._environ = environ
        self._view = view
        self._own = OwnFolder(PREFIX)
        self.folder = self._own.path
        self._workers: list[Worker] = []
        self._folders: dict[Worker, str] = {}  # where each one's payload is put
        self._busy: dict[int, _Task] = {}
        self.oracle: Oracle | None = None
        self.first: Signature | None = None  # of the baseline
        self.slipped = ""  # what else was taken for it, by a rule of the user's
        self.timeout: float | None = None
        self.warm = False
        self.cold_because = ""  # why tries are not resumed
        self.clues: tuple[tuple[str, ...], ...] = ()  # what a failing run has said
        self.used: set[str] = set()  # names of files that it has opened
        self.limits: list[str] = []  # under which the tries ran, with their back-ends
        self.known: dict[str, bool] = {}
        self.others: dict[str, Other] = {}
        self.count = 0
        self.resumed = 0
        self._kept = kept
        self._log: Any = None
        self._head = ""  # what it begins with

    # --- what was found out before ------------------------------------------------------------

    def remember(self, failure: str, state: Callable[[list[str]], str], *, fresh: bool) -> None:
        """Take over what an earlier search of the same failure has found out, and go on from it.

        `state` is that of the program's files without some: those that a search has written to.
        """
        path = os.path.join(self._kept, "tries.jsonl")
        told: list[dict[str, Any]] = []
        try:
            with open(path, encoding="utf-8", opener=place.open_unlinked) as file:
                told = [one for one in map(_loaded, file) if one]
        except OSError:
            pass  # the first search
        head: dict[str, Any] = next((one for one in reversed(told) if "failure" in one), {})
        written = sorted({*outputs(), *head.get("outputs", ())})
        failure = f"{failure} {state(written)}"
        is_same = head.get("failure") == failure and not fresh
        for one in told if is_same else ():
            if "same" in one:
                self.known[one["name"]] = bool(one["same"])
            if one.get("other"):
                self._met(one["other"], one.get("headline", ""), one.get("example", ""))
        self.resumed = len(self.known)
        self._head = json.dumps({"name": "", "failure": failure, "outputs": written}) + "\n"
        try:
            place.make(self._kept)
            self._log = open(  # noqa: SIM115
                *(path, "a" if is_same else "w", 1), encoding="utf-8", opener=place.open_unlinked
            )
            self._log.write(self._head)
        except OSError:
            self._log = None  # it can't be gone on with; nothing else is lost

    def forget(self) -> None:
        """What is known was found out in another way, and does not count any more."""
        self.known.clear()
        self.others.clear()
        if self._log is not None:
            self._log.seek(0)
            self._log.truncate()
            self._log.write(self._head)

    def _note(self, tried: Tried, other: str, headline: str, example: str) -> None:
        if self._log is None:
            return
        told = {"name": tried.name, "same": tried.verdict is Verdict.SAME}
        if other:
            told |= {"other": other, "headline": headline, "example": example}
        try:
            self._log.write(json.dumps(told) + "\n")
        except OSError:
            self._log = None  # a full disk: the search itself needs none

    # --- trying -------------------------------------------------------------------------------

    def free(self, jobs: int) -> int:
        """How many more can be tried at once."""
        return jobs - len(self._busy)

    def is_under_way(self, name: str) -> bool:
        """Whether a worker is at it."""
        return any(task.name == name for task in self._busy.values())

    def start(self, group: Group, name: str, *, judged: bool = True) -> None:
        """Let a worker try it, under the name of its content."""
        worker = self._idle()
        self.world.write(group, self._folders[worker])
        task = _Task(name, worker, self._order(group), self.oracle if judged else None)
        if os.path.isdir(self._kept) and len(self.others) < OTHERS:
            task.group = group
        self._busy[worker.socket.fileno()] = task
        worker.send(task.order)

    def _order(self, group: Group) -> Order:
        command, env = self._cycle.command, dict(self._cycle.env)
        for one in group.members:
            if one.name == ARGS:
                command = (command[0], *words_of(one))
            elif one.name == ENV:
                kept = dict(word.split("=", 1) for word in words_of(one))
                env = {**dict.fromkeys((*self._environ, *env)), **kept}
        full = self.oracle is None and not self.clues
        return Order(command, env, self.timeout, self.warm, full)

    def _idle(self) -> Worker:
        for worker in self._workers:
            if worker.socket.fileno() not in self._busy:
                return worker
        folder = os.path.join(self.folder, str(len(self._workers)))
        os.makedirs(folder, exist_ok=True)
        view = self._view(folder)
        worker = Worker(lambda: Tryer(self._cycle, self._environ, view), self._workers)
        self._folders[worker] = os.path.join(folder, "payload")
        self._workers.append(worker)
        return worker

    def wait(self, seconds: float | None = None) -> list[Tried]:
        """What is over since; a try that may miss is made again until it is believed."""
        ready, _, _ = select.select(list(self._busy), [], [], seconds)
        done = []
        for fd in ready:
            task = self._busy[fd]
            answer = task.worker.receive()
            if task.worker.is_lost:
                raise UntestableError(answer.error, hint="the same command goes on from here")
            gone = self.world.gone() if answer.outcome is None else ""
            if gone:
                raise GoneError(f"{gone} is gone: it was moved or removed meanwhile")
            if answer.outcome is None and task.oracle is None:
                raise UntestableError(answer.error, hint=answer.hint)
            task.outcomes.append(answer.outcome or _untested(answer.error))
            task.answer = answer
            self.cold_because = answer.reason
            if task.outcomes[-1].failed and not self.clues:
                self.clues, self.used = answer.clues, set(answer.used)
            self.limits = answer.about or self.limits
            tried = self._judged(task)
            if tried is None:
                task.worker.send(task.order)
            else:
                del self._busy[fd]
                done.append(tried)
        return done

    def _judged(self, task: _Task) -> Tried | None:
        self.count += 1
        oracle = task.oracle
        if oracle is None:
            return Tried(task.name, Verdict.SAME, tuple(task.outcomes), task.is_resumed)
        verdict = oracle.judge(task.outcomes[-1])
        if verdict is not Verdict.SAME and len(task.outcomes) < oracle.repeats:
            return None
        verdict = oracle.judge_all(task.outcomes)
        tried = Tried(task.name, verdict, tuple(task.outcomes), task.is_resumed)
        self.known[task.name] = verdict is Verdict.SAME
        if verdict is Verdict.SAME and not self.slipped:
            self.slipped = self._slip(task.outcomes[-1])
        other = headline = example = ""
        if verdict is Verdict.OTHER:
            last = next(o for o in reversed(task.outcomes) if o.kind is not Kind.PASSED)
            other, headline = str(last.signature or last.kind.value), last.headline
            example = self._example(task, other)
            self._met(other, headline, example)
        self._note(tried, other, headline, example)
        return tried

    def _slip(self, outcome: Outcome) -> str:
        """What it says, if it is not how the payload failed at first."""
        is_first = self.first is None or self.first.same(outcome.signature)
        return "" if is_first else outcome.headline

    def _met(self, signature: str, headline: str, example: str) -> None:
        before = self.others.get(signature, Other(headline, 0, example))
        self.others[signature] = before._replace(times=before.times + 1)

    def _example(self, task: _Task, signature: str) -> str:
        """Keep one payload of each other failure."""
        if signature in self.others or task.group is None:
            return ""
        folder = os.path.join(self._kept, "others", str(len(self.others) + 1))
        try:
            self.world.write(task.group, folder)
        except UntestableError:  # a full disk; the search goes on
            return ""
        return folder

    @property
    def is_repeated(self) -> bool:
        """Whether a miss is only believed after several."""
        return self.oracle is not None and self.oracle.repeats > 1

    def repeat(self, rate: Rate, confidence: float) -> None:
        """It fails only sometimes: from now on a miss has to be believed, and none so far was."""
        if self.oracle is not None:
            self.oracle = self.oracle._replace(repeats=repeats_for(rate.low, confidence))
            for task in self._busy.values():
                task.oracle = self.oracle
        self.known = {name: same for name, same in self.known.items() if same}

    def once(self, group: Group) -> Verdict:
        """Try one a single time, whatever is known of it."""
        tried = self.run(group, judged=False)
        return self.oracle.judge(tried.outcomes[-1]) if self.oracle is not None else Verdict.OTHER

    def is_shown_by(self, command: tuple[str, ...], group: Group) -> bool:
        """Whether another command fails the same way, where the payload is this one."""
        usual, self._cycle = self._cycle, self._cycle._replace(command=command)
        try:
            return self.once(group) is Verdict.SAME
        finally:
            self._cycle = usual

    def run(self, group: Group, *, judged: bool = True) -> Tried:
        """Try one, and wait for it. Others that are under way are judged as they were to be."""
        name = name_of(group)
        self.start(group, name, judged=judged)
        while True:
            for tried in self.wait():
                if tried.name == name:
                    return tried

    def stop(self) -> None:
        """End all tries that are under way."""
        busy = {task.worker for task in self._busy.values()}
        for worker in self._workers:
            if worker in busy:
                worker.kill()
            else:
                worker.close()
        self._workers.clear()
        self._busy.clear()

    def close(self) -> None:
        """Leave nothing behind."""
        self.stop()
        if self._log is not None:
            self._log.close()
        self._own.close()


def _loaded(line: str) -> dict[str, Any]:
    """Empty for what was cut off when its writer was killed."""
    try:
        told = json.loads(line)
    except ValueError:
        return {}
    return told if isinstance(told, dict) and "name" in told else {}


def _untested(error: str) -> Outcome:
    """A command that can't be started: arguments that were left out may make it so."""
    return Outcome(Kind.UNFINISHED, None, None, error)


class _Task:
    """What a worker is at."""

    def __init__(self, name: str, worker: Worker, order: Order, oracle: Oracle | None) -> None:
        self.name = name
        self.worker = worker
        self.order = order
        self.oracle = oracle  # None: how it ends is what is asked
        self.outcomes: list[Outcome] = []
        self.group: Group | None = None
        self.answer: Answer | None = None  # the last one

    @property
    def is_resumed(self) -> bool:
        """Whether the last run was."""
        return self.answer is not None and self.answer.resumed
