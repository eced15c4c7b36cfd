"""`which` as text and as JSON."""

from __future__ import annotations

import os
import shlex

from zeroin.fronts import words
from zeroin.fronts.files_text import short
from zeroin.tools.which.verdict import is_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.tools.which.report import Copy, Reached, Which

MOST = 12  # classes and stack lines that are shown
COPIES = 5
NAMES = 4  # functions that are named
DAY = 86400


def lines(found: Which, paint: Paint, *, everything: bool) -> list[str]:
    """The verdict first, then what it rests on."""
    most = 10**6 if everything else MOST
    out = [verdict(found, paint)]
    if found.mend:
        out.append(f"  to mend: {found.mend}")
    elif found.why == "import-error":
        out.append(f"  see it: {shlex.quote(found.python.executable)} -c 'import {found.module}'")
    elif found.why == "other-copy" and found.how in ("builtin", "frozen", "standard library"):
        out.append(f"  rename it: {_python(found)} has its own {found.module}, which comes first")
    elif found.why == "other-copy":
        out.append(f"  edit that one: {_place(found.file, 0)}")
    out += _about(found, paint)
    out += _definitions(found, paint)
    out += _reached(found, paint, most)
    out += _chain(found, paint)
    out += _order(found, paint, most)
    out += _others(found, paint, 10**6 if everything else COPIES)
    return out


# --- the first line ----------------------------------------------------------------------------


def verdict(found: Which, paint: Paint) -> str:
    """One sentence."""
    sentence = _no(found) if found.verdict == "no" else _loads(found)
    colour = {"yes": "green", "no": "red"}.get(found.verdict, "bold")
    head = f"{found.verdict}: " if found.verdict else ""
    return paint(head, colour) + words.clean(sentence)


def _loads(found: Which) -> str:
    about = _in_brackets(found)
    where = _place(found.file, found.line)
    if found.reached is not None:
        return _command_loads(found, where, about)
    if found.kind == "command":
        return f"{found.name} is the command {where}"
    if not found.file:
        if found.kind == "namespace":
            return f"{found.module} is a namespace package{about}"
        what = "built into" if found.how == "builtin" else "frozen into"
        if found.how in ("builtin", "frozen"):
            return f"{found.name} is {what} {_python(found)}"
        return f"{found.name} is in no file of Python's: compiled{about}"
    verb = "runs" if found.verdict == "yes" else "loads"
    return f"{_python(found)} {verb} {where}{about}"


def _command_loads(found: Which, where: str, about: str) -> str:
    reached = found.reached
    if found.why == "not-watched":
        why = reached.refused if reached is not None else ""
        return (
            f"the command loads {found.module}{about}; whether it gets to {found.name} can't be "
            f"told: {why or 'that is compiled'}"
        )
    runs = reached is not None and reached.line
    return f"the command {'runs' if runs else 'loads'} {where or found.module}{about}"


def _no(found: Which) -> str:
    asked = short(found.asked)
    where = _place(found.file, found.line)
    about = _in_brackets(found)
    if found.why in ("other-reached", "other-loaded"):
        where = _place(found.file, found.reached.line if found.reached else 0)
    if found.why == "other-copy":
        copy = {"installed": "the installed copy ", "editable": "the editable copy "}
        real = os.path.realpath(found.asked)
        said = next((one for one in found.others if os.path.realpath(one.file) == real), None)
        same = ", the same text so far" if said is not None and said.comparison.same else ""
        of = _in_brackets(found, how="")
        loads = (
            f"loads {copy.get(found.how, '')}{where}" if where else f"has {found.module} built in"
        )
        return f"{_python(found)} {loads}{of}; edits in {asked} are not run{same}"
    if found.why == "not-importable":
        name = f" as {found.module}" if found.module else ""
        because = "its folder is not on the path"
        if not is_name(found.module):
            name, because = "", "that is no name for a module, it can only be run"
        return f"{_python(found)} can't import {asked}{name}: {because}"
    if found.why == "import-error" and found.error is not None:
        at = _place(found.error["file"], found.error["line"]) if found.error["file"] else ""
        from_ = f" (at {at})" if at else ""
        place = f"; it is written at {where}" if found.line else f"; it would load {where}"
        return f"{_python(found)} can't import {found.module}: {found.error['text']}{from_}{place}"
    if found.why == "replaced" and found.replaced is not None:
        written = _place(found.replaced["file"], found.replaced["line"])
        return f"it is written at {written}, but replaced by {where}"
    if found.why == "stale" and found.stale is not None:
        return (
            f"{where} is not what runs: {_python(found)} takes the bytecode "
            f"{short(found.stale['file'])}, which is of another text"
        )
    return _not_reached(found, where, about)


