"""`zeroin bisect envs`."""

from __future__ import annotations

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.tools.bisect.envs import EnvOptions, bisect_envs

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "package"
EXAMPLES = """\
  zeroin bisect envs old.lock new.lock -- pytest -x tests/test_api.py
  zeroin bisect envs uv.lock.before uv.lock -- python report.py
  zeroin bisect envs attempt:9 this -- python train.py      the environment of attempt 9
  zeroin bisect envs ../works/.venv .venv -- python train.py
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect envs",
        "Name the package that broke it, of all that differ between two environments. An\n"
        "environment is a lock file (requirements with pins, pip freeze, uv.lock, poetry.lock,\n"
        "pylock.toml, Pipfile.lock, the pip part of environment.yml), the folder of a virtual\n"
        "environment, attempt:N, or `this`, the one that the command would use. Old versions are\n"
        "put back until it works, only such together as go together.",
        "OLD NEW [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("old", metavar="OLD", help="where it worked")
    add("new", metavar="NEW", help="where it fails")
    add("--python", metavar="PATH", default="", help="the Python to compose environments for")
    add("--no-release", action="store_true", help="don't go on to the first bad release")
    add("--to-commit", action="store_true", help="go on to the commit in its repository")
    add_options(p)
    return p


def search(
    given: argparse.Namespace,
    cycle: Cycle,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    wanted = EnvOptions(given.old, given.new, given.python, not given.no_release, given.to_commit)
    return bisect_envs(cycle, wanted, options, environ, teller)
