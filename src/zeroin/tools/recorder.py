"""Between a run and the store: what is written when, and what happens when it can't be.

A store that can't be written to never stops the command: there is one warning, and the run
goes on unrecorded.
"""

from __future__ import annotations

import os
import time

from zeroin.errors import StoreError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.run.trial import TrialPlan, describe_fault, run_trial
from zeroin.tools import config as configuration
from zeroin.tools.masking import Mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.record.code import Shadow
    from zeroin.record.place import Place
    from zeroin.record.store import Store
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.trial import Trial
    from zeroin.run.witness import Witness
    from zeroin.tools.compare import Difference
    from zeroin.tools.probes import Probed

SNAPSHOTS = 16  # of probes, that an attempt keeps

EVIDENCE = (
    "crashes",
    "stacks",
    "stuck",
    "faults",
    "peeks",
    "curve",
    "limits",
    "calls",
    "around",
    "probes",
    "snapshots",
)
LOG = "log"  # the file of log records, beside the output


class Story(NamedTuple):
    """How an attempt relates to those before it."""

    same_as: list[int]
    previous: int | None
    changed: Difference | None


class Replay(NamedTuple):
    """An old attempt's code, run in a folder that will vanish: recorded as if at home."""

    of: int
    place: Place
    cwd: str
    tree: str


