"""Where the kernel keeps nobody apart: a copy of the project for each run, and words led there.

The second choice after `apart`: paths differ from those of a plain run, large projects take long,
and what the program finds by absolute paths of its own is still the user's.
"""

from __future__ import annotations

import os
import shutil

from zeroin.errors import UntestableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.run.apart import View

MOST = 500 << 20  # bytes
LEFT_OUT = frozenset(("__pycache__", ".zeroin"))
LINKED = frozenset((".git", ".hg", ".venv", "venv", "node_modules", ".tox", ".nox"))


def check(view: View) -> None:
    """Say so if it is too large for that."""
    size = 0
    for folder, folders, names in os.walk(view.root):
        folders[:] = [one for one in folders if one not in LEFT_OUT | LINKED]
        for name in names:
            size += os.lstat(os.path.join(folder, name)).st_size
        if size > MOST:
            raise UntestableError(
                f"without namespaces each try needs a copy of {view.root}, and that is over "
                f"{MOST >> 20} MB",
                hint="name a smaller folder with --cwd, or let the kernel have user namespaces",
            )


def made(view: View, cycle: Cycle) -> Cycle:
    """Copy the project, put the payload in, and give the cycle that runs there."""
    copy = os.path.join(view.scratch, "copy")
    shutil.rmtree(copy, ignore_errors=True)
    _copy(view.root, copy)
    for name in LINKED:
        original = os.path.join(view.root, name)
        if os.path.lexists(original):
            os.symlink(original, os.path.join(copy, name))
    moved = {view.root: copy}
    for path, source in view.instead:
        inside = path.startswith(os.path.join(view.root, ""))
        if not inside:
            moved[path] = source
            continue
        target = os.path.join(copy, os.path.relpath(path, view.root))
        if os.path.isdir(source):
            shutil.rmtree(target)
            shutil.copytree(source, target)
        else:
            os.unlink(target)  # it may be for reading only
            shutil.copy(source, target)
    return led(cycle, moved)


def _copy(root: str, copy: str) -> None:
    """What may not be read is left out, as are pipes and sockets: nobody can copy them."""
    try:
        shutil.copytree(root, copy, symlinks=True, ignore=_skipped)
    except shutil.Error as error:
        for source, _, why in error.args[0]:
            is_plain = os.path.isfile(source) or os.path.isdir(source)
            if is_plain and os.access(source, os.R_OK, effective_ids=True):
                raise UntestableError(
                    f"{source} can't be copied: {why}",
                    hint="the tries need room for copies; set TMPDIR to a folder that has it",
                ) from None


def led(cycle: Cycle, moved: Mapping[str, str]) -> Cycle:
    """The same cycle with other paths in the place of some."""
    return cycle._replace(
        command=tuple(_led(word, moved, cycle.cwd) for word in cycle.command),
        cwd=_led(cycle.cwd, moved, "/"),
        env={name: value and _led(value, moved, "/") for name, value in cycle.env.items()},
    )


def _skipped(_: str, names: Sequence[str]) -> set[str]:
    return set(names) & (LEFT_OUT | LINKED)


def _led(word: str, moved: Mapping[str, str], cwd: str) -> str:
    """The word, if it is a path that has moved, as it is now."""
    if os.path.join(cwd, word) in moved:
        return moved[os.path.join(cwd, word)]
    for old, new in moved.items():
        if word.startswith(old + "/"):
            return new + word[len(old) :]
    return word
