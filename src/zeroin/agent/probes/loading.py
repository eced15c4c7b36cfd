"""Files are loaded: the probes that are for them are put in, where they are to stand."""

from __future__ import annotations

import atexit
import sys

from .. import hooks, rewrite
from . import hit, insert, matching, places, tally
from .asked import Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 10  # other files of the same name that are told
NEAR = 3  # names like the one that is not there

_probes: list[Probe] = []  # of this process


def begin(asked: list[Any], folder: str) -> None:
    """Take what is asked for, and stand where files are loaded."""
    tally.begin(folder, len(asked))
    _probes[:] = [Probe(one, number) for number, one in enumerate(asked)]
    for probe in _probes:  # `os.path` is another name of `posixpath`
        known = getattr(sys.modules.get(probe.module), "__name__", None)
        probe.module = known if type(known) is str else probe.module
    rewrite.add(_wanted, _change)
    for name in {probe.module for probe in _probes} - {""}:
        _listen(name)
    atexit.register(_tell_refused)
    if any(probe.wants.get("pdb") for probe in _probes):
        from .. import debugger

        debugger.remember_terminal()


def _listen(name: str) -> None:
    """See a module when it is loaded; or its package, which may only have given it that name."""
    hooks.on_import({name: lambda module: _look_into(module, name)})
    package = name.rpartition(".")[0]
    if package:
        hooks.on_import({package: lambda _: _look_for_alias(name)})


def _tell_refused() -> None:
    """Say at the end which files could not be changed, and that a program came from no file."""
    if sys.argv[:1] in ([""], ["-"]):
        for probe in _probes:
            probe.tell("no-file")
    for path, reason in rewrite.list_refusals().items():
        for probe in _probes:
            if matching.is_for(probe.file, probe.part, probe.module, path) and not probe.stands:
                probe.tell("refused", file=path, reason=reason)


def _wanted(path: str) -> bool:
    found = False
    for probe in _probes:
        if matching.is_for(probe.file, probe.part, probe.module, path):
            found = True
        elif matching.has_its_name(probe.file, probe.module, path) and probe.others < MOST:
            probe.others += 1
            probe.tell("other", file=path)
    return found


def _change(path: str, source: bytes, tree: Any) -> Any:
    """Put all probes of a file in: those further down first, as the lines move no others."""
    text = source.decode("utf-8", "replace").splitlines()
    put = []
    for probe in sorted(_probes, key=_comes_late):
        if not matching.is_for(probe.file, probe.part, probe.module, path):
            continue
        probe.may_be_ours = hit.is_stdlib(path)
        if probe.function:
            put += _for_function(probe, path, tree)
        else:
            put += _for_line(probe, path, tree, text)
    for one in put:  # all places are found by now, so nothing new is in their way
        one()
    return tree if put else None


def _comes_late(probe: Probe) -> bool:
    """Where several stand at one place, the one that ends the process has to be the last.

    Calls before a line are done in the order in which they are put there; those at the beginning
    of a function the other way round.
    """
    return bool(probe.wants.get("die")) is not bool(probe.function)


def _for_line(probe: Probe, path: str, tree: Any, text: list[str]) -> list[Any]:
    spot = places.at_line(tree, text, probe.line, probe.names)
    if spot is None:
        near = places.lines_near(tree, probe.line)
        beside = [[line, text[line - 1].strip()[:100]] for line in near if line <= len(text)]
        probe.tell("no-code", file=path, lines=len(text), near=beside)
        return []
    statement = spot.statement
    probe.understand(spot.around)
    about = {"file": path, "line": places.first_line(statement), "function": spot.qualname}
    if isinstance(statement, places.DEFINITIONS):
        about["defines"] = ".".join([*(one.name for one in spot.around), statement.name])
    probe.stands = True
    probe.tell("placed", **about)
    call, when = _calls(probe, spot.qualname, spot.function, is_part=insert.is_part(spot))
    put = [lambda: _stand(spot, statement, lambda: insert.before(spot, call, probe.names, when))]
    if spot.function is not None:
        function = spot.function
        put.append(lambda: insert.count_calls(function, probe.called.step))
    return put


def _stand(spot: places.Spot, statement: Any, put: Any) -> None:
    """Others may have put calls into the block meanwhile."""
    spot.index = next(at for at, one in enumerate(spot.block) if one is statement)
    put()


