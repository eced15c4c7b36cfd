"""Between a run and the store: what is written when, and what happens when it can't be.

A store that can't be written to never stops the command: there is one warning, and the run
goes on unrecorded.
"""

from __future__ import annotations

import os
import time

from zeroin.digest import digest
from zeroin.errors import StoreError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.tools import config as configuration
from zeroin.tools.masking import Mask

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.record.code import Shadow
    from zeroin.record.place import Place
    from zeroin.record.store import Store
    from zeroin.tools.compare import Difference


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
        # What else the settings tell; what becomes known later is written at the end.
        self.also: dict[str, Any] = {"code_of": replay.of} if replay else {}
        self._warnings: list[str] = []
        self._lost: dict[str, str] = {}  # parts of the record that could not be kept, and why
        self.attempt: int | None = None
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
        self.place = self.replay.place if self.replay else places.find(self.cycle.cwd, environ)
        self.config = configuration.load(self.place.root, environ)
        try:
            from zeroin.record.store import Store

            self.store = Store(self.place.folder)
            self._mask = Mask(self.store.salt, self._known, self.config.secrets)
            if self.place.note:
                self.warn(f"{self.place.note}: recorded in {self.place.folder}")
        except StoreError as error:
            self._give_up(error)

    def _give_up(self, error: StoreError) -> None:
        self._lost.clear()  # one warning: without a record, no part of it is missing
        self.warn(f"this run is not recorded: {error.message}", error.hint)
        self.store = None
        self.attempt = None
        self.place = None

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
        lost = "; ".join(f"{what} ({reason})" for what, reason in self._lost.items())
        return [*self._warnings, *([f"not kept: {lost}"] if lost else [])]

    # --- before -------------------------------------------------------------------------------

    def begin(self, env: Mapping[str, str]) -> None:
        """The row, before anything runs."""
        if self.store is None or self.place is None:
            return
        cycle = self.cycle
        try:
            self.attempt = self.store.begin(
                started=time.time(),
                command=self.command(),
                program=program_of(cycle.command),
                cycle=cycle.key(),
                cwd=self.replay.cwd if self.replay else cycle.cwd,
                root=self.place.root,
                settings=settings_of(cycle, self._mask) | self.also,
                environment=self.store.put(self._mask.environment(env)),
                driver=identity(os.getpid()),
            )
        except StoreError as error:
            self._give_up(error)

    def keep_code(self) -> None:
        """The shadow snapshot."""
        if self.store is None or self.place is None or not self.config.code:
            return
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
        except StoreError as error:
            self._give_up(error)

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

    def output_limits(self) -> dict[str, int]:
        """How much of the output is kept."""
        return {"head": self.config.output_max // 4, "tail": self.config.output_max * 3 // 4}

    def command(self) -> list[str]:
        """The command as it may be shown: without secrets."""
        return self._mask.command(self.cycle.command)

    def secret_values(self) -> list[str]:
        """What must not reach the disk."""
        return self._mask.values

    def restore_folder(self, path: str) -> str:
        """Where the first state of a path of this cycle is kept."""
        if self.place is None:
            raise StoreError("there is no record")
        return os.path.join(self.place.folder, "restore", f"{self.cycle.key()}-{digest(path)}")

    # --- after --------------------------------------------------------------------------------

    def finish(self, outcome: Outcome, facts: dict[str, Any]) -> None:
        """Everything that became known, in one statement."""
        if self.store is None:
            return
        signature = outcome.signature
        evidence = {k: facts[k] for k in EVIDENCE if facts.get(k)}
        try:
            packages = installed(facts.get("path") or [])
            earlier = self.store.attempt(self._number())
            kept = dict(earlier.facts) if earlier else {}
            kept.update({k: facts[k] for k in ("python", "path", "modules", "run") if facts.get(k)})
            kept.update(self._code_elsewhere(facts.get("modules") or {}))
            self.store.update(
                self._number(),
                settings=settings_of(self.cycle, self._mask) | self.also,
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
        except StoreError as error:
            self._give_up(error)

    def abandon(self, reason: str) -> None:
        """It never ran: say so in the row."""
        if self.store is not None and self.attempt is not None:
            try:
                self.store.update(self._number(), outcome="unfinished", headline=reason)
            except StoreError as error:
                self._give_up(error)

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
        """Once in a while, keep the record below its bound."""
        if self.store is None or self._number() % 50:
            return
        from zeroin.tools import gc

        gc.collect(self.store, self.shadow, self.config.store_max)

    def story(self, outcome: Outcome) -> Story | None:
        """Place this attempt among the earlier ones."""
        if self.store is None or self.attempt is None:
            return None
        from zeroin.tools.compare import compare

        try:
            attempt = self.store.attempt(self.attempt)
            if attempt is None:
                return None
            same = self.store.same_failure(attempt.signature or "", attempt.id)
            previous = self.store.previous(attempt)
            changed = compare(self.store, self.shadow, previous, attempt) if previous else None
        except StoreError as error:
            self._give_up(error)
            return None
        return Story(same if outcome.failed else [], previous.id if previous else None, changed)

    def close(self) -> None:
        """Let go of the store."""
        if self.store is not None:
            self.store.close()


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
