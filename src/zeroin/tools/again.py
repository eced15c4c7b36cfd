"""`again N`: the same command, environment and folder; with --code the same code as well."""

from __future__ import annotations

import os

from zeroin.cycle import Cycle
from zeroin.errors import ZeroinError
from zeroin.record.place import name_of
from zeroin.tools.compare import VOLATILE
from zeroin.tools.imported import import_folders
from zeroin.tools.masking import Mask, is_masked
from zeroin.tools.recorder import Replay
from zeroin.tools.run import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.record.code import Shadow
    from zeroin.record.store import Attempt
    from zeroin.tools.reading import Reading
    from zeroin.tools.run import Options, RunReport


PREFIX = "zeroin-again-"


def again(
    reading: Reading, name: str, options: Options, environ: Mapping[str, str], *, code: bool
) -> RunReport:
    """Run an attempt once more."""
    attempt = reading.store.resolve(name)
    env = environment_of(reading, attempt, environ)
    cycle = cycle_of(attempt, env, Mask(reading.store.salt, environ))
    options = options._replace(
        peek=options.peek or bool(attempt.settings.get("peek")),
        log=options.log or str(attempt.settings.get("log", "")),
    )
    if not code:
        if not os.path.isdir(attempt.cwd):
            raise ZeroinError(f"the folder of attempt {attempt.id} is gone: {attempt.cwd}")
        return run(cycle, options, env)
    return _with_its_code(reading, attempt, cycle, options, env)


def cycle_of(attempt: Attempt, env: Mapping[str, str], mask: Mask) -> Cycle:
    """What was run, with the secrets that are known here and now."""
    command = [mask.reveal(word) for word in attempt.command]
    if any(map(is_masked, command)):
        raise ZeroinError(
            f"the command of attempt {attempt.id} held a secret, which was not kept",
            hint="give it in a variable, and run: zeroin run -- COMMAND",
        )
    settings = attempt.settings
    own = {
        name: None if value is None else env.get(name, value)
        for name, value in settings.get("env", {}).items()
    }
    return Cycle(
        tuple(command),
        attempt.cwd,
        own,
        tuple(settings.get("reset", ())),
        tuple(settings.get("restore", ())),
        settings.get("timeout"),
        settings.get("seed"),
        bool(settings.get("sync")),
        tuple(settings.get("limit", ())),
        tuple(settings.get("at", ())),
    )


def environment_of(
    reading: Reading, attempt: Attempt, environ: Mapping[str, str]
) -> dict[str, str]:
    """As it was; the terminal's own variables and unchanged secrets come from here and now."""
    kept: dict[str, str] | None = reading.store.get(attempt.environment)
    if kept is None:
        raise ZeroinError(f"the environment of attempt {attempt.id} was not kept")
    mask = Mask(reading.store.salt, environ)
    env = {name: value for name, value in kept.items() if name not in VOLATILE}
    env.update({name: value for name, value in environ.items() if name in VOLATILE})
    missing = []
    for name, value in kept.items():
        if is_masked(value):
            now = environ.get(name)
            if now is not None and value in (mask.hide(now), mask.text(now)):
                env[name] = now
            else:
                missing.append(name)
    if missing:
        raise ZeroinError(
            f"secrets are not kept, and these are not set now as they were in attempt "
            f"{attempt.id}: {', '.join(sorted(missing))}",
            hint="export them first, then repeat the command",
        )
    return env


def _with_its_code(
    reading: Reading,
    attempt: Attempt,
    cycle: Cycle,
    options: Options,
    env: Mapping[str, str],
) -> RunReport:
    """Check its code out into a folder of its own, which is gone afterwards, however we end."""
    from zeroin.record.code import CodeError
    from zeroin.tools.folders import OwnFolder

    root = reading.place.root
    if attempt.code is None or root is None:
        raise ZeroinError(
            f"the code of attempt {attempt.id} was not kept", hint=f"zeroin again {attempt.id}"
        )
    own = OwnFolder(PREFIX)
    folder = os.path.join(own.path, os.path.basename(root))
    try:
        try:
            _check_out(reading.shadow(attempt), attempt.code, folder)
        except (CodeError, OSError) as error:
            raise ZeroinError(
                f"the code of attempt {attempt.id} can't be checked out: {error}",
                hint=f"with the code as it is now: zeroin again {attempt.id}",
            ) from None
        env = _path_elsewhere(reading, attempt, own.path, env)
        moved = cycle._replace(
            cwd=_moved(attempt.cwd, root, folder),
            command=tuple(_moved(word, root, folder) for word in cycle.command),
            at=tuple(_moved(text, root, folder) for text in cycle.at),
        )
        replay = Replay(attempt.id, reading.place, attempt.cwd, attempt.code)
        options = options._replace(replay=replay, mark=own.mark)
        return run(moved, options, path_into(folder, attempt, root, env))
    finally:
        own.close()


def _check_out(shadow: Shadow, tree: str, folder: str) -> None:
    shadow.checkout(tree, folder)
    _link_ignored(shadow.ignored(), shadow.root, folder)


def _path_elsewhere(
    reading: Reading, attempt: Attempt, own: str, env: Mapping[str, str]
) -> Mapping[str, str]:
    """Check out editable packages of other folders as they were, and lead its imports there."""
    from zeroin.record.code import CodeError, Shadow

    places = attempt.facts.get("code_elsewhere") or {}
    for number, (root, tree) in enumerate(places.items()):
        folder = os.path.join(own, f"elsewhere-{number}")
        shadow = Shadow(os.path.join(reading.place.folder, "elsewhere", name_of(root)), root)
        try:
            _check_out(shadow, tree, folder)
        except (CodeError, OSError):
            continue  # its repository has gone since: what is there now is run
        env = path_into(folder, attempt, root, env)
    return env


def _moved(word: str, root: str, folder: str) -> str:
    return folder + word[len(root) :] if word == root or word.startswith(root + "/") else word


def _link_ignored(ignored: list[str], root: str, folder: str) -> None:
    """Data and environments that git ignores are used where they are."""
    for name in (entry.rstrip("/") for entry in ignored):
        target = os.path.join(folder, name)
        if os.path.basename(name) in ("__pycache__", ".zeroin") or os.path.lexists(target):
            continue
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.symlink(os.path.join(root, name), target)


def path_into(folder: str, attempt: Attempt, root: str, env: Mapping[str, str]) -> dict[str, str]:
    """An editable install leads back to the checkout: the copy goes before it on the path."""
    inside = [_moved(entry, root, folder) for entry in import_folders(attempt, root)]
    before = [e for e in env.get("PYTHONPATH", "").split(os.pathsep) if e]
    path = [*inside, *(_moved(entry, root, folder) for entry in before)]
    return {**env, "PYTHONPATH": os.pathsep.join(dict.fromkeys(path))} if path else dict(env)