def _calls(probe: Probe, name: str, function: Any, *, is_part: bool) -> Any:
    """What is called, and the condition, where that can be written into the code."""
    if is_part:
        return hit.on_part(probe, name), None
    text = probe.texts["if"]
    # Where somebody has to look who calls, there is no use in a quick condition.
    looks = probe.may_be_ours or probe.owner is not None
    if not text or looks or not insert.can_hold_condition(function, places.names_in(text)):
        return hit.on_line(probe, name), None
    count, raised = hit.counting(probe, name), hit.condition_raised(probe, name)
    return hit.on_met(probe, name), insert.When(text, count, raised)


def _for_function(probe: Probe, path: str, tree: Any) -> list[Any]:
    every = places.functions(tree)
    found = every.get(probe.function, [])
    if probe.function in places.classes(tree) and not found:
        probe.tell("refused", reason=f"it is a class; name a method: {probe.function}.__init__")
        return []
    if not found:
        # A module may have it from elsewhere: that is seen once it has been loaded.
        probe.tell("no-function", file=path, near=near_names(probe.function, list(every)))
        return []
    put = []
    for around in found:
        node = around[-1]
        probe.understand(around)
        probe.tell("placed", file=path, line=node.lineno, function=probe.function)
        put.append(_function_call(probe, node, probe.function))
    probe.stands = True
    return put


def _function_call(probe: Probe, node: Any, name: str) -> Any:
    if probe.at_return:
        return lambda: insert.returning(node, hit.on_return(probe, name))
    is_part = not isinstance(node, places.FUNCTIONS)
    call, when = _calls(probe, name, None if is_part else node, is_part=is_part)
    return lambda: insert.entry(node, call, probe.names, when)


def near_names(wanted: str, names: list[str]) -> list[str]:
    """Names like the one that is wanted; of its last part, if nothing else is near."""
    from difflib import get_close_matches

    last = wanted.rpartition(".")[2]
    found = get_close_matches(wanted, names, NEAR)
    found += [name for name in names if name.rpartition(".")[2] == last]
    return list(dict.fromkeys(found))[:NEAR]


# --- functions that a module has from elsewhere ---------------------------------------------------


def _look_into(module: Any, name: str) -> None:
    """A module was loaded whose file does not define the function: it may have it from another."""
    for probe in [one for one in _probes if one.module == name and one.function]:
        if not probe.stands:
            reason = _follow(probe, module)
            if reason:
                probe.tell("refused", reason=reason)


def _look_for_alias(name: str) -> None:
    """A package may have given a module of its own a second name: that is no import."""
    if name in sys.modules:
        _look_into(sys.modules[name], name)


def _follow(probe: Probe, module: Any) -> str:
    """Stand in the file that defines what the module calls so; else, why not."""
    thing, owner = module, None
    for name in probe.function.split("."):
        if isinstance(thing, type):
            owner = thing
        try:
            thing = getattr(thing, name)
        except Exception:
            known = list(getattr(module, "__dict__", ()))
            if owner is not None:
                known = [f"{owner.__name__}.{one}" for one in dir(owner)]
            probe.tell("no-function", file="", near=near_names(probe.function, known))
            return ""
    function = _plain(thing)
    if function is None:
        if isinstance(thing, type):
            return f"it is a class; name a method: {probe.function}.__init__"
        return "it is written in C, so there is no line to stop at; name the line that calls it"
    code = function.__code__
    path = rewrite.real(_file_of(function))
    qualname = function.__qualname__.replace("<locals>.", "")
    if owner is not None and qualname != f"{owner.__qualname__}.{code.co_name}":
        probe.owner = owner
    probe.module, probe.function, probe.file, probe.part = "", qualname, path, False
    rewrite.again(path)
    return "" if probe.stands else f"its source is not there: {path}"


def _plain(thing: Any) -> Any:
    """The function with code that is behind a method, a property or a decorator."""
    for _ in range(10):
        if isinstance(thing, property):
            thing = thing.fget
        inner = getattr(thing, "__wrapped__", None) or getattr(thing, "__func__", None)
        if inner is None:
            break
        thing = inner
    return thing if type(thing) is type(_plain) else None


def _file_of(function: Any) -> str:
    name: str = function.__code__.co_filename
    if name.startswith("<frozen"):  # its module may go by another name, as `collections.abc`
        return str(function.__globals__.get("__file__") or name)
    return name
