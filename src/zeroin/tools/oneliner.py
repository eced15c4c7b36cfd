"""`show --oneliner`: the one shell line that brings about an attempt elsewhere."""

from __future__ import annotations

import os
import shlex

from zeroin.errors import ZeroinError
from zeroin.named import NamedTuple
from zeroin.record.code.git import check_object_name
from zeroin.record.place import name_of
from zeroin.run.environment import SYNC
from zeroin.tools.imported import import_folders, is_code_of, is_within
from zeroin.tools.masking import is_masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from zeroin.record.code import Shadow
    from zeroin.record.store import Attempt
    from zeroin.tools.reading import Reading

PATCH_LIMIT = 96_000  # characters of a line that can still be pasted into a terminal
NOTHING = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's name of an empty tree
CLONE = '"$t"'  # the top of the clone where the line runs
ELSEWHERE = ".zeroin-elsewhere"  # in the worktree, for code of other repositories
UNPACK = (
    "import base64,sys,zlib;sys.stdout.buffer.write(zlib.decompress(base64.b64decode(sys.argv[1])))"
)


class Oneliner(NamedTuple):
    """The line, and what it can't do of the attempt."""

    line: str
    lacks: list[str]


class _Code(NamedTuple):
    """The code of one project that an attempt used, and where the line puts it."""

    root: str
    below: str  # the worktree's top
    patch: str  # from what is committed to what was run
    linked: Sequence[str] = ()  # modules in use that git ignores, from the worktree's top


def make_oneliner(reading: Reading, name: str) -> Oneliner:
    """One shell line that brings about the attempt in another checkout of the repository.

    It makes a throw-away worktree at the attempt's commit, applies what was not committed,
    and runs the command with this attempt's own variables, importing from that worktree.
    """
    attempt = reading.store.resolve(name)
    _refuse_secrets(attempt)
    lacks = _lacking_options(attempt)
    root = reading.place.root
    if root is None or attempt.base_commit is None or attempt.code is None:
        words = [_relative(word, attempt) for word in attempt.command]
        line = f"cd {shlex.quote(attempt.cwd)} && {_command_line(attempt, [], words)}"
        return Oneliner(line, lacks)
    check_object_name(attempt.base_commit)  # it stands in the line that a shell reads
    top = _repository(root)
    shadow = reading.shadow(attempt)
    codes = [_own_code(shadow, attempt, root, top)]
    room = PATCH_LIMIT - _check_size(codes[0].patch, attempt.id)
    for one in _codes_elsewhere(reading, attempt, top):
        room -= len(_packed(one.patch))
        if room < 0 or (one.linked and one.below.startswith(ELSEWHERE)):
            lacks.append(f"the changes in {one.root}")
        else:
            codes.append(one)
    # The code of a folder has all that lies below it.
    around = [code.root for code in codes if not code.below.startswith(ELSEWHERE)]
    codes = [
        code._replace(patch="")
        if any(is_within(code.root, one) and one != code.root for one in around)
        else code
        for code in codes
    ]
    steps = [
        f'git worktree add -q --detach "$d" {attempt.base_commit}',
        *(step for code in codes for step in _bring_about(code)),
        f"cd {_in_worktree(os.path.relpath(attempt.cwd, top))}",
        _command_line(attempt, codes, _placed_words(attempt, shadow.files(attempt.code), top)),
    ]
    clean_up = 'cd / && git --git-dir="$g" worktree remove -f "$d"'
    start = f"g=$(git rev-parse --absolute-git-dir) && d=$(mktemp -d) && trap '{clean_up}' EXIT"
    if any(CLONE in step for step in steps) or any(code.linked for code in codes):
        start = f"t=$(git rev-parse --show-toplevel) && {start}"
    return Oneliner(f"({start} && {' && '.join(steps)})", lacks)


# --- the code -------------------------------------------------------------------------------------


def _own_code(shadow: Shadow, attempt: Attempt, root: str, top: str) -> _Code:
    below = os.path.relpath(root, top)
    tree = attempt.code or ""
    patch = shadow.patch(_committed(attempt.base_commit or "", below), tree, binary=True)
    return _Code(root, below, patch, _unkept_modules(shadow, tree, attempt, root, below))


def _codes_elsewhere(reading: Reading, attempt: Attempt, top: str) -> Iterator[_Code]:
    """Packages installed in editable mode from another folder, if they differ from their commit."""
    from zeroin.record.code import CodeError, Shadow

    places = attempt.facts.get("code_elsewhere") or {}
    for number, (root, tree) in enumerate(places.items()):
        shadow = Shadow(os.path.join(reading.place.folder, "elsewhere", name_of(root)), root)
        their_top = _repository(root)
        below = os.path.relpath(root, their_top)
        is_ours = their_top == top
        base = attempt.base_commit if is_ours else shadow.base_commit()
        try:
            patch = shadow.patch(_committed(base, below), tree, binary=True) if base else ""
            if base and not patch and not is_ours:
                continue  # it can be installed from there
            if not is_ours:
                below = os.path.join(ELSEWHERE, str(number))
                patch = shadow.patch(NOTHING, tree, binary=True)
            linked = _unkept_modules(shadow, tree, attempt, root, below)
        except CodeError:
            continue  # its repository has gone since
        yield _Code(root, below, patch, linked)


