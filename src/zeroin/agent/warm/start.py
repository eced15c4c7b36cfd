"""Begin to step, if the driver asked for it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping

KEPT = ("sys", "builtins", "_io", "io", "encodings", "codecs", "_codecs")
_left_alone: list[object] = []
_state = {"is_try": False}


def install(environ: MutableMapping[str, str]) -> None:
    """Called once by the agent's hooks, before the user's code."""
    folder = environ.pop("ZEROIN_WARM")  # the program's children run as they are
    place = environ.pop("ZEROIN_WARM_PARK", "")
    before = environ.pop("ZEROIN_WARM_BEFORE", "")
    from .stepping import entry, steps
    from .used import inputs, uses

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
        if before:  # one snapshot, and that only before these are used
            steps.wait(resume.NEVER)
            uses.before_first_use(tuple(before.split("\n")), lambda: steps.pause(always=True))
            _state["is_try"] = True
    entry.install()


def at_end() -> None:
    """The program has ended, but for its last destructors."""
    from . import resume
    from .stepping import steps

    steps.end()
    resume.at_end()
    if _state["is_try"]:
        _let_all_be()


def _let_all_be() -> None:
    """Let nothing be freed at the end: of a large program that takes longer than all else.

    Its last destructors don't run then, so this is only for tries, which a whole run confirms.
    """
    import gc

    gc.disable()
    _left_alone.extend(sys.modules.values())
    _left_alone.append(_left_alone)  # nobody else has it, so it must not be found by that
    for name in list(sys.modules):
        if name not in KEPT:
            del sys.modules[name]
    gc.freeze()
