"""By which names something is held: the way from an object up to a module, a class or a frame."""

from __future__ import annotations

import gc
import sys
import time
import types

from ..referents import list_referents

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEP = 12  # holders above one another
WIDE = 40  # holders of one object that are looked at
MOST = 150  # objects asked for their holders, for one way
SECONDS = 20.0  # that all ways of one look may take together
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


class Effort:
    """How much the searches of one look may take, and how many of them were given up."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.until = time.monotonic() + seconds
        self.given_up = 0

    def is_spent(self, asked: int = 0) -> bool:
        """Whether a search that has asked so many objects has to stop."""
        return asked >= MOST or time.monotonic() >= self.until


def way(thing: Any, ignore: set[int], effort: Effort) -> list[str]:
    """From the root to the thing, in words: ["module __main__", "history"]; [] if none is found.

    Breadth first, so it is a shortest way. `ignore` are ids of objects of ours. Each object that
    is asked for its holders costs a walk over all objects that there are, hence `effort`.
    """
    modules = _modules()
    queue: list[Any] = [_Step(thing, [], {id(thing)})]
    seen = {id(thing), id(queue), *ignore}
    running = _variables()
    seen.add(id(running))
    asked = 0
    # The variable of a running function is the last answer: it may be one of many names.
    local: list[str] = []
    while queue:
        step = queue.pop(0)
        if len(step.words) > DEEP:
            continue
        if not local and id(step.thing) in running:
            local = [*running[id(step.thing)], *step.words]
        if effort.is_spent(asked):
            effort.given_up += not local
            break
        asked += 1
        for holder in _holders(step.thing, seen):
            seen.add(id(holder))
            root = _root(holder, step.thing, modules)
            if root:
                return [*root, *step.words]
            queue.append(_Step(holder, _lengthen(holder, step), {*step.path, id(holder)}))
    return local


def list_held(things: list[Any], ignore: set[int], deep: int = 2) -> list[Any]:
    """Those of the things that have a holder in Python, other than this list and the ignored ones.

    A tuple or a list is a holder if it has one itself, up to `deep` of them above one another.
    What only compiled code keeps alive is left out. Each level is one walk over all objects.
    """
    wanted = {id(one) for one in things}
    found = {key for key in _variables() if key in wanted}
    referrers = gc.get_referrers(*things)
    ignore = {*ignore, id(things), id(referrers)}
    sequences = []
    for holder in referrers:
        if id(holder) in ignore or (is_a(holder, types.FrameType) and _is_ours(holder)):
            continue
        if type(holder) in (tuple, list):
            sequences.append(holder)
        else:
            found.update(id(one) for one in list_referents([holder]))
    if sequences and deep:
        held = list_held(sequences, ignore, deep - 1)
        found.update(id(one) for one in list_referents(held))
    return [one for one in things if id(one) in found]


def _is_ours(frame: Any) -> bool:
    return bool(frame.f_globals.get("__name__", "").startswith(_OURS))


def _lengthen(holder: Any, step: _Step) -> list[str]:
    """The words of a step, and before them how its holder leads to it."""
    if step.thing is names_of(holder) and step.words[:1] and step.words[0].startswith("['"):
        name = step.words[0][2:-2]
        return [f".{name} of a {type(holder).__name__}", *step.words[1:]]
    word = _edge(holder, step)
    words = [word, *step.words] if word else step.words
    if word.startswith("a default") and words[1:2] == ["[…]"]:
        del words[1]  # the tuple of defaults
    return words


class _Step:
    """An object on the way, how it leads to the thing, and the ids of all between."""

    __slots__ = ("path", "thing", "words")

    def __init__(self, thing: Any, words: list[str], path: set[int]) -> None:
        self.thing = thing
        self.words = words
        self.path = path


def _variables() -> dict[int, list[str]]:
    """What running functions have in variables: newer Pythons have no object for such a frame."""
    found: dict[int, list[str]] = {}
    for frame in list(sys._current_frames().values()):
        above: Any = frame
        while above is not None:
            if not _is_ours(above) and above.f_code.co_name != "<module>":
                for name, value in list(above.f_locals.items()):
                    found.setdefault(id(value), [f"local of {above.f_code.co_name}()", name])
            above = above.f_back
    return found


def _holders(one: Any, seen: set[int]) -> list[Any]:
    found: list[Any] = []
    for holder in gc.get_referrers(one):
        if id(holder) in seen or is_a(holder, _Step):
            continue
        if is_a(holder, types.FrameType) and _is_ours(holder):
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
