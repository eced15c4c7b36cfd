"""Take over the user's own code as it is loaded: the main script, and modules that are imported.

The main script is run by the interpreter in C, which says so first in an audit event: there it
is run with its hooks instead, below no frame that anyone could see.
"""

from __future__ import annotations

import _frozen_importlib_external as external
import _warnings
import os
import sys

from ... import hooks, owner
from ...rewrite import main as main_script
from ..source import codes, jumps, nodes, plant, texts
from ..used import inputs, signatures
from . import depth, sightings, steps, watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType
    from typing import Any


def install(most_bytes: int | None = None) -> None:
    """Stand where code is loaded; so much of modules, if that is given, is taken over in all."""
    global _left  # noqa: PLW0603 - a process has one limit
    _left = most_bytes
    _watch_imports()
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if event == "cpython.run_file":
        _run_file(args[0])
    elif event in _LOOKS and not _looking:
        _looking.append(True)  # to look who looks is a look as well
        try:
            _LOOKS[event](args)
        except Exception:  # a mistake of ours must not be the program's
            pass
        finally:
            _looking.clear()


def _stop(_: tuple[Any, ...]) -> None:
    if not steps.is_stopped() and sightings.reader() is not None:  # else it is us, at the end
        from . import plainly

        plainly.go_on()
        inputs.step_aside()
        hooks.step_aside()
        while _replaced:
            setattr(external.SourceFileLoader, *_replaced.pop())


def _open(args: tuple[Any, ...]) -> None:
    if args[0] in steps.files:
        sightings.read_source(args[0])


# Who says so looks at the instructions of what is running, and would find ours.
_LOOKS_INTO_CODE = (
    *(b"f_code.co_names", b"f_code.co_consts", b"f_code.co_code"),
    *(b"f_trace_opcodes", b"sys.monitoring", b"import dis\n", b"from dis import"),
)
_looking: list[bool] = []
_replaced: list[tuple[str, Any]] = []  # what stood where we stand
_left: int | None = None  # bytes of modules that may still be taken over; None: all
ends_with: int | None = None  # the exit code, once the main script has ended and it is sure
_LOOKS = {
    "object.__getattr__": lambda args: watch.looked_at(*args[:2]),
    "sys._getframe": lambda _: sightings.looked_at_frames(),
    "open": _open,
    "code.__new__": lambda args: jumps.copied(args[0]),
    # A program that looks at its own steps shall not see ours.
    "sys.addaudithook": _stop,
    "sys.settrace": _stop,
    "sys.setprofile": _stop,
    "sys.monitoring.register_callback": _stop,
}


def _run_file(name: str) -> None:
    """The interpreter is about to run a script. Returns if it shall do so itself."""
    if not isinstance(name, str) or sys.flags.inspect or name.endswith((".pyc", ".pyo")):
        return
    code = _take(name, None)
    if code is None:
        return
    main = sys.modules["__main__"].__dict__
    main["__file__"] = name
    main["__cached__"] = None
    main["__loader__"] = external.SourceFileLoader("__main__", name)
    _run(code, main)
    main.pop("__file__", None)
    main.pop("__cached__", None)
    _ends(0)
    raise SystemExit


def _ends(status: object) -> None:
    global ends_with  # noqa: PLW0603 - a process ends once
    if status is None or isinstance(status, int):
        ends_with = (status or 0) & 0xFF


def _run(code: CodeType, main: dict[str, Any]) -> None:
    deep = depth.too_deep()
    main_script.hide_all()
    codes.hide(_start.__code__)
    depth.count_off(deep)
    try:
        _start(code, main)
    except steps.Done:
        pass
    except SystemExit as leaving:
        _ends(leaving.code)
        raise
    except BaseException as error:
        trace = main_script.own_frames_off(error.__traceback__)
        if isinstance(error, KeyboardInterrupt):
            main_script.note_interrupt(error)
        elif sys.excepthook is sys.__excepthook__:  # one of the program's may leave otherwise
            _ends(1)
        if codes.can_hide():
            raise error.with_traceback(trace)  # noqa: B904 - it is the same one
        error.__traceback__ = trace
        sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
        sys.excepthook(type(error), error, trace)
        raise SystemExit(1) from None


