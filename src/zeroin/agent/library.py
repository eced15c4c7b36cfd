"""`import zeroin` in a program whose environment has none: what a program may call of it.

The module that is found here does what the real one does in a program: so a program that
calls it runs under zeroin, also where nothing was installed, and in its child processes.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAME = "zeroin"
NAMES = ("checkpoint", "log", "peek", "section", "sections")  # as in the module itself


def checkpoint() -> None:
    """Let `zeroin loop` keep the program as it is now, whatever the clock says."""
    steps = sys.modules.get("_zeroin_agent.warm.stepping.steps")
    if steps is not None:
        steps.make_due()


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext zeroin` under `zeroin run -- jupyter lab`."""
    from . import notebook

    notebook.load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext zeroin`."""
    from . import notebook

    notebook.unload(shell)


def spec() -> Any:
    """What an import of it finds, where nothing else is found."""
    import _frozen_importlib

    loader: Any = _Loader()
    return _frozen_importlib.ModuleSpec(NAME, loader, origin="zeroin's agent")


class _Loader:
    def create_module(self, _: Any) -> None:
        """As always."""

    def exec_module(self, module: Any) -> None:
        """A few functions, and the rest when it is asked for."""
        module.__doc__ = __doc__
        module.__all__ = list(NAMES)
        for function in (checkpoint, load_ipython_extension, unload_ipython_extension):
            setattr(module, function.__name__, function)
        module.__getattr__ = load


def load(name: str) -> Any:
    """Give a part of the library, which is loaded now."""
    if name not in NAMES:
        raise AttributeError(f"module {NAME!r} has no attribute {name!r}")
    from . import look

    return getattr(look, name)


# --- `zeroin run --peek` ------------------------------------------------------------------------


class _Peek:
    """`peek` without an import, in all modules: the real one is loaded when it is first used."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self._real().from_frame(sys._getframe(1), values, named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real(), name)

    def _real(self) -> Any:
        import builtins

        peek = load("peek")
        # The program may have put another there.
        if getattr(builtins, "peek", None) is self:
            builtins.peek = peek  # type: ignore[attr-defined]
        return peek


def put_in_builtins() -> None:
    """Let every module of this process have it."""
    import builtins

    if not hasattr(builtins, "peek"):
        builtins.peek = _Peek()  # type: ignore[attr-defined]
