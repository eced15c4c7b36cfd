"""Begin to step, if the driver asked for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping


def install(environ: MutableMapping[str, str]) -> None:
    """Called once by the agent's hooks, before the user's code."""
    folder = environ.pop("ZEROIN_WARM")  # the program's children run as they are
    place = environ.pop("ZEROIN_WARM_PARK", "")
    from .stepping import entry, steps
    from .used import inputs

    if sys.pycache_prefix:  # what is there is as little an input as what is in __pycache__
        inputs.ignore(sys.pycache_prefix)
    inputs.install(steps.clock)
    if environ.pop("ZEROIN_WARM_PROFILE", ""):
        from . import profile

        profile.begin()
    if folder == "-":
        steps.install(None)
    else:
        from . import resume

        resume.begin(folder)
        if place:
            from . import standby

            standby.begin(folder, place)
        else:
            steps.install(resume.snapshot)
    entry.install()


def at_end() -> None:
    """The program has ended, but for its last destructors."""
    from . import resume
    from .stepping import steps

    steps.end()
    resume.at_end()