def _not_reached(found: Which, where: str, about: str) -> str:
    asked = short(found.asked)
    if found.why == "other-reached":
        return f"the command runs {where}; edits in {asked} are not run"
    if found.why == "other-loaded":
        return f"the command loads {where}; edits in {asked} are not run"
    if found.why == "not-heard":
        return (
            f"no Python of the command could be asked whether it loads {asked or found.module}: "
            "it runs none, "
            "or one that ignores PYTHONPATH (-I, -E) or changes it"
        )
    if found.why == "not-loaded":
        return f"the command never loads {asked or found.module}{about}"
    if found.reached is not None and found.reached.before and not found.line:
        return f"the command never imports {found.name}, which is loaded before it begins"
    return f"the command loads {asked}{about}, but never gets to {found.name}"


def _in_brackets(found: Which, how: str | None = None) -> str:
    how = found.how if how is None else how
    parts = [how] if how not in ("", "path", "builtin", "frozen") else []
    if found.dist is not None and found.dist.name:
        parts.append(f"{found.dist.name} {found.dist.version}".strip())
    return f" ({', '.join(parts)})" if parts else ""


def _python(found: Which) -> str:
    return os.path.basename(found.python.executable)


def _place(file: str, line: int) -> str:
    shown = words.clean(short(file))
    return f"{shown}:{line}" if line else shown


# --- what it rests on --------------------------------------------------------------------------


def _about(found: Which, paint: Paint) -> list[str]:
    python = found.python
    rows = [("python", f"{words.tilde(python.executable)} {python.version} ({python.why})")]
    if python.on_path:
        rows.append(("", f"plain `python` is another one: {words.tilde(python.on_path)}"))
    if found.kind not in ("module", "package", "namespace", "command") or found.defined:
        what = found.defined or found.name
        rows.append((found.kind, what))
    elif found.module and found.module != found.name:
        rows.append(("module", found.module))
    rows += [("wrapped by", _layer(one)) for one in found.layers]
    if found.replaced is not None and found.replaced["by"] == "decorator":
        written = _place(found.replaced["file"], found.replaced["line"])
        rows.append(("written at", f"{written}, under a decorator that hides it"))
    rows += [("portion", short(one)) for one in found.portions]
    if found.dist is not None and found.dist.source and not found.dist.editable:
        rows.append(("installed", f"as a copy of {words.tilde(found.dist.source)}"))
    if found.stale is not None:
        rows.append(("bytecode", _stale(found)))
    home = os.path.join(os.path.expanduser("~"), "")
    rows += [("note", one.replace(home, "~/")) for one in found.notes]
    return [f"  {paint(f'{name:<11}', 'dim')} {words.clean(text)}" for name, text in rows]


def _layer(layer: dict[str, Any]) -> str:
    place = f"  {_place(layer['file'], layer['line'])}" if layer["file"] else ""
    return f"{layer['name']}{place}"


def _stale(found: Which) -> str:
    stale = found.stale or {}
    why = {
        "unchecked": "it is marked as never to be checked against the source",
        "stamp": "it has the time and size of the source, but not its text",
    }[stale["why"]]
    path = stale["file"]
    quoted = shlex.quote(short(path) if not short(path).startswith("~") else path)
    return f"{short(path)}: {why}; remove it: rm {quoted}"


def _chain(found: Which, paint: Paint) -> list[str]:
    if not found.chain:
        return []
    out = [paint("definitions, in the order of the classes", "bold")]
    for number, one in enumerate(found.chain):
        word = "called" if not number else ("by super()" if one["called"] else "not called")
        where = _place(one["file"], one["line"]) if one["file"] else "compiled"
        layers = "".join(f", in {layer['name']}" for layer in one["layers"])
        calls = ", calls super()" if one["super"] else ""
        row = f"  {word:<11} {one['class']}  {where}{layers}{calls}"
        out.append(row if one["called"] else paint(row, "dim"))
    return out


def _order(found: Which, paint: Paint, most: int) -> list[str]:
    if not found.mro or found.chain:
        return []
    out = [paint("method resolution order", "bold")]
    for number, one in enumerate(found.mro[:most], 1):
        where = _place(one["file"], one["line"]) if one["file"] else "compiled"
        out.append(f"  {number:>2} {one['class']}  {where}")
        out += [f"       {line}" for line in _overrides(one["overrides"])]
    if len(found.mro) > most:
        out.append(paint(f"  {len(found.mro) - most} more: --all", "dim"))
    return out


def _overrides(overrides: list[dict[str, str]]) -> list[str]:
    by: dict[str, list[str]] = {}
    for one in overrides:
        by.setdefault(one["of"], []).append(one["name"])
    return [f"overrides {_some(names, 8)} of {kind}" for kind, names in by.items()]


