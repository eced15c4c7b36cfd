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
    }
    if isinstance(core, types.ModuleType):
        spec = getattr(core, "__spec__", None)
        found["file"] = locate.file_of(spec) if spec is not None else ""
    else:
        found["file"], found["line"] = place_of(core)
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
    is_slot = isinstance(
        core,
        (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType),
    )
    return "method" if is_slot else "value"


def defined_as(core: Any) -> str:
    """Its module and its name there: for what was taken over from elsewhere, the real ones."""
    if isinstance(core, types.ModuleType):
        return str(core.__name__)
    module = getattr(core, "__module__", None)
    name = getattr(core, "__qualname__", None) or getattr(core, "__name__", None)
    if type(name) is not str:
        return ""
    return f"{module}.{name}" if type(module) is str else name


def place_of(core: Any) -> tuple[str, int]:
    """Where it was written; ("", 0) if in no file of Python's."""
    if isinstance(core, type):
        file, line = places.of_class(core)
    elif isinstance(getattr(core, "__code__", None), types.CodeType):
        file, line = places.of_function(core)
    else:
        return "", 0
    return (file if file.startswith("<") else locate.absolute(file), line) if file else ("", 0)


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
    goes_on = True
    for one in type.__getattribute__(kind, "__mro__"):
        if name not in vars(one):
            continue
        core, around = layers.peel(vars(one)[name])
        file, line = place_of(core)
        calls = calls_super(core)
        found.append(
            {
                "class": defined_as(one),
                "file": file,
                "line": line,
                "super": calls,
                "called": goes_on,
                "layers": around,
            }
        )
        goes_on = goes_on and calls
    return found


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
    if not file or not found["file"]:
        return None
    written = places.defined(file, full)
    same_file = locate.absolute(file) == found["file"]
    if written is None or isinstance(written, ast.ClassDef):
        return None
    if same_file and written.lineno <= found["line"] <= (written.end_lineno or written.lineno):
        return None
    # What a decorator left in its place was made inside of another function.
    by = "decorator" if written.decorator_list and "<locals>" in found["qualname"] else "patch"
    return {"file": locate.absolute(file), "line": written.lineno, "by": by}
