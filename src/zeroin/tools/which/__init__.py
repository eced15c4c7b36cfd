"""`which`: the file, class or method that a name really is, and every other copy of it."""

from __future__ import annotations

import os
from difflib import get_close_matches

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.observe.which import dists, folders
from zeroin.run import inside
from zeroin.tools.which import about, question
from zeroin.tools.which.others import Others
from zeroin.tools.which.pythons import Choice, choose
from zeroin.tools.which.report import Interpreter, Which
from zeroin.tools.which.verdict import judged, mended

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

PART = "which.script"
SECONDS = 60.0


class Asking(NamedTuple):
    """Where from, and with what."""

    cwd: str
    root: str
    env: Mapping[str, str]
    choice: Choice
    seconds: float

    def ask(self, order: dict[str, Any]) -> dict[str, Any]:
        """The interpreter's answer."""
        python = self.choice.executable
        return inside.ask(python, PART, order, self.cwd, self.env, self.seconds)


def which(
    text: str,
    cwd: str,
    env: Mapping[str, str],
    *,
    python: str | None = None,
    command: Sequence[str] = (),
    seconds: float = SECONDS,
) -> Which:
    """What NAME is, without running anything but the imports that it needs."""
    home = env.get("HOME") or os.path.expanduser("~")
    root = folders.project_of(cwd, home)
    choice = choose(python, command, cwd, root, env)
    asking = Asking(cwd, root, env, choice, seconds)
    asked = question.read(text, cwd)
    return _of_file(asked, asking) if asked.file else _of_name(asked, asking)


# --- names -------------------------------------------------------------------------------------


def _of_name(asked: question.Question, asking: Asking) -> Which:
    script = question.command(asked.name, os.path.dirname(asking.choice.executable), asking.env)
    is_name = all(word.isidentifier() for word in asked.name.replace(":", ".").split("."))
    told = asking.ask({"name": asked.name}) if is_name else None
    if told is None or "missing" in told:
        if script is not None:
            return _of_command(asked, script, asking)
        raise _unknown(asked, told, asking)
    if "error" in told:
        raise UsageError(f"{asked.text}: {told['error']['text']}")
    found = _built(asked, told, asking)
    if script is not None and script.python and not found.notes:
        mine = os.path.realpath(os.path.dirname(script.python))
        if mine != os.path.realpath(os.path.dirname(asking.choice.executable)):
            found.notes.append(
                f"the command {asked.name} is of another Python: {script.file} runs {script.python}"
            )
    return found


def _of_command(asked: question.Question, script: question.Command, asking: Asking) -> Which:
    """A console script: what it calls, in the interpreter that it names."""
    if not script.target:
        what = "it is no Python program" if not script.python else "it calls no single function"
        note = f"{what}; and {asking.choice.executable} has no module {asked.name}"
        return _bare(asked, asking, script.file, note)
    choice = Choice(script.python, f"named in {script.file}")
    found = _of_name(asked._replace(name=script.target), asking._replace(choice=choice))
    found.notes.insert(0, f"{asked.text} is the command {script.file}, which calls {script.target}")
    defined = found.defined or script.target.replace(":", ".")
    return found._replace(name=asked.text, defined=defined)


def _bare(asked: question.Question, asking: Asking, file: str, note: str) -> Which:
    choice = asking.choice
    python = Interpreter(choice.executable, "", choice.why, choice.on_path, "")
    return Which(
        asked.text, python, "command", file, 0, "", "on PATH", None, "", "", "", "", "",
        [], [], [note], None, [], [], [], None, None,
    )  # fmt: skip


def _unknown(asked: question.Question, told: dict[str, Any] | None, asking: Asking) -> UsageError:
    """Not found: with names that are nearly the same, or the module of a distribution."""
    python = asking.choice.executable
    sites = [
        one for one in (told or asking.ask({"files": []}))["python"]["path"] if dists.is_site(one)
    ]
    dist = dists.named(asked.name, sites)
    if dist is not None and dist[1]:
        modules = [one for one in dist[1] if not one.startswith("_")] or dist[1]
        return UsageError(
            f"{asked.text} is the name of a distribution ({dist[0].name} {dist[0].version}), "
            f"not of a module",
            hint=f"its modules: {', '.join(modules[:8])}; zeroin which {modules[0]}",
        )
    if told is None:
        return UsageError(
            f"{asked.text}: no module, class, function, file or command has such a name",
            hint="zeroin which package.module.Class, or zeroin which src/package/module.py",
        )
    missing, holder = told["missing"], told.get("holder")
    what = f"{holder} has no {missing}" if holder else f"{python} finds no module {missing}"
    near = get_close_matches(missing, told["near"], 3, 0.7)
    before = asked.name.partition(missing)[0] if holder else ""
    rest = asked.name.partition(missing)[2]
    if near:
        hint = f"did you mean: zeroin which {before}{near[0]}{rest if not holder else ''}"
        hint += f" (or {', '.join(near[1:])})" if near[1:] else ""
    elif told.get("left"):
        hint = f"only its bytecode is left: {told['left']}"
    elif holder:
        module, inside = told["located"]["module"], before.replace(":", ".").rstrip(".")
        hint = f"see what it has: {python} -c 'import {module}; print(dir({inside}))'"
    else:
        hint = "another environment may have it: name its interpreter with --python"
    return UsageError(f"{asked.text}: {what}", hint=hint)