def _some(names: list[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# --- other copies ------------------------------------------------------------------------------


def _others(found: Which, paint: Paint, most: int) -> list[str]:
    if not found.others:
        return []
    shadows = any(note.startswith("it shadows") for note in found.notes)
    out = [paint("other copies" if not shadows else "others of that name", "bold")]
    for copy in found.others[:most]:
        out.append(f"  {words.clean(short(copy.file))}")
        if not shadows:  # they are no copies, and differ in everything
            compared = f": {_compared(copy)}" if found.file else ""
            out.append(paint(f"      {words.clean(_copy(copy))}{compared}", "dim"))
    if len(found.others) > most:
        out.append(paint(f"  {len(found.others) - most} more: --all", "dim"))
    return out


def _copy(copy: Copy) -> str:
    where = {
        "path": f"later on the path ({short(copy.of)})",
        "beside": "beside it",
        "checkout": "in the project",
        "worktree": f"another checkout, {words.tilde(copy.of)}",
        "build": "left by a build",
        "environment": f"in {short(copy.of)}",
    }[copy.where]
    dist = f", {copy.dist.name} {copy.dist.version}" if copy.dist and copy.dist.name else ""
    return f"{where}{dist}"


def _compared(copy: Copy) -> str:
    how = copy.comparison
    if how.same is None:
        return "can't be read"
    if how.same:
        return "same"
    count = len(how.differs)
    parts = []
    if count:
        parts.append(f"{count} function{'s' * (count > 1)} ({_some(list(how.differs), NAMES)})")
    if how.elsewhere:
        parts.append("statements outside of functions")
    what = "differs in " + " and ".join(parts) if parts else "differs"
    return f"{what}, {_age(how.older_by)}"


def _age(older: float) -> str:
    seconds = abs(older)
    if seconds < 1:
        return "of the same time"
    word = "older" if older > 0 else "newer"
    if seconds < 2 * DAY:
        return f"{word} by {words.seconds(seconds)}"
    return f"{word} by {int(seconds // DAY)} days"


# --- proven by running -------------------------------------------------------------------------


def _reached(found: Which, paint: Paint, most: int) -> list[str]:
    reached = found.reached
    if reached is None:
        return []
    if not reached.reached:
        code = reached.exit_code
        return [f"  the command ended with exit code {code}"] if code else []
    times = f", {reached.times} times in all" if reached.times > 1 else ""
    out = [paint(f"reached by{times}", "bold")]
    shown = reached.stack[-most:]
    if len(reached.stack) > most:
        out.append(paint(f"  {len(reached.stack) - most} frames above: --all", "dim"))
    out += [f"  {_place(one['file'], one['line'])} in {one['name']}" for one in shown]
    return out


def _definitions(found: Which, paint: Paint) -> list[str]:
    """Several of one name in the file: which of them it is."""
    if not found.definitions:
        return []
    stopped = found.reached is not None and found.reached.exit_code is None
    out = [paint(f"defined {len(found.definitions)} times in {short(found.file)}", "bold")]
    for one in found.definitions:
        times = one["times"]
        if times is None:
            note = "what the name is after the import" if one["line"] == found.line else ""
        elif times and stopped:
            note = "reached first; the others were not waited for: --no-stop"
        else:
            note = f"reached {times} times" if times > 1 else "reached once" if times else "never"
            note = "" if stopped else note
        out.append(f"  line {one['line']:<5} {note}".rstrip())
    return out


def as_json(found: Which) -> dict[str, Any]:
    """One object."""
    from zeroin.fronts import report_json

    dist = found.dist
    return {
        "schema": report_json.SCHEMA,
        "name": found.name,
        "verdict": found.verdict or None,
        "why": found.why or None,
        "kind": found.kind,
        "file": found.file or None,
        "line": found.line or None,
        "module": found.module or None,
        "defined": found.defined or None,
        "how": found.how or None,
        "editable": found.how == "editable",
        "distribution": dist.name if dist else None,
        "version": dist.version if dist else None,
        "asked": found.asked or None,
        "mend": found.mend or None,
        "python": found.python._asdict(),
        "stale": found.stale["file"] if found.stale else None,
        "notes": found.notes,
        "portions": found.portions,
        "others": [_copy_json(one) for one in found.others],
        "mro": found.mro,
        "chain": found.chain,
        "layers": found.layers,
        "replaced": found.replaced,
        "error": found.error,
        "reached": _reached_json(found.reached),
        "definitions": list(found.definitions),
    }


def _copy_json(copy: Copy) -> dict[str, Any]:
    return {
        "file": copy.file,
        "where": copy.where,
        "of": copy.of,
        "distribution": copy.dist.name if copy.dist else None,
        "version": copy.dist.version if copy.dist else None,
        "same": copy.comparison.same,
        "differs": list(copy.comparison.differs),
        "older_by": round(copy.comparison.older_by, 3),
    }


def _reached_json(reached: Reached | None) -> dict[str, Any] | None:
    return reached._asdict() if reached is not None else None
