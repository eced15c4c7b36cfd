"""Modules that compile the files of others themselves: runpy, profilers, debuggers, pytest."""

from __future__ import annotations

import _ast
import os

from . import making

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

# These say `compile` and mean the built-in one, of the script that they are given.
_RUNNERS = (
    "cProfile.py",
    "profile.py",
    "trace.py",
    "pdb.py",
    "kernprof.py",
    "coverage/execfile.py",
)
_STDLIB = os.path.dirname(os.path.realpath(os.__file__))


def callbacks() -> dict[str, Callable[[Any], None]]:
    """What to do after which import."""
    return {"runpy": _give_compile, "_pytest.assertion.rewrite": _watch_pytest}


def _give_compile(module: Any) -> None:
    """`multiprocessing` loads the main script by runpy, which is frozen: it has no tree."""
    module.compile = _compile


def is_runner(path: str) -> bool:
    """Whether this file runs the files of others; most often it is run by `python -m` itself."""
    if not path.endswith(_RUNNERS):
        return False
    return "/site-packages/" in path or os.path.dirname(path) == _STDLIB


def change_runner(_path: str, _source: bytes, tree: Any) -> Any:
    """Let it compile with ours."""
    left = [tree]
    while left:
        node = left.pop()
        for field, value in vars(node).items():
            if isinstance(value, _ast.Name) and value.id == "compile":
                setattr(node, field, making.place(making.constant(_compile), value))
                continue
            for inner in value if isinstance(value, list) else (value,):
                if isinstance(inner, _ast.AST):
                    left.append(inner)
    return tree


def _compile(source: Any, filename: Any, mode: Any, *args: Any, **kwargs: Any) -> Any:
    code = compile(source, filename, mode, *args, **kwargs)
    data = source.encode() if isinstance(source, str) else source
    if mode != "exec" or type(code) is not _CODE or not isinstance(data, bytes):
        return code
    name = os.fsdecode(filename)
    return making.made(name, lambda: data, making.build(name)) or code


def _watch_pytest(module: Any) -> None:
    """Test files are changed before pytest rewrites their asserts, and not kept as `.pyc`."""
    asserts, test, read, write = (
        module.rewrite_asserts,
        module._rewrite_test,
        module._read_pyc,
        module._write_pyc,
    )
    unkept: set[str] = set()

    def rewrite_asserts(mod: Any, source: bytes, path: Any = None, config: Any = None) -> Any:
        if path is not None:
            _change_in_place(mod, source, str(path))
        return asserts(mod, source, path, config)

    def rewrite_test(fn: Any, config: Any) -> Any:
        if not making.wants(making.real(str(fn))):
            return test(fn, config)
        _let_it_warn(fn)
        with making.Quiet():
            about, code = test(fn, config)
        return about, making.plant(code)

    def read_pyc(source: Any, pyc: Any, *args: Any, **kwargs: Any) -> Any:
        if making.wants(making.real(str(source))):
            unkept.add(str(pyc))
            return None
        return read(source, pyc, *args, **kwargs)

    def write_pyc(state: Any, co: Any, source_stat: Any, pyc: Any) -> Any:
        return False if str(pyc) in unkept else write(state, co, source_stat, pyc)

    module.rewrite_asserts = rewrite_asserts
    module._rewrite_test = rewrite_test
    module._read_pyc = read_pyc
    module._write_pyc = write_pyc


def _let_it_warn(fn: Any) -> None:
    try:
        compile(fn.read_bytes(), str(fn), "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):  # pytest will say so
        pass


def _change_in_place(tree: Any, source: bytes, filename: str) -> None:
    path = making.real(filename)
    try:
        new = making.changed(path, source, tree)
    except Exception as error:  # a mistake of ours must not be the program's
        making.refused[path] = f"{type(error).__name__}: {error}"
        return
    if new is not None:
        tree.body = new.body


_CODE = type(_compile.__code__)
