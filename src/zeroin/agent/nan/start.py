"""Hanging in: once the program has imported torch, numpy or jax."""

from __future__ import annotations

import os
import sys

from .. import hooks, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Settings:
    """What the driver asks for: "inf,go-on,after=5"."""

    def __init__(self, text: str) -> None:
        words = text.split(",")
        self.inf = "inf" in words
        self.go_on = "go-on" in words
        self.after = next((int(one[6:]) for one in words if one.startswith("after=")), 0)


def callbacks(wanted: str) -> dict[str, Callable[[Any], None]]:
    """What to do after which import."""
    settings = Settings(wanted)

    def on_torch(torch: Any) -> None:
        try:
            watch_torch(torch, settings)
        except Exception as error:  # another release of torch: say so, and let it run
            told = f"{type(error).__name__}: {error} (torch {getattr(torch, '__version__', '?')})"
            _failed(told)

    def on_numpy(numpy: Any) -> None:
        from . import arrays

        arrays.watch(numpy)

    def on_jax(jax: Any) -> None:
        from . import jitted

        jitted.watch(jax, settings)

    return {"torch": on_torch, "numpy": on_numpy, "jax": on_jax}


def watch_torch(torch: Any, settings: Settings) -> None:
    """Enter the mode, in this thread and each that is started."""
    import atexit
    import threading

    from . import mode, places
    from .judge import Judge
    from .report import Reporter
    from .training import Training

    judge = Judge(torch)
    training = Training(torch, judge)
    reporter = Reporter(torch, judge, training, settings.go_on)
    judge.enrich = reporter.enrich
    judge.matters = reporter.matters
    judge.module = training.current
    judge.line_of = training.line_of
    judge.is_optimized = training.is_optimized
    judge.strict_inf = settings.inf
    training.at_weights = reporter.weights
    modules = torch.nn.modules.module
    modules.register_module_forward_pre_hook(training.enter)
    modules.register_module_forward_hook(training.leave, always_call=True)
    if hasattr(modules, "_has_any_global_hook"):
        modules._has_any_global_hook = _other_hooks(modules, (training.enter, training.leave))
    optimizers = sys.modules["torch.optim.optimizer"]
    _note_optimizers(optimizers.Optimizer, training)
    optimizers.register_optimizer_step_pre_hook(training.before_step)
    optimizers.register_optimizer_step_post_hook(training.after_step)
    kind = mode.make(torch, judge)

    def begin(steps: int) -> None:
        # Inside of somebody else's mode ours would be taken for it when that one ends.
        if (
            not (judge.on or judge.over)
            and steps >= settings.after
            and not torch._C._len_torch_dispatch_stack()
        ):
            judge.on = True
            kind().__enter__()

    judge.on = False
    begin(0)
    training.on_step = begin
    _in_each_thread(threading, judge, kind)
    for name in ("trace", "trace_module", "_get_trace_graph"):
        if hasattr(torch.jit, name):
            setattr(torch.jit, name, _without_modes(getattr(torch.jit, name)))
    hooks.on_import({"torch._dynamo": lambda _: mode.keep_from_compiler(torch, kind)})
    hooks.trim = places.trim
    atexit.register(_at_exit, reporter)


def _note_optimizers(kind: Any, training: Any) -> None:
    """Know an optimizer before its first step: that may never come."""
    import functools

    plain = kind.add_param_group

    @functools.wraps(plain)
    def add_param_group(self: Any, *args: Any, **kwargs: Any) -> Any:
        done = plain(self, *args, **kwargs)
        training.note_optimizer(self)
        return done

    kind.add_param_group = add_param_group


def _in_each_thread(threading: Any, judge: Any, make: Callable[[], Any]) -> None:
    """A mode holds for one thread: enter it in each that begins, as DataParallel's do."""
    kind = threading.Thread
    plain = kind._bootstrap_inner

    def _bootstrap_inner(self: Any) -> None:
        if judge.on:
            make().__enter__()
        plain(self)

    kind._bootstrap_inner = _bootstrap_inner


def _other_hooks(modules: Any, ours: tuple[Any, ...]) -> Callable[[], bool]:
    """`torch.compile` warns of hooks on all modules: it is not the program that has ours."""

    def _has_any_global_hook() -> bool:
        tables = [
            value
            for name, value in list(vars(modules).items())
            if name.startswith("_global_") and name.endswith("_hooks")
        ]
        return any(hook not in ours for table in tables for hook in table.values())

    return _has_any_global_hook


def _without_modes(plain: Any) -> Any:
    """`torch.jit.trace` fails under any mode, with sizes that it takes for tensors."""
    import functools

    modes = sys.modules["torch.utils._python_dispatch"]

    @functools.wraps(plain)
    def call(*args: Any, **kwargs: Any) -> Any:
        with modes._disable_current_modes():
            return plain(*args, **kwargs)

    return call


def _at_exit(reporter: Any) -> None:
    crashed = isinstance(getattr(sys, "last_value", None), Exception)
    try:
        reporter.at_end(crashed)
    except Exception as error:
        _failed(f"{type(error).__name__}: {error}")


def _failed(told: str) -> None:
    post.send({"kind": "nan-end", "pid": os.getpid(), "library": "torch", "error": told})