def _start(code: CodeType, main: dict[str, Any]) -> None:
    steps.bottom(code, sys._getframe())
    # Inside of an audit hook tracing is off, for debuggers as well: this turns it on.
    sys.call_tracing(exec, (code, main))  # and after it, nothing: see `codes.cut_off`


def _take(filename: str, plain: CodeType | None) -> CodeType | None:
    """Make code with hooks from a file; None if that is not possible, whatever the reason."""
    try:
        if steps.is_stopped() or not owner.is_users(filename):
            return None
        with open(filename, "rb") as file:
            source = file.read()
        if not _is_utf8(source) or any(word in source for word in _LOOKS_INTO_CODE):
            return None
        with _Quiet():
            nodes.parse(source, filename)
        if plain is None:
            # What the compiler has to say about the text, it says here, once.
            compile(source, filename, "exec", dont_inherit=True)
        with _Quiet():
            return load(filename, source)
    except Exception:  # a mistake of ours must not be the program's
        return None


def _take_module(filename: str, plain: CodeType | None) -> CodeType | None:
    """Likewise, of a module, unless that would be too much: then a change of it counts as whole."""
    global _left  # noqa: PLW0603 - a process has one limit
    if _left is not None and owner.is_users(filename):
        found = signatures.state(filename)
        if found is None or found.st_size > _left:
            return None
        _left -= found.st_size
    return _take(filename, plain)


def _is_utf8(source: bytes) -> bool:
    """Whether it is what the compiler takes it for; other encodings are left to it."""
    head = b"\n".join(source.split(b"\n", 2)[:2])
    if b"coding" in head and b"utf-8" not in head.lower():
        return False
    try:
        source.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Quiet:
    """No warnings: they were given already."""

    def __enter__(self) -> None:
        self.rule = ("ignore", None, Warning, None, 0)
        _warnings.filters.insert(0, self.rule)

    def __exit__(self, *_: object) -> None:
        _warnings.filters.remove(self.rule)


def load(filename: str, source: bytes) -> CodeType:
    """Make code with hooks from a text that is loaded now."""
    text = texts.Text(source, filename)
    count = sum(len(unit.points) for unit in text.units)
    numbers = plant.new_flags(count)
    code = texts.module_code(text, numbers)
    path = os.path.abspath(filename)
    inputs.exempt(path)
    first = texts.Layer(text, numbers, code, texts.module_code)
    steps.files[path] = texts.File(path, filename, first, steps.tick())
    steps.filenames.add(filename)
    for hear in steps.on_load:
        hear(path, filename, source, numbers)
    return code


def _watch_imports() -> None:
    """Modules of the user's are compiled here as well; all others as always."""
    loader = external.SourceFileLoader
    plain = loader.get_code
    execute = loader.exec_module

    def get_code(self: Any, fullname: str) -> Any:
        code = plain(self, fullname)  # with all that it writes and says
        asked_by = sys._getframe(1).f_code.co_name
        imports = asked_by in ("exec_module", "_get_module_details", "_get_main_module_details")
        path = self.path if imports and type(self) is loader else None
        return (_take_module(path, code) if path is not None else None) or code

    def exec_module(self: Any, module: Any) -> None:
        try:
            execute(self, module)
        except steps.Done:
            pass

    for function, like in ((get_code, plain), (exec_module, execute)):
        # The interpreter leaves out frames of the import system from tracebacks by their file.
        function.__code__ = function.__code__.replace(co_filename=like.__code__.co_filename)
        function.__qualname__ = like.__qualname__
        function.__module__ = like.__module__
        codes.hide(function.__code__)
    loader.get_code = get_code  # type: ignore[method-assign]
    _replaced.append(("get_code", plain))
    if codes.can_hide():
        loader.exec_module = exec_module  # type: ignore[method-assign]
        _replaced.append(("exec_module", execute))
