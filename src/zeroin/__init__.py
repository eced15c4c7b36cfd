"""zeroin: from "it crashed after ten minutes" to a small repro, and what broke it.

This module stays nearly empty: `zeroin --version` and every Python program that
imports the library pay for each line here.
"""

__version__ = "0.1.0"


def checkpoint() -> None:
    """Let `zeroin loop` keep the program as it is now, whatever its clock says.

    The snapshot is taken before the next statement. Does nothing without the loop, in child
    processes, and where the process can't be forked.
    """
    import sys

    steps = sys.modules.get("_zeroin_agent.warm.stepping.steps")
    if steps is not None:
        steps.make_due()
