"""A class, method or function behind a name: where it was written, and what is called in fact."""

from __future__ import annotations

import ast
import sys
import types

from . import layers, locate, places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENT = frozenset(
    (
        *("__module__", "__doc__", "__dict__", "__weakref__", "__qualname__", "__slots__"),
        *("__annotations__", "__annotate__", "__annotate_func__", "__annotations_cache__"),
        *("__conditional_annotations__", "__firstlineno__", "__static_attributes__", "__hash__"),
        *("__orig_bases__", "__parameters__", "__abstractmethods__", "_abc_impl"),
        *("__class_getitem__", "__match_args__", "__constants__"),
    )
)
SLOTS = (
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
)
COMPILED = (
    *SLOTS,
    types.BuiltinFunctionType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
MOST = 60  # names of overridden methods that are told a class


class NoSuchNameError(Exception):
    """`holder` has no attribute of that name; `names` are those it has."""

    def __init__(self, holder: str, name: str, names: list[str]) -> None:
        super().__init__(f"{holder} has no {name}")
        self.holder = holder
        self.name = name
        self.names = names


def follow(module: Any, words: list[str]) -> dict[str, Any]:
    """What a dotted name inside a module is."""
    holder: Any = module
    thing: Any = module
    lazy = False
    for word in words:
        holder = layers.peel(thing)[0] if isinstance(thing, (property, staticmethod)) else thing
        thing, by_getattr = _attribute(holder, word)
        lazy = lazy or by_getattr
    return {**describe(thing, holder, words), "lazy": lazy}


def _attribute(holder: Any, name: str) -> tuple[Any, bool]:
    """As written in a class or a module; else what the holder makes of it: (value, made)."""
    if isinstance(holder, type):
        for kind in type.__getattribute__(holder, "__mro__"):
            if name in vars(kind):
                return vars(kind)[name], False
    names = getattr(holder, "__dict__", {})
    if name in names:
        return names[name], False
    if isinstance(holder, types.ModuleType):
        try:
            __import__(f"{holder.__name__}.{name}")
            return sys.modules[f"{holder.__name__}.{name}"], False
        except ImportError:
            pass
    try:
        return getattr(holder, name), isinstance(holder, types.ModuleType)
    except AttributeError:
        called = getattr(holder, "__qualname__", None) or getattr(holder, "__name__", "it")
        raise NoSuchNameError(str(called), name, [str(one) for one in dir(holder)]) from None


def describe(thing: Any, holder: Any, words: list[str]) -> dict[str, Any]:
    """Everything about one object."""
    core, around = layers.peel(thing)
    found: dict[str, Any] = {
        "kind": kind_of(thing, core, holder),
        "file": "",
        "line": 0,
        "qualname": str(getattr(core, "__qualname__", None) or getattr(core, "__name__", "")),
        "layers": around,
        "mro": [],
        "chain": [],
        "replaced": None,
        "value": "",
        "made": "",
    }
    if isinstance(core, types.ModuleType):
        spec = getattr(core, "__spec__", None)
        found["file"] = locate.file_of(spec) if spec is not None else ""
    else:
        found["file"], found["line"] = place_of(core, holder, words[-1])
        found["made"] = made_by_exec(core)
    if isinstance(core, type):
        found["mro"] = order(core)
    if isinstance(holder, type):
        found["chain"] = chain(holder, words[-1])
        found["holder"] = defined_as(holder)
        found["mro"] = order(holder)
    found["replaced"] = replaced(holder, words[-1], found)
    if found["kind"] == "value":
        found["value"] = type(core).__name__
    return found


def kind_of(thing: Any, core: Any, holder: Any) -> str:
    """In a word."""
    if isinstance(core, types.ModuleType):
        return "module"
    if isinstance(core, type):
        return "class"
    if isinstance(thing, property):
        return "property"
    if isinstance(core, (types.FunctionType, types.BuiltinFunctionType)) or (
        callable(core) and hasattr(core, "__code__")
    ):
        return "method" if isinstance(holder, type) else "function"
    return "method" if isinstance(core, SLOTS) else "value"


def defined_as(core: Any) -> str:
    """Its module and its name there: for what was taken over from elsewhere, the real ones."""
    if isinstance(core, types.ModuleType):
        return str(core.__name__)
    module = getattr(core, "__module__", None)
    name = getattr(core, "__qualname__", None) or getattr(core, "__name__", None)
    if type(name) is not str:
        return ""
    return f"{module}.{name}" if type(module) is str else name


def place_of(core: Any, holder: Any = None, name: str = "") -> tuple[str, int]:
    """Where it was written, or else where its holder binds the name; ("", 0) if in no source."""
    if isinstance(core, type):
        file, line = places.of_class(core)
    elif isinstance(getattr(core, "__code__", None), types.CodeType) and not made_by_exec(core):
        file, line = places.of_function(core)
    elif not isinstance(core, COMPILED) and name:
        file, line = places.of_name(holder, name)
    else:
        return "", 0
    return (file if file.startswith("<") else locate.absolute(file), line) if file else ("", 0)


def made_by_exec(core: Any) -> str:
    """The name of the text that a function was made of while the program ran; "" for others."""
    code = getattr(core, "__code__", None)
    name = places.unfrozen(code.co_filename) if isinstance(code, types.CodeType) else ""
    return name if name.startswith("<") and not name.startswith("<frozen ") else ""


def order(kind: type) -> list[dict[str, Any]]:
    """The classes in the order in which they are asked, and which names each takes from whom."""
    found = []
    classes = type.__getattribute__(kind, "__mro__")
    for number, one in enumerate(classes):
        file, line = place_of(one)
        overrides: list[dict[str, str]] = []
        for name in vars(one):
            if name in SILENT or len(overrides) == MOST or not _is_code(vars(one)[name]):
                continue
            below = [c for c in classes[number + 1 :] if name in vars(c) and c is not object]
            if below:
                overrides.append({"name": name, "of": defined_as(below[0])})
        found.append({"class": defined_as(one), "file": file, "line": line, "overrides": overrides})
    return found


def _is_code(thing: Any) -> bool:
    """Nested classes, constants and annotations are no methods."""
    return not isinstance(thing, type) and (callable(thing) or hasattr(thing, "__get__"))


def chain(kind: type, name: str) -> list[dict[str, Any]]:
    """Each definition of a method in the order of the classes; the first is called."""
    found = []
    next_up: Any = kind  # whose definition is called next; None when the last one calls no other
    classes = list(type.__getattribute__(kind, "__mro__"))
    for one in classes:
        if name not in vars(one):
            continue
        core, around = layers.peel(vars(one)[name])
        file, line = place_of(core, one, name)
        calls = calls_super(core)
        called = next_up is not None and classes.index(one) >= classes.index(next_up)
        found.append(
            {
                "class": defined_as(one),
                "file": file,
                "line": line,
                "super": calls,
                "called": called,
                "layers": around,
            }
        )
        if called:
            next_up = _behind(classes, written_for(core, one)) if calls else None
    return found


def _behind(classes: list[type], kind: type) -> Any:
    rest = classes[classes.index(kind) + 1 :] if kind in classes else []
    return rest[0] if rest else None


def written_for(core: Any, kind: type) -> type:
    """The class in whose body a method was written: `super()` goes on behind that one."""
    names = getattr(getattr(core, "__code__", None), "co_freevars", ())
    if "__class__" not in names:
        return kind
    try:
        found = core.__closure__[names.index("__class__")].cell_contents
    except ValueError:  # the class has not been made yet
        return kind
    return found if isinstance(found, type) else kind


def calls_super(core: Any) -> bool:
    """Whether its code speaks of `super()`, also in a comprehension of it."""
    code = getattr(core, "__code__", None)
    waiting = [code] if isinstance(code, types.CodeType) else []
    while waiting:
        one = waiting.pop()
        if "super" in one.co_names:
            return True
        waiting += [c for c in one.co_consts if isinstance(c, types.CodeType)]
    return False


def replaced(holder: Any, name: str, found: dict[str, Any]) -> dict[str, Any] | None:
    """The definition that the source has, where another function stands in its place by now."""
    if isinstance(holder, type):
        owners = [one for one in type.__getattribute__(holder, "__mro__") if name in vars(one)]
        kind = owners[0] if owners else holder
        file = places.source_of(sys.modules.get(kind.__module__))
        full = f"{kind.__qualname__}.{name}"
    else:
        file, full = places.source_of(holder), name
    if not file or not found["file"] or found["made"]:
        return None
    written = [one for one in places.defined(file, full) if not isinstance(one, ast.ClassDef)]
    same_file = locate.absolute(file) == found["file"]
    if not written or (same_file and any(places.holds(one, found["line"]) for one in written)):
        return None
    last = written[-1]
    # What a decorator left in its place was made inside of another function.
    by = "decorator" if last.decorator_list and "<locals>" in found["qualname"] else "patch"
    return {"file": locate.absolute(file), "line": last.lineno, "by": by}
