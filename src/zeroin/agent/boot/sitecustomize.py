"""The foot in the door: Python imports `sitecustomize` by itself at start-up.

Any Python the user's command starts gets here, also 2.7 and 3.6, so this one file keeps
to a syntax they all read. It takes its folder off the path again, runs the environment's
own sitecustomize, and loads the agent where it is wanted and can run.
"""

import os
import sys


def _leave_path(here):
    """Take our folder off the path: the program must see the path it would have had."""
    sys.path[:] = [entry for entry in sys.path if entry != here]
    sys.path_importer_cache.pop(here, None)


def _run_the_users_own():
    """Run the sitecustomize that we stand in front of, if there is one."""
    for finder in sys.meta_path:
        spec = finder.find_spec("sitecustomize", None)
        if spec is not None and spec.loader is not None:
            import _frozen_importlib as machinery  # loaded since before site: costs nothing

            module = machinery.module_from_spec(spec)
            sys.modules["sitecustomize"] = module
            spec.loader.exec_module(module)
            return


def _load_agent(here):
    package = type(sys)("_zeroin_agent")
    package.__path__ = [os.path.dirname(here)]
    sys.modules["_zeroin_agent"] = package
    from _zeroin_agent import hooks

    hooks.install(os.environ)


_here = os.path.dirname(os.path.abspath(__file__))
_leave_path(_here)
if sys.version_info >= (3, 9) and "ZEROIN_AGENT" in os.environ:
    try:
        _load_agent(_here)
    except Exception:
        pass
if sys.version_info >= (3, 4):
    _run_the_users_own()
