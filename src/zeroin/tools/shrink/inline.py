"""`--inline`: a script and the user's own modules that it imports, folded into one file."""

from __future__ import annotations

import os
import re

from zeroin.errors import UsageError
from zeroin.run.launch import pick_launcher
from zeroin.tools.recorder import list_facts
from zeroin.tools.search.quiet_trial import run_quiet_trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.cycle import Cycle

FUTURE = re.compile(r"^from __future__ import .*\n", re.MULTILINE)
FINDER = """\
import importlib.abc, importlib.util, sys

class Inline(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        if name in SOURCES:
            is_package = SOURCES[name][0]
            return importlib.util.spec_from_loader(name, self, is_package=is_package)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__name__
        exec(compile(SOURCES[name][1], f"{__file__}:{name}", "exec"), module.__dict__)

"""


def script_of(cycle: Cycle, paths: tuple[str, ...]) -> str:
    """The one script that is to be folded."""
    full = [os.path.realpath(os.path.join(cycle.cwd, path)) for path in paths]
    words = [os.path.realpath(os.path.join(cycle.cwd, word)) for word in cycle.command[1:]]
    if len(full) != 1 or not full[0].endswith(".py") or full[0] not in words:
        raise UsageError(
            "--inline folds one script that the command runs",
            hint="zeroin shrink --inline script.py -- python script.py",
        )
    return full[0]


def modules_of(cycle: Cycle, environ: Mapping[str, str], root: str, script: str) -> dict[str, str]:
    """The modules of the project that the program imports, with their files: run it to see."""
    trial = run_quiet_trial(cycle, pick_launcher(cycle), environ)
    inside = os.path.join(root, "")
    found = {}
    for name, path in (list_facts(trial)["modules"] or {}).items():
        full = os.path.realpath(path)
        is_own = full.startswith(inside) and full.endswith(".py") and full != script
        if is_own and name != "__main__" and "/site-packages/" not in full:
            found[name] = full
    return found


def folded(script: str, modules: Mapping[str, tuple[bool, str]]) -> str:
    """One file: the modules as texts, a finder for them, the script."""
    kept = {name: one for name, one in modules.items() if one[0] or one[1].strip()}
    if not kept:
        return script
    texts = "".join(
        f"    {name!r}: ({is_package}, {_quoted(text)}),\n"
        for name, (is_package, text) in sorted(kept.items())
    )
    future = "".join(FUTURE.findall(script))
    rest = FUTURE.sub("", script)
    return f"{future}{FINDER}SOURCES = {{\n{texts}}}\nsys.meta_path.insert(0, Inline())\n\n{rest}"


def _quoted(text: str) -> str:
    """Readable where it can be."""
    if "'''" in text or "\\" in text or text.endswith("'"):
        return repr(text)
    return f"'''\\\n{text}'''"
