"""Where the agent hangs in: the ends of the program, and a few imports.

Loaded at the start of every Python process of a run, so it stays small and imports nothing
that the interpreter has not loaded already. What is costly (looking at a crash, speaking to
the driver) is loaded when it happens.
"""

from __future__ import annotations

import os
import sys

from . import asked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping
    from typing import Any, Callable

# Above what programs use, below the usual limit of 1,024 open files.
FAULT_FD = 1000
# Real-time, so that no program handles it: "write down all stacks now".
STACKS_SIGNAL = 42
TASKS_SIGNAL = 43  # likewise, "and where each coroutine waits"
# Modules that carry what a worker process raised to the program.
WORKERS = (
    "multiprocessing.pool",
    "multiprocess.pool",
    "concurrent.futures.process",
    "joblib.externals.loky.process_executor",
    "loky.process_executor",
    "torch._utils",
)

# By their ids: what ended the main thread, or a test in it. Only `_at_exit` asks, for one that is
# still alive: any other may have the id of one that is gone.
_told_of: set[int] = set()
# Takes frames of ours out of a traceback, where some could be in it.
trim: Callable[[BaseException, Any], Any] | None = None
_held: set[int] = set()
_debugged: set[int] = set()


def install(environ: MutableMapping[str, str]) -> None:
    """Hang in. Called once by `boot`."""
    import atexit

    from . import post

    folder, order = asked.read_order(environ), asked.order
    post.remember(folder)
    if "memory_error" in order:
        _look_with_more_memory()
    _write_faults_to(folder + "/faults")
    _watch_excepthook()
    atexit.register(_at_exit)
    # Called before it: a debugger that is still stepping must not step into us.
    for switch_off in (sys.settrace, sys.setprofile):
        atexit.register(switch_off, None)
    from . import loaded

    # A program that is killed says nothing at its end: what it runs on is told now.
    post.send({"kind": "start", "pid": os.getpid(), **loaded.interpreter()})
    sys.meta_path.insert(0, _finder)
    on_import(_import_callbacks(order))
    if "peek" in order:
        from . import library

        library.put_in_builtins()
    if "lines" in order:
        from . import lines

        lines.install(folder)
    if "full_folders" in order:
        from . import room

        room.install(order["full_folders"])
    if "probes" in order:
        from . import probes

        probes.install(order["probes"], folder)
    if "which" in order:
        from .which import watch

        watch.install(order["which"])
    if "leak" in order:
        from . import leak

        leak.install(order["leak"], folder)
    if "shapes" in order:
        from .shapes import start as shapes

        shapes.install(folder, order["shapes"])
    if "warm" in order:
        from .warm import start

        start.install(order["warm"])


def wake(folder: str) -> None:
    """This process goes on as another run: what it leaves goes to that run's folder."""
    from . import loaded, post

    _told_of.clear()
    _held.clear()
    _debugged.clear()
    _write_faults_to(folder + "/faults")
    post.send({"kind": "start", "pid": os.getpid(), **loaded.interpreter()})


def step_aside() -> None:
    """A tracer would see us in every import: be asked only for what nobody else finds."""
    for finder in [one for one in sys.meta_path if isinstance(one, _AfterImport)]:
        sys.meta_path.remove(finder)
        sys.meta_path.append(finder)


