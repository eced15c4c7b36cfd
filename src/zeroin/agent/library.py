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


def checkpoint() -> None:
    """Let `zeroin loop` keep the program as it is now, whatever the clock says."""
    steps = sys.modules.get("_zeroin_agent.warm.stepping.steps")
    if steps is not None:
        steps.make_due()


def spec() -> Any:
    """What an import of it finds, where nothing else is found."""
    import _frozen_importlib

    loader: Any = _Loader()
    return _frozen_importlib.ModuleSpec(NAME, loader, origin="zeroin's agent")


class _Loader:
    def create_module(self, _: Any) -> None:
        """As always."""

    def exec_module(self, module: Any) -> None:
        """A function, and whose it is."""
        module.__doc__ = __doc__
        module.checkpoint = checkpoint
