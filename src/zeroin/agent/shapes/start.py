"""What `zeroin shapes` asks for is looked at, and written down as soon as it is new.

Everything goes to one file of the driver's, a line each, whichever process sees it: so it is
there also when a process is killed, or ends without its last steps, as workers do.
"""

from __future__ import annotations

import os
from itertools import count

from .. import owner, post, rewrite
from . import asked as asking
from . import change, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "shapes"  # of the file, in the driver's folder
SIGNS = 20  # operands of the line that failed

_path = ""
_slots: dict[str, places.Slot] = {}  # by the name of their look
_files: set[str] = set()  # that are looked at
_numbers = count()


def install(folder: str, wanted: Mapping[str, Any]) -> None:
    """Begin. `wanted` has `files` and `functions`, each empty for all of the user's own.

    Functions without files are looked for in everything that is loaded, libraries as well.
    """
    import atexit

    global _path  # noqa: PLW0603 - one a process
    _path = f"{folder}/{NAME}"
    files = frozenset(wanted["files"])
    functions = tuple(wanted["functions"])
    atexit.register(_tell_counts)
    os.register_at_fork(after_in_child=_forget_counts)

    known: dict[str, bool] = {}

    def is_wanted(path: str) -> bool:
        if files or owner.is_users(path):
            return path in files if files else True
        if path not in known:
            known[path] = bool(functions) and _may_have(path, functions)
        return known[path]

    rewrite.add(is_wanted, lambda path, source, tree: changed(path, source, tree, functions))


def _may_have(path: str, functions: tuple[str, ...]) -> bool:
    """Tell whether the file of a library may define one of these functions."""
    if not path.endswith(asking.END):
        return False
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError:  # it lies in a zip file
        return False
    return any(asking.may_define(source, path, one) for one in functions)


def changed(path: str, source: bytes, tree: Any, functions: tuple[str, ...]) -> Any:
    """The tree with looks in it; what they are is told to the driver. None if it has none."""
    number = f"{os.getpid()}-{next(_numbers)}"
    module = asking.module_of(path) if functions else ""
    found: set[str] = set()  # of the functions that are asked for

    def is_looked_at(name: str) -> bool:
        matching = [one for one in functions if asking.is_asked(name, module, one)]
        found.update(matching)
        return bool(matching) or not functions

    def new(place: change.Place, attribute: str) -> Any:
        slot = _slot(number, place.number)
        if place.how == "self":
            return rewrite.constant(places.self_look(slot))
        look = places.attribute_look(slot, attribute) if attribute else places.look(slot)
        return rewrite.constant(look)

    looks = change.Looks(new, is_looked_at)
    tree = looks.change(tree)
    if functions and not found and not owner.is_users(path):
        return None
    _files.add(path)
    _write(
        {
            "file": number,
            "path": path,
            "library": not owner.is_users(path),
            "asked": sorted(found),
            "digest": _digest(source),
            "places": [place.told() for place in looks.places],
            "functions": looks.functions,
            "left": looks.left,
        }
    )
    return tree


def _slot(number: str, place: int) -> places.Slot:
    def tell(form: Any) -> None:
        _write({"in": number, "at": place, "form": form})

    slot = _slots[f"{number}-{place}"] = places.Slot(tell)
    return slot


def _digest(source: bytes) -> str:
    import zlib

    return f"{len(source)}-{zlib.crc32(source):08x}"


def _write(message: dict[str, Any]) -> None:
    """One line, in one piece, also beside others that write."""
    data = (post.dumps(message) + "\n").encode("ascii")
    try:
        # Without waiting: somebody may have put a pipe there.
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(_path, flags, 0o600)
    except OSError:  # the run is over: a process that goes on in the background
        return
    try:
        os.write(fd, data)
    finally:
        os.close(fd)


def _tell_counts() -> None:
    if refused := rewrite.list_refusals():
        _write({"refused": refused})
    for name, slot in list(_slots.items()):
        slot.take()
        number, _, place = name.rpartition("-")
        if slot.forms:
            counts = [[form, times] for form, times in slot.forms.items()]
            wide = list(slot.wide.values())
            _write({"in": number, "at": int(place), "counts": counts, "wide": wide})


def _forget_counts() -> None:
    """A child starts from nothing seen: what its parent has seen, its parent tells."""
    for slot in _slots.values():
        slot.take()
        slot.forms = dict.fromkeys(slot.forms, 0)


# --- the line that failed ---------------------------------------------------------------------


def failed(exc: BaseException) -> None:
    """Tell the shapes of what the failing line uses, in the frames that are looked at."""
    trace = exc.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        path = rewrite.real(code.co_filename)
        if path in _files:
            used = _operands(trace.tb_frame, trace.tb_lineno)
            _write(
                {
                    "failed": path,
                    "line": trace.tb_lineno,
                    "function": code.co_name,
                    "error": f"{type(exc).__name__}: {str(exc)[:300]}",
                    "operands": used[:SIGNS],
                }
            )
        trace = trace.tb_next


def _operands(frame: Any, line: int) -> list[Any]:
    from . import operands

    return operands.of(frame, line)