def _built(asked: question.Question, told: dict[str, Any], asking: Asking) -> Which:
    """The report, once the interpreter has said what it is."""
    located, inner = told["located"], told["object"]
    file, line, kind, module = located["file"], 0, located["kind"], located["module"]
    if inner is not None:
        kind, line = inner["kind"], inner["line"]
        file = inner["file"] or (file if kind == "value" else "")
        if told["home"] is not None:
            located = told["home"]
            module = located["module"]
        elif inner["file"] and inner["file"] != located["file"]:  # code of no module: a <string>
            located = {**located, "elsewhere": [], "beside": [], "stale": None}
    elif told.get("import"):
        line = told.get("written", 0)
    python = _interpreter(told, asking)
    how, dist = about.how(located, file, told["python"], asking)
    others = Others(asking.cwd, asking.root, asking.env).of(located, told["python"])
    found = Which(
        asked.text, python, kind, file, line, module, how, dist, "", "", "", "",
        _real_name(asked, inner, module),
        others, located["portions"], about.notes(located, told, how),
        located["stale"],
        inner["mro"] if inner else [],
        inner["chain"] if inner else [],
        inner["layers"] if inner else [],
        inner["replaced"] if inner else None,
        told["import"],
    )  # fmt: skip
    return judged(found, asking)


def _real_name(asked: question.Question, inner: dict[str, Any] | None, module: str) -> str:
    """Where the name was only taken over: pandas.DataFrame is pandas.core.frame.DataFrame."""
    if inner is None or not inner["qualname"] or inner["kind"] == "value":
        return ""
    name = f"{module}.{inner['qualname']}" if inner["kind"] != "module" else module
    return name if name != asked.name.replace(":", ".") else ""


def _interpreter(told: dict[str, Any], asking: Asking) -> Interpreter:
    python, choice = told["python"], asking.choice
    return Interpreter(
        choice.executable, python["version"], choice.why, choice.on_path, python["prefix"]
    )


# --- files -------------------------------------------------------------------------------------


def _of_file(asked: question.Question, asking: Asking) -> Which:
    """Under which name that interpreter would load it, if it does."""
    if not os.path.isfile(asked.file):
        raise UsageError(f"{asked.text}: no such file", hint=_near_file(asked.file))
    if not question.is_python(asked.file):
        raise UsageError(
            f"{asked.text} is no file that Python would load",
            hint="for a file that a program opens: zeroin files --opened -- COMMAND",
        )
    path = asking.ask({"files": []})["python"]["path"]
    names = question.names_of(asked.file, path)
    told = asking.ask({"files": names})
    candidates = told["candidates"]
    mine = [one for one in candidates if one["located"] and _is(one["located"], asked.file)]
    first = next((one for one in candidates[:1] if one["located"]), None)
    # A package that is found only by the name of a folder above it is not what is meant.
    is_it = mine and (mine[0] is first or not _is_package(asked.file))
    taken = mine[0] if is_it else first
    located = taken["located"] if taken else None
    answer = {
        **told,
        "located": located or _nothing(names),
        "object": None,
        "import": None,
        "home": None,
    }
    found = _built(asked._replace(name=names[0] if names else ""), answer, asking)
    found = found._replace(asked=asked.file, at=asked.line, inside=asked.inside)
    if located is None or not _is(located, asked.file):
        why = "other-copy" if located is not None else "not-importable"
        return mended(found._replace(verdict="no", why=why), asking)
    found = _defined(found, asked, asking)
    if found.stale is not None:
        return found._replace(verdict="no", why="stale")
    return found._replace(verdict="" if found.how == "frozen" else "yes", why="", mend="")


def _defined(found: Which, asked: question.Question, asking: Asking) -> Which:
    """Of several definitions of the name, the one that is left after the import."""
    plain = found._replace(line=asked.line)
    several = question.definitions(asked.file, asked.inside) if asked.inside else []
    if len(several) < 2:
        return plain
    inner = asking.ask({"name": f"{found.module}:{asked.inside}"}).get("object")
    line = inner["line"] if inner is not None and _same(inner["file"], asked.file) else 0
    lines = [{"line": one.line, "times": None} for one in several]
    return plain._replace(line=line, definitions=lines)


def _is(located: dict[str, Any], file: str) -> bool:
    return _same(located["file"], file) if located["file"] else False


def _same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _is_package(file: str) -> bool:
    return os.path.isfile(os.path.join(os.path.dirname(file), "__init__.py"))


def _nothing(names: list[str]) -> dict[str, Any]:
    return {
        "module": names[0] if names else "", "kind": "module", "file": "", "loader": "",
        "portions": [], "archive": "", "stale": None, "beside": [], "elsewhere": [],
    }  # fmt: skip


def _near_file(file: str) -> str:
    folder = os.path.dirname(file)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    near = get_close_matches(os.path.basename(file), names, 1)
    if near:
        return f"did you mean: zeroin which {os.path.join(folder, near[0])}"
    return "" if names else f"there is no folder {folder}"
