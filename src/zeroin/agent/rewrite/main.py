"""The main script: the interpreter compiles it in C, where nobody can stand between.

It says so first, in an audit event: there the changed code is run instead, below no frame that
anyone could see, and the interpreter is told to leave when that has ended. Only a script that
is to be changed is run like this. `python -m` and `python folder` lead through `runpy`, so
they are imports to us; what comes from `-c`, standard input or a `.pyc` can't be changed.
"""

from __future__ import annotations

import _ast
import _frozen_importlib_external as external
import sys

from . import making

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any

FUTURE = "__future__"
_below: list[Any] = []  # the frame that runs the script, until it has begun


def install() -> None:
    """Called once."""
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "cpython.run_file":
        _run_file(args[0])


def _run_file(name: Any) -> None:
    """The interpreter is about to run a script. Returns if it shall do so itself."""
    if not isinstance(name, str):
        return
    reason = ""
    if name.endswith((".pyc", ".pyo")):
        reason = "it was run as a compiled file, which has no source"
    elif sys.flags.inspect:
        reason = "it was run with python -i, which keeps the interpreter itself to it"
    if reason:
        path = making.real(name.rpartition(".")[0] + ".py" if ".py" in name[-4:-1] else name)
        making.refused[path] = reason
        return
    code = making.made(name, lambda: _read(name), lambda tree: _build(tree, name))
    if code is None:
        return
    main = sys.modules["__main__"].__dict__
    main["__file__"] = name
    main["__cached__"] = None
    main["__loader__"] = external.SourceFileLoader("__main__", name)
    _run(code, main)
    main.pop("__file__", None)
    main.pop("__cached__", None)
    raise SystemExit


def _read(name: str) -> bytes:
    with open(name, "rb") as file:
        source = file.read()
    # What the compiler has to say about the text, it says here, once.
    compile(source, name, "exec", dont_inherit=True)
    return source


def _build(tree: Any, name: str) -> CodeType:
    """The first thing that the script does is to leave us behind."""
    at = 0
    for index, one in enumerate(tree.body):
        is_text = isinstance(one, _ast.Expr) and isinstance(one.value, _ast.Constant)
        is_future = isinstance(one, _ast.ImportFrom) and one.module == FUTURE
        if is_future or (index == 0 and is_text and isinstance(one.value.value, str)):
            at = index + 1
    like = tree.body[min(at, len(tree.body) - 1)] if tree.body else None
    call = _ast.Expr(_ast.Call(making.constant(_begin), [], []))
    tree.body.insert(at, making.place(call, like))
    return compile(tree, name, "exec", dont_inherit=True)


def _begin() -> None:
    from ..warm.source import codes

    if _below:
        codes.cut_off(sys._getframe(1), _below.pop())


def _run(code: CodeType, main: dict[str, Any]) -> None:
    """Run the script's code as if the interpreter did."""
    from ..warm.source import codes
    from ..warm.stepping import depth

    deep = depth.too_deep()
    hide_all()
    codes.hide(_start.__code__)
    depth.count_off(deep)
    try:
        _start(code, main)
    except SystemExit:
        raise
    except BaseException as error:
        trace = own_frames_off(error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            note_interrupt(error)
        if codes.can_hide():
            raise error.with_traceback(trace)  # noqa: B904 - it is the same one
        error.__traceback__ = trace
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
        sys.excepthook(type(error), error, trace)
        raise SystemExit(1) from None


def _start(code: CodeType, main: dict[str, Any]) -> None:
    _below[:] = [sys._getframe()]
    # Inside of an audit hook tracing is off, for debuggers as well: this turns it on.
    sys.call_tracing(exec, (code, main))  # and after it, nothing: see `codes.cut_off`


def own_frames_off(trace: Any) -> Any:
    """Leave out what lies below the script, where it can't be hidden."""
    package = __name__.partition(".")[0]
    while trace is not None and trace.tb_frame.f_globals.get("__name__", "").startswith(package):
        trace = trace.tb_next
    return trace


def note_interrupt(error: BaseException) -> None:
    """Let the interpreter see it where it looks for it, so that it dies of the signal at last."""
    trace = error.__traceback__
    try:
        exec("raise error", {"error": error})  # noqa: S102
    except KeyboardInterrupt:
        error.__traceback__ = trace


def hide_all() -> None:
    """All frames at this moment are ours: the interpreter called us before any other."""
    from ..warm.source import codes

    frame: Any = sys._getframe()
    while frame is not None:
        codes.hide(frame.f_code)
        frame = frame.f_back
