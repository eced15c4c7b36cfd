"""zeroin: from "it crashed after ten minutes" to a small repro, and what broke it.

This module stays nearly empty: `zeroin --version` and every Python program that
imports the library pay for each line here. It is read by Python 3.9 as well.
"""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.agent.look import log, peek, section, sections

__version__ = "0.1.0"
__all__ = ["checkpoint", "log", "peek", "section", "sections"]


def _is_the_command() -> bool:
    """Whether this Python was started to be `zeroin`, rather than a program that imports us."""
    first = "".join((getattr(sys, "argv", None) or [""])[:1])
    if first == "-m":
        return " -m zeroin " in " ".join([*getattr(sys, "orig_argv", ()), ""])
    return first.rpartition("/")[2] in ("zeroin", "zin")


if _is_the_command():  # before anything else of ours is loaded: Ctrl-C may come at any moment
    from zeroin.interrupts import end_quietly_at_interrupt

    end_quietly_at_interrupt()


def checkpoint() -> None:
    """Let `zeroin loop` keep the program as it is now, whatever its clock says.

    The snapshot is taken before the next statement. Does nothing without the loop, in child
    processes, and where the process can't be forked.
    """
    steps = sys.modules.get("_zeroin_agent.warm.stepping.steps")
    if steps is not None:
        steps.make_due()


def load_ipython_extension(shell: object) -> None:
    """Begin with time, memory and warnings after cells: `%load_ext zeroin`."""
    from zeroin.agent import notebook

    notebook.load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop: `%unload_ext zeroin`."""
    from zeroin.agent import notebook

    notebook.unload(shell)


def __getattr__(name: str) -> "Any":
    """Load the rest of the library when it is asked for; the agent's, where there is one."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    own = "_zeroin_agent" if "_zeroin_agent" in sys.modules else "zeroin.agent"
    value = getattr(importlib.import_module(own + ".look"), name)
    globals()[name] = value
    return value


def __dir__() -> "list[str]":
    return [*globals(), *__all__]