class Recorder:
    """Records one attempt."""

    def __init__(
        self,
        cycle: Cycle,
        environ: Mapping[str, str],
        *,
        keep: bool,
        replay: Replay | None = None,
    ) -> None:
        self.cycle = cycle
        self.replay = replay
        self._environ = environ
        # What else the settings tell; what becomes known later is written at the end.
        self._also: dict[str, Any] = {"code_of": replay.of} if replay else {}
        self._warnings: list[str] = []
        self._lost: dict[str, str] = {}  # parts of the record that could not be kept, and why
        self.attempt: int | None = None
        self.is_under_way = False  # the command may have been started
        self.place: Place | None = None
        self.store: Store | None = None
        self.shadow: Shadow | None = None
        self.config = configuration.Config()
        # Secrets given for this run alone are secrets as well.
        own = {name: value for name, value in cycle.env.items() if value is not None}
        self._known = {**environ, **own}
        self._mask = Mask("", self._known)
        if keep:
            self._open(environ)

    def _open(self, environ: Mapping[str, str]) -> None:
        with _Faults(self):
            self.place = self.replay.place if self.replay else places.find(self.cycle.cwd, environ)
            self.config = configuration.load(self.place.root, environ, self.warn)
            from zeroin.record.store import Store

            self.store = Store(self.place.folder)
            self._mask = Mask(self.store.salt, self._known, self.config.secrets)
            if self.place.note:
                self.warn(f"{self.place.note}: recorded in {self.place.folder}", self.place.hint)
            elif not self.replay and self._is_elsewhere(environ):
                where = self.place.root or self.cycle.cwd
                self.warn(f"this attempt is in the record of {where}", f"to see it: cd {where}")

    def _is_elsewhere(self, environ: Mapping[str, str]) -> bool:
        """Whether a `zeroin show` typed here would look into another record (`run --cwd`)."""
        try:
            here = os.getcwd()
        except FileNotFoundError:  # removed meanwhile
            return False
        if here == self.cycle.cwd or self.place is None:
            return False
        return places.find(here, environ).folder != self.place.folder

    def give_up(self, error: StoreError) -> None:
        """From here on nothing is recorded; the command runs all the same."""
        if self.store is not None:
            self._tell_of_faults()
            self.store.close()
        self._lost.clear()  # one warning: without a record, no part of it is missing
        self.warn(f"this run is not recorded: {error.message}", error.hint)
        self.store = None
        self.attempt = None
        self.place = None

    def _tell_of_faults(self) -> None:
        """What was met in the record that is damaged."""
        if self.store is not None and self.place is not None:
            for fault in dict.fromkeys(self.store.faults):
                self.warn(f"the record in {self.place.folder}: {fault}")
            self.store.faults.clear()

    def warn(self, text: str, hint: str = "") -> None:
        """Say something once, at the end."""
        self._warnings.append(f"{text} ({hint})" if hint else text)

    def lose(self, what: str, reason: str) -> None:
        """A part of the record could not be kept."""
        if self.store is not None:
            self._lost[what] = reason

    @property
    def warnings(self) -> list[str]:
        """What to say at the end: all that was lost in one line."""
        self._tell_of_faults()
        lost = "; ".join(f"{what} ({reason})" for what, reason in self._lost.items())
        return [*self._warnings, *([f"not kept: {lost}"] if lost else [])]

    def note_settings(self, more: Mapping[str, Any]) -> None:
        """Let the settings of the attempt tell this as well."""
        self._also.update(more)

    # --- before -------------------------------------------------------------------------------

    def begin(self, env: Mapping[str, str]) -> None:
        """The row, before anything runs."""
        if self.store is None or self.place is None:
            return
        cycle = self.cycle
        with _Faults(self):
            self.attempt = self.store.begin(
                started=time.time(),
                command=self.command(),
                program=program_of(cycle.command),
                cycle=cycle.key(),
                cwd=self.replay.cwd if self.replay else cycle.cwd,
                root=self.place.root,
                settings=settings_of(cycle, self._mask) | self._also,
                environment=self.store.put(self._mask.environment(env)),
                driver=identity(os.getpid()),
            )

    def keep_code(self) -> None:
        """The shadow snapshot."""
        if self.store is None or self.place is None or not self.config.code:
            return
        with _Faults(self):
            from zeroin.record.code import CodeError, Shadow

            root = self.place.root or self.cycle.cwd
            self.shadow = Shadow(
                self.place.folder,
                root,
                max_file=self.config.code_max_file,
                include=self.config.include,
            )
            if self.replay:
                self.shadow.keep(str(self.attempt), self.replay.tree)
                self.store.update(self._number(), code=self.replay.tree)
                return
            try:
                # Outside of a project only the files named in the command are surely its code.
                paths = None if self.place.root else self._files_in_command()
                kept = self.shadow.snapshot(paths)
                self.shadow.keep(str(self.attempt), kept.tree)
                self.store.update(
                    self._number(),
                    code=kept.tree,
                    base_commit=self.shadow.base_commit(),
                    facts={"left_out": kept.left_out},
                )
            except (CodeError, OSError) as error:
                self.lose("the code", str(error))

    def _files_in_command(self) -> list[str]:
        found = [os.path.join(self.cycle.cwd, word) for word in self.cycle.command]
        inside = os.path.join(self.cycle.cwd, "")
        return [
            os.path.normpath(path)
            for path in found
            if os.path.isfile(path) and os.path.normpath(path).startswith(inside)
        ]

    def _number(self) -> int:
        return self.attempt or 0

    # --- during -------------------------------------------------------------------------------

    def output_folder(self) -> str:
        """Where this attempt's output goes."""
        if self.place is None or self.attempt is None:
            return ""
        return os.path.join(self.place.folder, "attempts", str(self.attempt))

    def log_file(self) -> str:
        """Where this attempt's log records go; "" if nothing is recorded."""
        folder = self.output_folder()
        return os.path.join(folder, LOG) if folder else ""

    def command(self) -> list[str]:
        """The command as it may be shown: without secrets."""
        return self._mask.command(self.cycle.command)

    def plan(
        self,
        environ: Mapping[str, str],
        targets: tuple[int, int],
        order: AgentOrder | None,
        mark: str = "",
    ) -> TrialPlan:
        """How the trial is run whose attempt this is: its output is kept here."""
        return TrialPlan(
            environ=environ,
            root=self.place.root if self.place else None,
            store_folder=self.place.folder if self.place else "",
            output_folder=self.output_folder(),
            output_head=self.config.output_max // 4,
            output_tail=self.config.output_max * 3 // 4,
            secrets=self._mask.values,
            targets=targets,
            order=order,
            mark=mark,
        )

    def run_trial(
        self,
        cycle: Cycle,
        launcher: Launcher,
        plan: TrialPlan,
        witnesses: Sequence[Witness] = (),
        *,
        keep_code: bool = True,
    ) -> Trial:
        """Run a trial, and note what of it could not be kept or shown; or that it never ran.

        The code is kept once the world is put back: a reset may have changed it.
        """
        self.is_under_way = True
        try:
            keep = self.keep_code if keep_code else None
            trial = run_trial(cycle, launcher, plan, witnesses, keep, self._close_for_room)
        except ZeroinError as error:
            self.abandon(error.message)
            raise
        self._learn_secrets(trial.learned_secrets)
        if trial.inbox_error is not None and plan.order is not None:
            reason = describe_fault(trial.inbox_error)
            self.warn(f"nothing is known of the inside of the program: {reason}")
        if trial.dropped:
            said = "a message to zeroin made no sense and was left out"
            if trial.dropped > 1:
                said = f"{trial.dropped:,} messages to zeroin made no sense and were left out"
            self.warn(
                f"{said}: the program itself writes to the socket beside the file that "
                "ZEROIN_AGENT names, or runs another zeroin"
            )
        if trial.output_error is not None:
            self.lose("the output", os.strerror(trial.output_error.errno or 0))
        if trial.ended.lost is not None:
            reason = os.strerror(trial.ended.lost.errno or 0).lower()
            self.warn(f"not all output could be shown: {reason}")
        return trial

    def _close_for_room(self) -> None:
        """What we hold open may be all that is in the way of the command."""
        self.give_up(StoreError("too few files may be open", hint="see: ulimit -n"))

    def _learn_secrets(self, values: Sequence[str]) -> None:
        """The output gave these away: nothing else that is kept may hold them."""
        self._mask.values += [one for one in values if one not in self._mask.values]

    # --- after --------------------------------------------------------------------------------

    def finish(self, outcome: Outcome, facts: dict[str, Any]) -> None:
        """Everything that became known, in one statement."""
        if self.store is None:
            return
        signature = outcome.signature
        evidence = {k: facts[k] for k in EVIDENCE if facts.get(k)}
        with _Faults(self):
            packages = installed(facts.get("path") or [])
            earlier = self.store.attempt(self._number())
            kept = dict(earlier.facts) if earlier else {}
            kept.update({k: facts[k] for k in ("python", "path", "modules", "run") if facts.get(k)})
            kept.update(self._code_elsewhere(facts.get("modules") or {}))
            self.store.update(
                self._number(),
                settings=settings_of(self.cycle, self._mask) | self._also,
                facts=kept,
                packages=self.store.put(packages) if packages else None,
                evidence=self.store.put(self._mask.deep(evidence)),
                outcome=outcome.kind.value,
                exit_code=outcome.exit_code,
                loose=signature.loose if signature else None,
                signature=self._mask.text(signature.normal) if signature else None,
                strict=self._mask.text(signature.strict) if signature else None,
                headline=self._mask.text(outcome.headline),
                seconds=outcome.seconds,
                cpu_seconds=outcome.cpu_seconds,
                peak_bytes=outcome.peak_bytes,
            )
            self._collect_garbage()

    def abandon(self, reason: str) -> None:
        """It never ran: say so in the row."""
        if self.store is not None and self.attempt is not None:
            with _Faults(self):
                self.store.update(self._number(), outcome="unfinished", headline=reason)

    def _code_elsewhere(self, modules: Mapping[str, str]) -> dict[str, Any]:
        """Packages installed in editable mode that the program used: their code as well."""
        if self.place is None or self.place.root is None or self.shadow is None or self.replay:
            return {}
        from zeroin.record.code import CodeError, Shadow

        inside = os.path.join(self.place.root, "")
        home = os.path.expanduser("~")
        outside = {os.path.dirname(f) for f in modules.values() if not f.startswith(inside)}
        roots = {root for folder in outside if (root := places.find_root(folder, home))}
        found: dict[str, str] = {}
        for root in sorted(roots)[:5]:
            shadow = Shadow(
                os.path.join(self.place.folder, "elsewhere", places.name_of(root)), root
            )
            try:
                found[root] = shadow.snapshot(timeout=1.0).tree
                shadow.keep(str(self.attempt), found[root])
            except (CodeError, OSError):
                continue  # "when cheap"
        return {"code_elsewhere": found} if found else {}

    def _collect_garbage(self) -> None:
        """Once in a while, keep the record below its bound, and drop those of folders gone."""
        is_new = self._number() == 1 and self.place is not None and self.place.root is None
        if self.store is None or (self._number() % 50 and not is_new):
            return
        from zeroin.record.code import CodeError
        from zeroin.tools import gc

        if is_new:
            gc.drop_gone_records(self._environ)
            return
        try:
            gc.collect(self.store, self.shadow, self.config.store_max)
        except (CodeError, OSError) as error:
            self.warn(f"the record could not be made smaller: {error}", "see: zeroin gc")

    def story(self, outcome: Outcome) -> Story | None:
        """Place this attempt among the earlier ones."""
        if self.store is None or self.attempt is None:
            return None
        from zeroin.tools.compare import compare

        with _Faults(self):
            attempt = self.store.attempt(self.attempt)
            if attempt is None:
                return None
            same = self.store.same_failure(attempt.signature or "", attempt.id)
            previous = self.store.previous(attempt)
            changed = compare(self.store, self.shadow, previous, attempt) if previous else None
            return Story(same if outcome.failed else [], previous.id if previous else None, changed)
        return None

    def close(self) -> None:
        """Let go of the store."""
        if self.store is not None:
            self.store.close()


