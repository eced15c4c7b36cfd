"""What failed, told whole: the chain of exceptions, their frames, and the locals in them.

The words, as the driver reads them:
- a *crash* is one exception that ended something, with those that led to it;
- a *link* is one exception of that chain, the first cause first;
- a *frame* is one line of its traceback; the user's own frames carry source and locals.
"""

from __future__ import annotations

import os
import sys
import time

from . import asked, loaded, owner, post, summary, workers
from .common import secrets
from .summary import objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType, FrameType, TracebackType
    from typing import Any

LINKS = 10  # exceptions of a chain, members of a group
FIRST, LAST = 20, 40  # frames kept of a deep recursion
MESSAGE = 20_000
LOCALS = 60  # names a frame
FRAMES_WITH_LOCALS = 12
CONTEXT = 3  # source lines before and after
SECONDS = 0.15  # for looking at the locals


def report(exc: BaseException, about: dict[str, Any]) -> None:
    """Describe and deliver."""
    post.send({**describe(exc, about), **loaded.facts()})


def describe(exc: BaseException, about: dict[str, Any], brief: bool = False) -> dict[str, Any]:
    """All there is to tell about an exception; in brief, without source and values."""
    happened, started = time.time(), time.perf_counter()
    wanted: list[tuple[dict[str, Any], str, Any]] | None = None if brief else []
    chain = _chain(exc, wanted, set())
    seen = _fill_in(wanted) if wanted else _list_secrets(exc)
    if seen:
        _hide(chain, secrets.forms_of(seen))
    return {
        "kind": "crash",
        "pid": os.getpid(),
        "time": happened,
        "thread": "main",
        "fatal": True,
        **about,
        "chain": chain,
        "took": time.perf_counter() - started,
    }


def _fill_in(wanted: list[tuple[dict[str, Any], str, Any]]) -> set[str]:
    """Summarise all locals in one go: it shares one budget of time. Give the secrets seen."""
    seen: set[str] = set()
    texts = summary.summarise_all(
        [(name, value) for _, name, value in wanted],
        SECONDS,
        secrets.of_environment(os.environ),
        learned=seen,
    )
    for (into, name, _), text in zip(wanted, texts):
        into[name] = text
    return seen


def _list_secrets(exc: BaseException) -> set[str]:
    """Give the texts in the user's frames that are called like secrets: its message may say one."""
    seen: set[str] = set()
    tb = exc.__traceback__
    while tb is not None:
        if owner.is_users(tb.tb_frame.f_code.co_filename):
            try:
                names = dict(tb.tb_frame.f_locals)
            except BaseException:  # a class body may have any mapping as its namespace
                names = {}
            for name, value in names.items():
                if type(name) is str and type(value) is str and secrets.is_secret(name, value):
                    seen.add(value)
        tb = tb.tb_next
    return seen


def _hide(chain: list[dict[str, Any]], forms: list[str]) -> None:
    """Take secrets of the locals out of messages: `assert 'hunter2' == password` says one."""
    for link in chain:
        link["message"] = secrets.mask_forms(link["message"], forms)
        if "notes" in link:
            link["notes"] = [secrets.mask_forms(note, forms) for note in link["notes"]]
        for inner in link.get("group", ()):
            _hide(inner, forms)


def _chain(
    exc: BaseException, wanted: list[tuple[dict[str, Any], str, Any]] | None, seen: set[int]
) -> list[dict[str, Any]]:
    links: list[dict[str, Any]] = []
    current: BaseException | None = exc
    relation = ""
    while current is not None and id(current) not in seen and len(links) < LINKS:
        seen.add(id(current))
        links.append({**_link(current, wanted, seen), "leads_by": relation})
        if current.__cause__ is not None:
            current, relation = current.__cause__, "cause"
        elif current.__context__ is not None and not current.__suppress_context__:
            current, relation = current.__context__, "context"
        else:
            current = None
    links.reverse()
    return links


def _link(
    exc: BaseException, wanted: list[tuple[dict[str, Any], str, Any]] | None, seen: set[int]
) -> dict[str, Any]:
    kind = type(exc)
    link: dict[str, Any] = {
        "type": kind.__name__,
        "module": str(kind.__module__),
        "message": _message(exc),
        "frames": _frames(exc.__traceback__, wanted),
    }
    worker = workers.told_of(exc) if wanted is not None else None
    if worker is not None:
        link["worker"] = worker
    notes = getattr(exc, "__notes__", None)
    if type(notes) is list:
        link["notes"] = [secrets.mask_found(str(note)[:MESSAGE]) for note in notes[:LINKS]]
    if isinstance(exc, SyntaxError):
        link["syntax"] = {
            "message": str(exc.msg),
            "file": str(exc.filename or ""),
            "line": exc.lineno if type(exc.lineno) is int else 0,
            "text": str(exc.text or "").strip()[:500],
        }
    members = getattr(exc, "exceptions", None)
    if type(members) is tuple and _is_group(kind):
        link["group"] = [
            _chain(member, wanted, seen)
            for member in members[:LINKS]
            if isinstance(member, BaseException)
        ]
    return link


def _is_group(kind: type) -> bool:
    """By name: the type came with 3.11, and a backport exists."""
    return any(base.__name__ == "BaseExceptionGroup" for base in kind.__mro__)