class _AsItIs:
    """Nothing more is needed to look."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


_enough: Any = _AsItIs()  # memory, to look at what failed


def _look_with_more_memory() -> None:
    global _enough  # noqa: PLW0603 - one limit a process
    from . import crash, loaded, relief  # noqa: F401 - while there is memory to load them

    _enough = relief.Relief()


def report(exc: BaseException, **about: Any) -> None:
    """Tell the driver about an exception that ends something. Never raises."""
    with _enough:
        _report(exc, about)


def _report(exc: BaseException, about: dict[str, Any]) -> None:
    if about.get("thread") == "main":
        _told_of.add(id(exc))
    import gc

    # What we allocate would set off collections over the whole heap of the user's.
    was_on = gc.isenabled()
    gc.disable()
    try:
        from . import crash

        crash.report(exc, about)
        shapes = sys.modules.get("_zeroin_agent.shapes.start")
        if shapes is not None:
            shapes.failed(exc)
    except BaseException:
        pass
    if was_on:
        gc.enable()


# --- the end of the program ---------------------------------------------------------------


def _watch_excepthook() -> None:
    """Both names lead here: programs that set a hook of their own often call the second."""
    plain = sys.__excepthook__

    def excepthook(kind: Any, value: BaseException, tb: Any) -> None:
        if trim is not None:
            tb = trim(value, tb)
        plain(kind, value, tb)  # the plain traceback first, whatever we do after
        if isinstance(value, BaseException):
            report(value, thread="main", fatal=True)
            _hold(value)
            _debug(value)
            _end_as_interrupted(value)

    sys.excepthook = excepthook
    sys.__excepthook__ = excepthook


def _end_as_interrupted(exc: BaseException) -> None:
    """Let the interpreter end itself by SIGINT after an uncaught KeyboardInterrupt.

    It notes that such an exception has left the program, and forgets it with the next text that is
    evaluated: importing `re` for the first time does that. So one leaves a text of ours.
    """
    if type(exc) is KeyboardInterrupt and getattr(sys, "last_value", None) is exc:
        try:
            exec("raise KeyboardInterrupt", {})  # noqa: S102 - see above
        except KeyboardInterrupt:
            pass


def _hold(exc: BaseException) -> None:
    """In a loop: keep it alive for a debugger."""
    if asked.order.get("brief"):
        return
    if "_zeroin_agent.warm.start" in sys.modules and id(exc) not in _held:
        _held.add(id(exc))
        from .warm import failure

        failure.hold(exc)


def _debug(exc: BaseException) -> None:
    if asked.order.get("debugger") and id(exc) not in _debugged:
        _debugged.add(id(exc))
        from . import debugger

        debugger.post_mortem(exc)


def _at_exit() -> None:
    """Whatever is the matter with us, the program must not seem to fail of it."""
    try:
        with _enough:
            _say_at_exit()
    except Exception:
        return


def _say_at_exit() -> None:
    """Say what was loaded; and the error, where the user's own hook kept it from ours."""
    import gc

    gc.disable()  # it ends here: collecting a large heap now would be for nothing
    last = getattr(sys, "last_value", None)
    if isinstance(last, BaseException):
        if id(last) not in _told_of:
            report(last, thread="main", fatal=True)
        _hold(last)
        _debug(last)
    from . import loaded, post

    post.send({"kind": "exit", "pid": os.getpid(), **loaded.facts()})
    warm = sys.modules.get("_zeroin_agent.warm.start")
    if warm is not None:
        warm.at_end()


def _write_faults_to(path: str) -> None:
    """Let a crash in C leave the Python stack in a file of the driver's.

    The program's own stderr stays as it would have been.
    """
    import faulthandler

    try:
        low = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.dup2(low, FAULT_FD, inheritable=False)
    except OSError:  # a low limit of open files
        return
    finally:
        os.close(low)
    faulthandler.enable(file=FAULT_FD, all_threads=True)
    faulthandler.register(STACKS_SIGNAL, file=FAULT_FD, all_threads=True)
    import _signal  # type: ignore[import-not-found]  # loaded already; `signal` costs an enum

    _signal.signal(TASKS_SIGNAL, _write_tasks)


def _write_tasks(*_: Any) -> None:
    from . import tasks

    tasks.write(FAULT_FD)


# --- things to do once a module has been imported -------------------------------------------


def _import_callbacks(order: Mapping[str, Any]) -> dict[str, Callable[[Any], None]]:
    callbacks: dict[str, Callable[[Any], None]] = {
        "threading": _on_threading,
        "traceback": _on_traceback,
        "_pytest.config": _on_pytest,
        "unittest.result": _on_unittest,
        "zeroin": _on_zeroin,
        **dict.fromkeys(WORKERS, _on_workers),
    }
    if "warm" not in order:  # a thread of ours would hinder snapshots
        callbacks["torch.distributed.distributed_c10d"] = _on_distributed
    if "seed" in order or "sync" in order:
        from . import steady

        callbacks.update(steady.callbacks(order))
    if "nan" in order:
        from .nan import start

        for name, act in start.callbacks(order["nan"]).items():
            callbacks[name] = _both(callbacks.get(name), act)
    if "log" in order:
        callbacks["logging"] = _on_logging
    return callbacks


