"""What repeats in the user's own code: a tick at the head of each loop and of each function.

A tick counts, and hardly more: only now and then it looks at the clock and takes a sample, so
that all samples together take a few hundredths of the time. Which place is the one to judge by
is the driver's choice, from the counts and the times. A loop inside another that calls nothing
has no tick: it can't keep anything that the outer one would not show.
"""

from __future__ import annotations

import ast
import atexit
import os
import time

from . import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

FIRST = 64  # ticks of a place that are all sampled, while there is time
GRACE = 0.2  # seconds that samples may take in any case
SHARE = 0.03  # of the time, beyond that
LOOPS = (ast.For, ast.AsyncFor, ast.While)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

wanted: dict[str, Any] = {}
on_tick: list[Callable[[list[Any]], None]] = []  # of the second look
_folder = ""
_file: list[int] = [0, -1]  # pid, descriptor
_clock = [0.0, 0.0]  # when it began, and what samples took
_places: dict[str, list[Any]] = {}


def begin(order: dict[str, Any], folder: str) -> None:
    """Hang in, as the driver ordered."""
    global _folder  # noqa: PLW0603 - one a process
    wanted.update(order)
    _folder = folder
    _clock[0] = time.perf_counter()
    atexit.register(_finish)
    if order["mode"] == "who":
        from . import who

        on_tick.append(who.Look(order).tick)
    if order.get("pytest"):
        from . import again

        again.watch_pytest(order["pytest"])
    if order.get("repeat"):
        return  # the whole of it is the repetition: `again` ticks
    from .. import rewrite

    rewrite.add(_is_wanted, _change)


def _is_wanted(path: str) -> bool:
    from .. import owner

    files = wanted.get("files")
    return path in files if files else owner.is_users(path)


# --- where ticks go ----------------------------------------------------------------------------


def _change(path: str, _source: bytes, tree: Any) -> Any:
    """In the second look, and for a function that was named, only there."""
    places = list(_found(tree, path, inside=False))
    only = wanted.get("only")
    if only:
        places = [one for one in places if [one[1], one[2]] == only]
    for node, kind, line, name in places:
        _insert(node, place(f"{path}:{line}:{kind}", kind, path, line, name))
    return tree if places else None


def _found(node: Any, path: str, *, inside: bool) -> Any:
    """Each loop and function: (node, kind, line, name)."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, LOOPS):
            if not inside or _calls(child):
                yield child, "loop", child.lineno, ""
            yield from _found(child, path, inside=True)
        elif isinstance(child, FUNCTIONS):
            yield child, "function", child.lineno, child.name
            yield from _found(child, path, inside=False)
        else:
            yield from _found(child, path, inside=inside)


def _calls(loop: Any) -> bool:
    return any(
        isinstance(one, (ast.Call, ast.Await)) for part in loop.body for one in ast.walk(part)
    )


def _insert(node: Any, at: list[Any]) -> None:
    from .. import rewrite

    body = node.body
    is_text = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    index = 1 if isinstance(node, FUNCTIONS) and is_text else 0
    call = ast.Expr(ast.Call(rewrite.constant(tick), [rewrite.constant(at)], []))
    body.insert(index, rewrite.place(call, body[min(index, len(body) - 1)]))


def place(key: str, kind: str, file: str, line: int, name: str) -> list[Any]:
    """What a tick is given: count, at which count to look next, what it is, since when, samples."""
    if key not in _places:
        about = {"kind": kind, "file": file, "line": line, "name": name, "id": len(_places)}
        _places[key] = [0, 1, about, 0.0, 0]
    return _places[key]


# --- ticking -----------------------------------------------------------------------------------


def tick(at: list[Any]) -> None:
    """One more repetition of that place."""
    at[0] += 1
    if at[0] >= at[1]:
        try:
            _look(at)
        except Exception:  # at the end of the interpreter nothing is left to work with
            at[1] = 1 << 62


def _look(at: list[Any]) -> None:
    """Take a sample, unless samples have taken too much; then say when to look again."""
    if on_tick:
        at[1] = at[0] + 1
        for call in on_tick:
            call(at)
        return
    now = time.perf_counter()
    rate = at[0] / max(1e-6, now - at[3]) if at[3] else 0.0
    at[3] = at[3] or now
    spent, allowed = _clock[1], GRACE + SHARE * (now - _clock[0])
    if spent < allowed:
        _write(at, now)
        at[4] += 1
    # A hot place is looked at some two hundred times a second at most.
    at[1] = at[0] + (1 if at[0] < FIRST else max(1, int(rate / 200)))


def _write(at: list[Any], now: float) -> None:
    values = measure.sample()
    took = time.perf_counter()
    row = [at[2]["id"], at[0], round(now - _clock[0], 6), *values]
    text = "[" + ",".join(map(str, row)) + "]\n"
    if at[4] == 0:
        from .. import post

        text = post.dumps(at[2]) + "\n" + text
    os.write(_opened(), text.encode())
    _clock[1] += took - now + 2e-5


def _opened() -> int:
    """The file of this process: a forked one has its own."""
    pid = os.getpid()
    if _file[0] != pid:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(os.path.join(_folder, f"leak-{pid}"), flags, 0o600)
        _file[:] = [pid, _high(fd)]
    return _file[1]


def _high(fd: int) -> int:
    """Out of the way of the program's own descriptors."""
    import fcntl

    try:
        new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 900)
    except OSError:  # a low limit of open files
        return fd
    os.close(fd)
    return int(new)


def _finish() -> None:
    """How often each place came by in the end."""
    if _file[0] == os.getpid():
        from .. import post

        counts = {str(at[2]["id"]): at[0] for at in _places.values() if at[4]}
        os.write(_file[1], (post.dumps({"counts": counts}) + "\n").encode())