def list_facts(trial: Trial, probes: Sequence[Probed] = ()) -> dict[str, Any]:
    """What the record keeps of a trial beside its outcome."""
    ended = trial.ended
    known = [m for m in trial.messages if m["kind"] not in ("test", "full")]
    told = [m for m in known if m["pid"] == ended.pid] or known
    about = told[-1] if told else {}
    pids = dict.fromkeys([ended.pid, *(message["pid"] for message in trial.messages)])
    below = {
        path
        for message in trial.messages
        if message["pid"] != ended.pid
        for path in (message.get("modules") or {}).values()
    }
    return {
        "python": about.get("python"),
        "path": about.get("path"),
        "modules": about.get("modules"),
        "modules_below": sorted(below),
        "crashes": [m for m in trial.messages if m["kind"] == "crash"][:8],
        "stacks": [
            *(stack.told() for stack in ended.stacks),
            *(stack for one in ended.limits for stack in one.stacks),
        ],
        "stuck": ended.stuck,
        "limits": [{**one._asdict(), "stacks": []} for one in ended.limits],
        "faults": trial.faults,
        "peeks": trial.peeks,
        "curve": ended.curve,
        "calls": list(ended.calls),
        "probes": [one._asdict() for one in probes],
        "snapshots": [m for m in trial.messages if m["kind"] == "snapshot"][:SNAPSHOTS],
        "around": {**trial.around, "status": ended.status, "pids": list(pids)[:50]},
    }