def on_import(callbacks: Mapping[str, Callable[[Any], None]]) -> None:
    """Call back when a module has been imported; at once for those that have been already."""
    for name, callback in callbacks.items():
        if name in sys.modules:
            callback(sys.modules[name])
        else:
            _finder.callbacks[name] = _both(_finder.callbacks.get(name), callback)


def _both(first: Callable[[Any], None] | None, then: Callable[[Any], None]) -> Any:
    def act(module: Any) -> None:
        if first is not None:
            first(module)
        then(module)

    return then if first is None else act


class _AfterImport:
    """A finder that finds nothing itself: it lets the others find, and calls back after."""

    def __init__(self) -> None:
        self.callbacks: dict[str, Callable[[Any], None]] = {}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name not in self.callbacks:
            return None
        callback = self.callbacks.pop(name)
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    stand_in: Any = _Loader(spec.loader, callback)
                    spec.loader = stand_in
                return spec
        self.callbacks[name] = callback  # not there yet: perhaps later
        if name != "zeroin":
            return None
        from . import library

        return library.spec()


_finder: Any = _AfterImport()


class _Loader:
    """Stands in for the real loader during the import, and is gone after it."""

    def __init__(self, real: Any, callback: Callable[[Any], None]) -> None:
        self.real = real
        self.callback = callback

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def create_module(self, spec: Any) -> Any:
        return self.real.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__spec__.loader = module.__loader__ = self.real
        self.real.exec_module(module)
        # Some put another module in their own place, as `collections.abc` does.
        module = sys.modules.get(module.__spec__.name, module)
        try:
            self.callback(module)
        except Exception:  # another release of that library: then without
            pass


def _on_zeroin(_: Any) -> None:
    """Nothing is to be done; but see `_AfterImport`: it is always found."""


def _on_logging(_: Any) -> None:
    from .look import tap

    tap.install(asked.order["log"], asked.order.get("log_file", ""))


def _on_threading(threading: Any) -> None:
    """What ends a thread is told, also where the program has set a hook of its own for that."""
    plain = threading._make_invoke_excepthook  # each thread calls it when it is made

    def make() -> Any:
        invoke = plain()

        def tell(thread: Any) -> None:
            import time

            exc, died = sys.exc_info()[1], time.time()  # before others die while this one is shown
            invoke(thread)
            if exc is not None and not isinstance(exc, SystemExit):
                name = thread.name if thread is not None else "?"
                report(exc, thread=name, fatal=False, time=died)

        return tell

    threading._make_invoke_excepthook = make


def _on_traceback(traceback: Any) -> None:
    """`multiprocessing.Process` catches what its target raised and prints it by this function."""
    plain = traceback.print_exc

    # As in the library, for those who ask for its signature.
    def print_exc(limit: Any = None, file: Any = None, chain: Any = True) -> None:
        plain(limit, file, chain)
        caller = sys._getframe(1)
        exc = sys.exc_info()[1]
        if exc is not None and caller.f_globals.get("__name__") == "multiprocessing.process":
            report(exc, thread="main", fatal=True)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(print_exc, name, getattr(plain, name))
    print_exc.__annotations__ = {}
    traceback.print_exc = print_exc


def _on_pytest(config: Any) -> None:
    from . import frameworks

    frameworks.watch_pytest(config)


def _on_workers(module: Any) -> None:
    """What fails in a worker is described there."""
    from . import workers

    workers.watch(module)


def _on_distributed(module: Any) -> None:
    from . import answer

    answer.on_distributed(module)


def _on_unittest(result: Any) -> None:
    from . import frameworks

    frameworks.watch_unittest(result)