def _message(exc: BaseException) -> str:
    try:
        text = str(exc)
    except BaseException as error:
        return "<its message could not be made: " + type(error).__name__ + ">"
    return secrets.mask(text[:MESSAGE], secrets.of_environment(os.environ))


def frames_at(frame: FrameType | None) -> list[dict[str, Any]]:
    """All that has led to a frame which is running, as a crash there would tell it."""
    entries = []
    while frame is not None:
        entries.append((frame, frame.f_lineno or 0, frame.f_lasti))
        frame = frame.f_back
    wanted: list[tuple[dict[str, Any], str, Any]] = []
    told = _told(entries[::-1], wanted)
    if wanted:
        _fill_in(wanted)
    told[-1].pop("span", None)  # it is about to begin its line: nothing in it has failed
    return told


def _frames(
    tb: TracebackType | None, wanted: list[tuple[dict[str, Any], str, Any]] | None
) -> list[dict[str, Any]]:
    entries = []
    while tb is not None:
        entries.append((tb.tb_frame, tb.tb_lineno, tb.tb_lasti))
        tb = tb.tb_next
    return _told(entries, wanted)


def _told(
    entries: list[tuple[FrameType, int, int]],
    wanted: list[tuple[dict[str, Any], str, Any]] | None,
) -> list[dict[str, Any]]:
    left_out = max(0, len(entries) - FIRST - LAST)
    if left_out:
        entries = entries[:FIRST] + entries[-LAST:]
    frames = [frame_of(frame, line, last) for frame, line, last in entries]
    if left_out:
        frames[FIRST]["left_out_before"] = left_out
    with_locals = [n for n, frame in enumerate(frames) if frame["owner"] == "user"]
    if wanted is None or asked.order.get("brief"):
        return frames  # one of many tries: nobody will look at the values
    for n in with_locals[-FRAMES_WITH_LOCALS:]:
        add_source(frames[n])
        _want_locals(frames[n], entries[n][0], wanted)
    return frames


def frame_of(frame: FrameType, line: int, lasti: int) -> dict[str, Any]:
    """One line of a traceback: where it is and whose."""
    code = frame.f_code
    about: dict[str, Any] = {
        "file": file_of(code),
        "line": line,
        "name": code.co_name,
        "qualname": getattr(code, "co_qualname", code.co_name),
        "class": _class_of(frame),
        "module": str(frame.f_globals.get("__name__", "")),
        "owner": owner.of(code.co_filename),
    }
    span = span_of(code, lasti)
    if span:
        about["span"] = span
    return about


def file_of(code: CodeType) -> str:
    """The whole path, but for what is no file."""
    name = code.co_filename
    return name if name.startswith("<") else os.path.abspath(name)


def _class_of(frame: FrameType) -> str:
    """The class a method belongs to, without the functions that class was made in."""
    code = frame.f_code
    if sys.version_info >= (3, 11):
        return code.co_qualname.rpartition("<locals>.")[2].rpartition(".")[0].rpartition(".")[2]
    if not code.co_argcount:
        return ""
    # Before 3.11 the name has to be found: by the class of the first argument that has this code.
    first = frame.f_locals.get(code.co_varnames[0])
    classes = objects.classes_of(first)
    for cls in objects.classes_below(first) if type in classes else classes:
        member = objects.members_of(cls).get(code.co_name)
        if type(member) in (classmethod, staticmethod):
            member = member.__func__
        elif type(member) is property:
            member = member.fget
        if getattr(member, "__code__", None) is code:
            return objects.name_of(cls)
    return ""


def span_of(code: CodeType, lasti: int) -> list[int] | None:
    """First and last line and column of the failing expression, where Python knows them."""
    if sys.version_info >= (3, 11):
        from itertools import islice

        for position in islice(code.co_positions(), lasti // 2, lasti // 2 + 1):
            if None not in position:
                return [int(number) for number in position if number is not None]
    return None


def add_source(frame: dict[str, Any]) -> None:
    """Keep the lines around, as they are on disk now: the file may be edited any second."""
    try:
        with open(frame["file"], "rb") as file:
            data = file.read(5_000_000)
    except OSError:
        return
    first = max(1, frame["line"] - CONTEXT)
    lines = data.split(b"\n")[first - 1 : frame["line"] + CONTEXT]
    frame["source"] = {
        "first": first,
        "lines": [line.decode("utf-8", "replace").rstrip("\r")[:300] for line in lines],
    }


def _want_locals(
    frame: dict[str, Any], real: FrameType, wanted: list[tuple[dict[str, Any], str, Any]]
) -> None:
    found: dict[str, str] = {}
    frame["locals"] = found
    at_top = real.f_code.co_name == "<module>"
    try:
        names = dict(real.f_locals)
    except BaseException:  # a class body may have any mapping as its namespace
        return
    for name, value in names.items():
        if len(found) == LOCALS:
            break
        if type(name) is not str or _is_noise(name, value, at_top):
            continue
        found[name] = ""
        wanted.append((found, name, value))


def _is_noise(name: str, value: Any, at_top: bool) -> bool:
    """Imports and definitions fill a module's namespace and say nothing."""
    if name[:1] in (".", "@") or (name.startswith("__") and name.endswith("__")):
        return True
    if type(value) is type(sys):
        return True
    return at_top and (type(value) is type or type(value) is type(_is_noise))