class _Faults:
    """Whatever fails in the record while this is entered is a warning, and ends the recording.

    The command is what the user wants, and no state of the record is a reason not to run it.
    """

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception):
            return False
        if not isinstance(error, StoreError):
            told = error.strerror if isinstance(error, OSError) else None
            error = StoreError(told or f"{type(error).__name__}: {error}")
        self._recorder.give_up(error)
        return True


def program_of(command: tuple[str, ...]) -> str:
    """What is run, without its arguments: `python train.py`, `pytest`, `make test`."""
    words = [os.path.basename(command[0])]
    rest = iter(command[1:])
    for word in rest:
        if word == "-m":
            words += ["-m", next(rest, "")]
            if words[-1] == "pytest":  # one test is a program of its own
                words += [word for word in rest if "::" in word][:1]
            break
        if not word.startswith("-"):
            words.append(word)
            break
    return " ".join(words)


def settings_of(cycle: Cycle, mask: Mask) -> dict[str, Any]:
    """The options that make the cycle what it is; only those that were given."""
    env = {
        name: None if value is None else mask.environment({name: value})[name]
        for name, value in cycle.env.items()
    }
    every = {
        "env": env,
        "reset": [mask.text(line) for line in cycle.reset],
        "restore": list(cycle.restore),
        "timeout": cycle.timeout,
        "seed": cycle.seed,
        "sync": cycle.sync,
        "limit": list(cycle.limits),
        "at": [mask.text(one) for one in cycle.at],
    }
    return {name: value for name, value in every.items() if value not in ({}, [], None, False)}


def identity(pid: int) -> str:
    """A process, told apart from a later one with the same number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            started = file.read().rpartition(b")")[2].split()[19].decode()
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(8).decode()
    except (OSError, IndexError):
        return str(pid)
    return f"{pid}:{started}:{boot}"


def installed(path: list[str]) -> dict[str, str]:
    """Packages and versions, from the names of the dist-info folders: 0.2 ms, no pip."""
    found: dict[str, str] = {}
    for folder in path:
        try:
            names = os.listdir(folder)
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                package, _, version = name.rpartition(".")[0].partition("-")
                found.setdefault(package.lower().replace("_", "-"), version.partition("-py")[0])
    return found
