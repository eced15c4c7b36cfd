"""Which runs of cells the session's values come from, and which of them are out of date.

Each value has a *version*: a hash of the statement that gave it and of the versions that the
statement used. So a cell that is run again unchanged gives the same versions, a comment makes
no difference, and an edit changes just what depends on it. A cell is *stale* when a cell it
took a name from gives another version of that name by now.
"""

from __future__ import annotations

import hashlib
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from . import flow

OWN = "what the cell itself had left"


class Value:
    """Where a name comes from."""

    __slots__ = ("deferred", "run", "version")

    def __init__(self, version: str, run: Run, deferred: frozenset[str]) -> None:
        self.version = version
        self.run = run
        self.deferred = deferred  # names that a function needs when it is called


class Run:
    """One execution of a cell."""

    __slots__ = (
        *("code", "error", "failed", "inputs", "key", "number", "outputs", "printed", "result"),
        *("runs_on_itself", "source", "when"),
    )

    def __init__(self, key: str, number: int, source: str) -> None:
        self.key = key
        self.number = number
        self.source = source
        self.code = ""  # a hash of what is run: without comments and blank lines
        self.when = time.time()
        self.inputs: dict[str, Value] = {}  # names from other runs, as they were
        self.outputs: dict[str, Value] = {}  # names as this run left them
        self.runs_on_itself: set[str] = set()
        self.failed = False
        self.error = ""  # its type
        self.printed = ""
        self.result: str | None = None


class Stale:
    """Why the last run of a cell is not what a fresh one gives."""

    __slots__ = ("name", "now", "provider", "reason", "run")

    def __init__(self, run: Run, name: str, provider: Run, now: Run | None, reason: str) -> None:
        self.run = run
        self.name = name
        self.provider = provider
        self.now = now  # the provider's last run
        self.reason = reason


class History:
    """All runs of a session; and of the one before it was emptied, what is to run again."""

    def __init__(self, again: list[Run] | None = None) -> None:
        self.values: dict[str, Value] = {}
        self.last: dict[str, Run] = {}  # by cell
        self.runs: list[Run] = []
        self.left = {run.key: run for run in again or []}  # not run again yet
        self.order = list(self.left)  # of cells, as they were run first

    def add(
        self,
        run: Run,
        statements: list[flow.Statement] | None,
        changed: set[str],
        known: Any,
        upto: int | None = None,
    ) -> None:
        """A cell has run: `changed` names are bound to other objects now than before.

        `known` tells whether a name is the session's and no module, whose settings are nobody's
        result; of a cell that failed, only the statements that end before line `upto` count.
        """
        run.code = _hash(*([one.text for one in statements] if statements else [run.source]))
        given: set[str] = set()
        for one in statements or []:
            if upto is not None and one.last >= upto:
                self._use(run, one, known)
                break
            given |= self._follow(run, one, known)
        for name in changed - given:  # by a magic, `exec`, a star import, a function's `global`
            self._give(run, name, _hash(run.source, name), frozenset())
        if run.key not in self.last and self.left.pop(run.key, None) is None:
            self.order.append(run.key)
        self.last[run.key] = run
        self.runs.append(run)

    def _follow(self, run: Run, one: flow.Statement, known: Any) -> set[str]:
        used = self._use(run, one, known)
        version = _hash(one.text, *(f"{name}={used[name]}" for name in sorted(used)))
        for name, part in one.gives.items():
            if name in one.changes and not known(name):
                continue
            own = version if part == one.text else _hash(part)
            self._give(run, name, own, frozenset(one.deferred.get(name, ())))
        return set(one.gives)

    def _give(self, run: Run, name: str, version: str, deferred: frozenset[str]) -> None:
        self.values[name] = run.outputs[name] = Value(version, run, deferred)

    def _use(self, run: Run, one: flow.Statement, known: Any) -> dict[str, str]:
        """The versions of all that a statement uses, through functions as well."""
        used: dict[str, str] = {}
        wanted = list(one.uses)
        while wanted:
            name = wanted.pop()
            value = self.values.get(name)
            if name in used or value is None or not known(name):
                continue
            used[name] = self._version(run, one, name, value)
            if value.run is not run:
                run.inputs.setdefault(name, value)
            wanted += value.deferred
        return used

    def _version(self, run: Run, one: flow.Statement, name: str, value: Value) -> str:
        """As seen from here: what the cell's own last run left counts as what that one had."""
        if value.run is run or value.run.key != run.key:
            return value.version
        if name in one.accumulates and value.run.code and name in value.run.outputs:
            run.runs_on_itself.add(name)
            return value.version
        before = value.run.inputs.get(name)
        return before.version if before is not None else OWN

    # --- what is out of date ------------------------------------------------------------------

    def stale(self) -> list[Stale]:
        """Every cell that took a name from a cell which gives another by now."""
        found = []
        for run in self.last.values():
            one = self._why(run)
            if one is not None:
                found.append(one)
        return sorted(found, key=lambda one: one.run.number)

    def _why(self, run: Run) -> Stale | None:
        for name, value in run.inputs.items():
            provider = value.run
            now = self.last.get(provider.key)
            if now is None or now is provider or provider.key == run.key or now.failed:
                continue
            given = now.outputs.get(name)
            if given is None and now.code != provider.code:
                return Stale(run, name, provider, now, "gone")
            if given is not None and given.version != value.version:
                reason = "edited" if now.code != provider.code else "rerun"
                return Stale(run, name, provider, now, reason)
        return None

    def overdue(self) -> dict[str, list[Run]]:
        """Cells that are out of date or took something from one: what to run, it as the last."""
        found = {one.run.key: [one.run] for one in self.stale()}
        for run in self.runs:
            if self.last[run.key] is not run or run.key in found:
                continue
            for value in run.inputs.values():
                way = found.get(value.run.key, [])
                if way and way[-1] is value.run:
                    found[run.key] = [*way, run]
                    break
        return found

    def depend_on(self, keys: set[str]) -> list[Run]:
        """The cells whose last run took something from a run of these, directly or not."""
        found: dict[str, Run] = {}
        wanted = set(keys)
        while wanted:
            nearer = {
                run.key: run
                for run in self.last.values()
                if run.key not in found
                and run.key not in keys
                and any(value.run.key in wanted for value in run.inputs.values())
            }
            found.update(nearer)
            wanted = set(nearer)
        return sorted(found.values(), key=lambda run: run.number)


def _hash(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=12).hexdigest()