def _committed(commit: str, below: str) -> str:
    return commit if below == "." else f"{commit}:{below}"


def _unkept_modules(
    shadow: Shadow, tree: str, attempt: Attempt, root: str, below: str
) -> list[str]:
    """Modules in use that are built or written by an install: no snapshot has them."""
    modules = (attempt.facts.get("modules") or {}).values()
    used = {os.path.relpath(one, root) for one in modules if is_code_of(one, attempt, root)}
    unkept = used.difference(shadow.files(tree)) if used else ()
    return sorted(os.path.normpath(os.path.join(below, one)) for one in unkept)


def _bring_about(code: _Code) -> Iterator[str]:
    if code.patch:
        where = "" if code.below == "." else f" --directory={shlex.quote(code.below)}"
        apply = f'git -C "$d" apply --whitespace=nowarn{where}'
        yield f"python3 -c '{UNPACK}' {_packed(code.patch)} | {apply}"
    if code.linked:
        files = " ".join(map(shlex.quote, code.linked))
        yield f'for f in {files}; do [ -e "$d/$f" ] || ln -s "$t/$f" "$d/$f"; done'


def _packed(patch: str) -> str:
    import base64
    import zlib

    if not patch:
        return ""
    return base64.b64encode(zlib.compress(patch.encode("utf-8", "surrogateescape"), 9)).decode()


def _check_size(patch: str, number: int) -> int:
    size = len(_packed(patch))
    if size > PATCH_LIMIT:
        raise ZeroinError(
            f"attempt {number} differs from its commit by {len(patch):,} characters: too much for "
            "one line",
            hint=f"run it here: zeroin again {number} --code",
        )
    return size


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


# --- the command ----------------------------------------------------------------------------------


def _command_line(attempt: Attempt, codes: Sequence[_Code], command_words: Iterable[str]) -> str:
    """The command with the variables that were set for it alone, and the path of its imports."""
    settings = attempt.settings
    given = settings.get("env", {})
    words = []
    for name, value in given.items():
        words += ["-u", name] if value is None else []
    if settings.get("sync"):
        words += [f"{name}={value}" for name, value in SYNC.items()]
    for name, value in given.items():
        if value is not None and name != "PYTHONPATH":
            masked = is_masked(value)
            words.append(f"{name}=${{{name}:?}}" if masked else f"{name}={shlex.quote(value)}")
    words += _python_path(attempt, codes)
    if "seed" in settings:
        words.append(f"PYTHONHASHSEED={settings['seed'] % 2**32}")
    command = " ".join(command_words)
    if settings.get("timeout"):
        command = f"timeout {settings['timeout']:g} {command}"
    command = f"env {' '.join(words)} {command}" if words else command
    return " && ".join([*(f"({line})" for line in settings.get("reset", ())), command])


def _python_path(attempt: Attempt, codes: Sequence[_Code]) -> list[str]:
    """An editable install leads to the other checkout as it is: the worktree goes before it."""
    entries = [
        _in_worktree(os.path.normpath(os.path.join(code.below, os.path.relpath(folder, code.root))))
        for code in codes
        for folder in import_folders(attempt, code.root)
    ]
    given = attempt.settings.get("env", {}).get("PYTHONPATH", "")
    if given is None or (not entries and not given):
        return []
    rest = [one for one in given.split(":") if not any(is_within(one, c.root) for c in codes)]
    entries += [shlex.quote(one) for one in rest if one]
    inherited = "" if given else '"${PYTHONPATH:+:$PYTHONPATH}"'
    return [f"PYTHONPATH={':'.join(dict.fromkeys(entries))}{inherited}"]


def _in_worktree(below: str) -> str:
    return '"$d"' if below == "." else f'"$d"/{shlex.quote(below)}'


def _placed_words(attempt: Attempt, kept: Iterable[str], top: str) -> Iterator[str]:
    """The words of the command, as they are found from the worktree.

    What lies in the project without being part of its code (an environment, a data set), or beside
    it, is in no worktree: it is taken from the clone where the line runs, from the same place.
    """
    root, files = attempt.root or top, set(kept)
    folders = {folder for one in files for folder in _folders_above(one)}
    for word in attempt.command:
        full = os.path.normpath(os.path.join(attempt.cwd, word))
        is_inside = is_within(full, root)
        is_kept = is_inside and os.path.relpath(full, root) in (files | folders | {"."})
        is_elsewhere = not is_inside and (os.path.isabs(word) or is_within(full, top))
        if is_kept or is_elsewhere or not os.path.lexists(full):
            yield _relative(word, attempt)
        else:
            yield f"{CLONE}/{shlex.quote(os.path.relpath(full, top))}"


def _folders_above(path: str) -> Iterator[str]:
    while path := os.path.dirname(path):
        yield path


def _relative(word: str, attempt: Attempt) -> str:
    """Absolute paths into the project would point at this checkout: make them relative."""
    if attempt.root and word.startswith(attempt.root + "/"):
        word = os.path.relpath(word, attempt.cwd)
    return shlex.quote(word)


def _lacking_options(attempt: Attempt) -> list[str]:
    reasons = {
        "seed": "--seed (random, numpy, torch)",
        "restore": "--restore",
        "limit": "--limit",
    }
    return [text for name, text in reasons.items() if attempt.settings.get(name) is not None]
