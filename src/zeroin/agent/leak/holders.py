"""By which names something is held: the way from an object up to a module, a class or a frame."""

from __future__ import annotations

import gc
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEP = 12  # holders above one another
WIDE = 40  # holders of one object that are looked at
MOST = 150  # objects asked for their holders in all
_OURS = "_zeroin_agent"


def is_a(thing: Any, kind: Any) -> bool:
    """By its real type: `isinstance` asks the object as well, and that may run anything."""
    return issubclass(type(thing), kind)


def names_of(thing: Any) -> dict[str, Any]:
    """Its attributes, read without asking it."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except Exception:
        return {}
    return found if type(found) is dict else {}


def way(thing: Any, ignore: set[int]) -> list[str]:
    """From the root to the thing, in words: ["module __main__", "history"]; [] if none is found.

    Breadth first, so it is a shortest way. `ignore` are ids of objects of ours.
    """
    modules = _modules()
    queue: list[Any] = [_Step(thing, [], {id(thing)})]
    seen = {id(thing), id(queue), *ignore}
    asked = 0
    # The variable of a running function is the last answer: it may be one of many names.
    local: list[str] = []
    while queue and asked < MOST:
        step = queue.pop(0)
        if len(step.words) > DEEP:
            continue
        asked += 1
        if not local:
            found = _local(step.thing)
            local = [*found, *step.words] if found else []
        for holder in _holders(step.thing, seen):
            seen.add(id(holder))
            root = _root(holder, step.thing, modules)
            if root:
                return [*root, *step.words]
            word = _edge(holder, step)
            words = [word, *step.words] if word else step.words
            if word.startswith("a default") and words[1:2] == ["[…]"]:
                del words[1]  # the tuple of defaults
            queue.append(_Step(holder, words, {*step.path, id(holder)}))
    return local


class _Step:
    """An object on the way, how it leads to the thing, and the ids of all between."""

    __slots__ = ("path", "thing", "words")

    def __init__(self, thing: Any, words: list[str], path: set[int]) -> None:
        self.thing = thing
        self.words = words
        self.path = path


def _local(one: Any) -> list[str]:
    """A variable of a function that is running: newer Pythons have no object for its frame."""
    for frame in list(sys._current_frames().values()):
        above: Any = frame
        while above is not None:
            inside = above.f_globals.get("__name__", "")
            if not inside.startswith(_OURS) and above.f_code.co_name != "<module>":
                for name, value in list(above.f_locals.items()):
                    if value is one:
                        return [f"local of {above.f_code.co_name}()", name]
            above = above.f_back
    return []


def _holders(one: Any, seen: set[int]) -> list[Any]:
    found: list[Any] = []
    for holder in gc.get_referrers(one):
        if id(holder) in seen or is_a(holder, _Step):
            continue
        is_frame = is_a(holder, types.FrameType)
        if is_frame and holder.f_globals.get("__name__", "").startswith(_OURS):
            continue
        found.append(holder)
        if len(found) == WIDE:
            break
    if type(one) is dict and not gc.is_tracked(one):
        found += [fn for fn in _defaults_with(one) if id(fn) not in seen]
    # Names first, then what is a value among many.
    return sorted(found, key=lambda h: not is_a(h, (dict, types.FrameType, type)))


def _defaults_with(one: Any) -> list[Any]:
    """Functions that have it as a default: the collector does not see into that tuple."""
    functions = [fn for fn in gc.get_objects() if is_a(fn, types.FunctionType)]
    return [fn for fn in functions if any(value is one for value in fn.__defaults__ or ())]


def _modules() -> dict[int, str]:
    """The namespaces of modules, by id."""
    found: dict[int, str] = {}
    for name, module in list(sys.modules.items()):
        names = names_of(module)
        if names:
            found.setdefault(id(names), str(name))  # __main__ may have other names
    return found


def _root(holder: Any, one: Any, modules: dict[int, str]) -> list[str]:
    """Where a way begins: a name in a module, or a class."""
    if id(holder) in modules:
        return [f"module {modules[id(holder)]}", _key(holder, one)]
    if is_a(holder, type):
        called = f"class {holder.__module__}.{holder.__qualname__}"
        if type(one) is dict and "__module__" in one:  # its own namespace
            return [called]
        for name, value in list(vars(holder).items()):
            if value is one:
                return [called, f"[{name!r}]"]
    return []


def _key(mapping: dict[Any, Any], one: Any, *, quoted: bool = False) -> str:
    for key, value in list(mapping.items()):
        if value is one:
            return (repr(key) if quoted else key) if type(key) is str else _short(key)
    return "a key"


def _edge(holder: Any, step: _Step) -> str:
    """How a holder leads to what it holds."""
    one = step.thing
    if is_a(holder, dict):
        return f"[{_key(holder, one, quoted=True)}]"
    if is_a(holder, types.FunctionType):
        names = zip(holder.__code__.co_freevars, holder.__closure__ or ())
        if any(value is one for value in holder.__defaults__ or ()) or one is holder.__defaults__:
            return f"a default of {holder.__qualname__}()"
        held = [name for name, cell in names if id(cell) in step.path]
        name = f"{held[0]!r} " if held else ""
        return f"{name}in the closure of {holder.__qualname__}()"
    if is_a(holder, types.FrameType):  # one that has ended, and is kept by a traceback
        held = [name for name, value in list(holder.f_locals.items()) if value is one]
        return f"{held[0]} in {holder.f_code.co_name}()" if held else ""
    if is_a(holder, types.TracebackType):
        return "" if is_a(one, types.TracebackType) else "a frame of the traceback"
    if is_a(holder, (types.CellType, types.MethodType)):
        return ""
    if is_a(holder, tuple) and is_a(one, types.CellType):
        return ""
    if type(holder).__name__ == "_lru_cache_wrapper":
        return "lru_cache of " + str(names_of(holder).get("__qualname__", "a function")) + "()"
    if is_a(holder, (list, tuple)):
        return "[…]"
    for name, value in list(names_of(holder).items()):
        if value is one:
            return f".{name} of a {type(holder).__name__}"
    return f"in a {type(holder).__name__}"


def _short(key: Any) -> str:
    return f"({type(key).__name__})" if not is_a(key, (int, float)) else repr(key)
