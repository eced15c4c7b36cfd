"""`show`: one attempt, whole; and the one line that reproduces it elsewhere."""

from __future__ import annotations

import os
import shlex

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.run.environment import SYNC
from zeroin.tools.masking import is_masked
from zeroin.tools.recorder import LOG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.record.store import Attempt
    from zeroin.tools.compare import Difference
    from zeroin.tools.reading import Reading

PATCH_LIMIT = 96_000  # characters of a line that can still be pasted into a terminal


class ShowReport(NamedTuple):
    """All that is kept of an attempt."""

    attempt: Attempt
    running: bool
    environment: dict[str, str]
    packages: dict[str, str]
    evidence: dict[str, Any]
    same_as: list[int]
    previous: int | None
    changed: Difference | None
    output: bytes
    log: str | None  # the file of its log records, if it was run with --log


def show(reading: Reading, name: str) -> ShowReport:
    """Look one attempt up."""
    from zeroin.run import keep
    from zeroin.tools.reading import is_running

    attempt = reading.store.resolve(name)
    previous, changed = since_previous(reading, attempt)
    return ShowReport(
        attempt,
        is_running(attempt),
        reading.store.get(attempt.environment) or {},
        reading.store.get(attempt.packages) or {},
        reading.store.get(attempt.evidence) or {},
        reading.store.same_failure(attempt.signature, attempt.id) if attempt.signature else [],
        previous,
        changed,
        keep.text(reading.output_folder(attempt)),
        log_of(reading, attempt),
    )


def log_of(reading: Reading, attempt: Attempt) -> str | None:
    """The file of an attempt's log records; None if it has none."""
    path = os.path.join(reading.output_folder(attempt), LOG)
    return path if os.path.exists(path) else None


def since_previous(reading: Reading, attempt: Attempt) -> tuple[int | None, Difference | None]:
    """The attempt before, and what changed since."""
    from zeroin.tools.compare import compare

    previous = reading.store.previous(attempt)
    if previous is None:
        return None, None
    return previous.id, compare(reading.store, reading.shadow(attempt), previous, attempt)


def oneliner(reading: Reading, name: str) -> str:
    """One shell line that brings about the attempt in another checkout of the repository.

    It makes a throw-away worktree at the attempt's commit, applies what was not committed,
    and runs the command with this attempt's own variables.
    """
    attempt = reading.store.resolve(name)
    _refuse_secrets(attempt)
    command = _command_line(attempt)
    root = reading.place.root
    if root is None or attempt.base_commit is None or attempt.code is None:
        return f"cd {shlex.quote(attempt.cwd)} && {command}"
    patch = reading.shadow(attempt).patch(attempt.base_commit, attempt.code, binary=True)
    folder = os.path.relpath(attempt.cwd, _repository(root))
    enter = '"$d"' if folder == "." else f'"$d"/{shlex.quote(folder)}'
    steps = [
        f'git worktree add -q --detach "$d" {attempt.base_commit}',
        *_apply(patch, attempt.id, os.path.relpath(root, _repository(root))),
        f"cd {enter}",
        command,
    ]
    clean_up = 'cd / && git --git-dir="$g" worktree remove -f "$d"'
    start = f"g=$(git rev-parse --absolute-git-dir) && d=$(mktemp -d) && trap '{clean_up}' EXIT"
    return f"({start} && {' && '.join(steps)})"


def _apply(patch: str, number: int, below: str) -> list[str]:
    if not patch:
        return []
    import base64
    import zlib

    packed = base64.b64encode(zlib.compress(patch.encode("utf-8", "surrogateescape"), 9)).decode()
    if len(packed) > PATCH_LIMIT:
        raise ZeroinError(
            f"attempt {number} differs from its commit by {len(patch):,} characters: too much for "
            "one line",
            hint=f"run it here: zeroin again {number} --code",
        )
    unpack = (
        "import base64,sys,zlib;"
        "sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.argv[1])))"
    )
    where = "" if below == "." else f" --directory={shlex.quote(below)}"
    return [f"python3 -c '{unpack}' {packed} | git -C \"$d\" apply --whitespace=nowarn{where}"]


def _repository(root: str) -> str:
    """The top of the git checkout that the project lies in."""
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return root
        folder = parent
    return folder


def _refuse_secrets(attempt: Attempt) -> None:
    if any(map(is_masked, attempt.command)):
        raise ZeroinError(
            f"the command of attempt {attempt.id} held a secret, which was not kept",
            hint=f"see what was kept: zeroin show {attempt.id}",
        )


def _command_line(attempt: Attempt) -> str:
    """The command with the variables that were set for it alone."""
    settings = attempt.settings
    words = []
    for name, value in settings.get("env", {}).items():
        words += ["-u", name] if value is None else []
    if settings.get("sync"):
        words += [f"{name}={value}" for name, value in SYNC.items()]
    for name, value in attempt.settings.get("env", {}).items():
        if value is not None:
            masked = is_masked(value)
            words.append(f"{name}=${{{name}:?}}" if masked else f"{name}={shlex.quote(value)}")
    if "seed" in settings:
        words.append(f"PYTHONHASHSEED={settings['seed'] % 2**32}")
    command = " ".join(_relative(word, attempt) for word in attempt.command)
    if settings.get("timeout"):
        command = f"timeout {settings['timeout']:g} {command}"
    command = f"env {' '.join(words)} {command}" if words else command
    return " && ".join([*(f"({line})" for line in settings.get("reset", ())), command])


def left_out(attempt: Attempt) -> list[str]:
    """What a shell line can't do of this attempt."""
    reasons = {
        "seed": "--seed (random, numpy, torch)",
        "restore": "--restore",
        "limit": "--limit",
    }
    return [text for name, text in reasons.items() if attempt.settings.get(name) is not None]


def _relative(word: str, attempt: Attempt) -> str:
    """Absolute paths into the project would point at this checkout: make them relative."""
    if attempt.root and word.startswith(attempt.root + "/"):
        word = os.path.relpath(word, attempt.cwd)
    return shlex.quote(word)
