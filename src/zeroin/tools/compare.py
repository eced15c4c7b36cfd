"""What differs between two attempts: code, environment, packages, arguments, outcome."""

from __future__ import annotations

import os

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.record.code import Change, Shadow
    from zeroin.record.store import Attempt, Store

# They differ between two terminals, and never make a program fail.
VOLATILE = frozenset(
    (
        "_",
        "COLUMNS",
        "DBUS_SESSION_BUS_ADDRESS",
        "DISPLAY",
        "GPG_TTY",
        "INVOCATION_ID",
        "LINES",
        "LS_COLORS",
        "OLDPWD",
        "PWD",
        "SHLVL",
        "SSH_AGENT_PID",
        "SSH_AUTH_SOCK",
        "SSH_CLIENT",
        "SSH_CONNECTION",
        "SSH_TTY",
        "STY",
        "TERM_SESSION_ID",
        "TMUX",
        "TMUX_PANE",
        "VTE_VERSION",
        "WINDOW",
        "WINDOWID",
        "XDG_SESSION_ID",
    )
)


ORDER = "MRDA"  # modified files, renamed, deleted and new ones


class Changed(NamedTuple):
    """One named thing, before and after; None where it was not there."""

    name: str
    old: str | None
    new: str | None


class Difference(NamedTuple):
    """All that differs. `code_note` says why code could not be compared, if so.

    The changed files that either program loaded come first, then modified ones before new ones.
    """

    code: list[Change]
    env: list[Changed]
    packages: list[Changed]
    command: list[Changed]  # arguments, folder, interpreter
    code_note: str = ""
    loaded: frozenset[str] = frozenset()  # paths in `code` of files that either program loaded
    python: Changed | None = None  # another interpreter: what tells the two apart

    def __bool__(self) -> bool:
        return bool(self.code or self.env or self.packages or self.command)


def compare(store: Store, shadow: Shadow | None, old: Attempt, new: Attempt) -> Difference:
    """Everything that was different before the two commands started."""
    code, note = _code(shadow, old, new)
    loaded = _find_loaded(code, shadow.root, old, new) if shadow is not None else frozenset()
    return Difference(
        sorted(code, key=lambda change: (change.path not in loaded, ORDER.find(change.kind))),
        _env(store.get(old.environment), store.get(new.environment), _by_options(old, new)),
        _dicts(store.get(old.packages), store.get(new.packages)),
        _command(old, new),
        note,
        loaded,
        _compare_pythons(old, new),
    )


def _find_loaded(code: list[Change], root: str, old: Attempt, new: Attempt) -> frozenset[str]:
    """Paths of changed files that are modules of either attempt, or words of its command."""
    files = {
        os.path.realpath(os.path.join(attempt.cwd, file))
        for attempt in (old, new)
        for file in (*(attempt.facts.get("modules") or {}).values(), *attempt.command)
    }
    paths = {path for change in code for path in (change.path, change.was or change.path)}
    loaded = {path for path in paths if os.path.realpath(os.path.join(root, path)) in files}
    return frozenset(
        change.path for change in code if {change.path, change.was or change.path} & loaded
    )


def _compare_pythons(old: Attempt, new: Attempt) -> Changed | None:
    """The versions of two interpreters; where those are equal, what else tells them apart."""
    before, after = (attempt.facts.get("python") or {} for attempt in (old, new))
    if not before or not after:
        return None
    for name in ("version", "implementation", "prefix"):
        if before.get(name) != after.get(name):
            return Changed("python", _text(before.get(name)), _text(after.get(name)))
    return None


def _code(shadow: Shadow | None, old: Attempt, new: Attempt) -> tuple[list[Change], str]:
    if old.code == new.code and old.code is not None:
        return [], ""
    if shadow is None or old.code is None or new.code is None:
        missing = [str(a.id) for a in (old, new) if a.code is None]
        return [], f"the code of attempt {' and '.join(missing)} was not kept" if missing else ""
    from zeroin.record.code import CodeError

    try:
        return shadow.changes(old.code, new.code), ""
    except (CodeError, ZeroinError) as error:
        return [], str(error)


def _by_options(old: Attempt, new: Attempt) -> set[str]:
    """Variables that --sync or --seed set: the option itself is named already."""
    from zeroin.run.environment import SYNC

    names: set[str] = set()
    if old.settings.get("sync") != new.settings.get("sync"):
        names.update(SYNC)
    if old.settings.get("seed") != new.settings.get("seed"):
        names.add("PYTHONHASHSEED")
    return names


def _env(old: Any, new: Any, named: set[str]) -> list[Changed]:
    skip = VOLATILE | named
    return [change for change in _dicts(old, new) if change.name not in skip]


def _dicts(old: Any, new: Any) -> list[Changed]:
    if not old or not new:  # one side is not known: nothing can be said
        return []
    return [
        Changed(name, old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    ]


def _command(old: Attempt, new: Attempt) -> list[Changed]:
    import shlex

    found = []
    if old.command != new.command:
        found.append(Changed("command", shlex.join(old.command), shlex.join(new.command)))
    if old.cwd != new.cwd:
        found.append(Changed("folder", old.cwd, new.cwd))
    found += [
        Changed(name, _text(old.settings.get(name)), _text(new.settings.get(name)))
        for name in sorted({*old.settings, *new.settings})
        if name not in ("env", "code_of", "loop", "mode")
        and old.settings.get(name) != new.settings.get(name)
    ]
    if _compare_pythons(old, new) is not None:
        found.append(Changed("python", *(_describe_python(a) for a in (old, new))))
    return found


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _describe_python(attempt: Attempt) -> str:
    python = attempt.facts["python"]
    return f"{python.get('version', '')} {python.get('executable', '')}".strip()
