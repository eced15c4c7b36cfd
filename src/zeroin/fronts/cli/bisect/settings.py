"""`zeroin bisect settings`."""

from __future__ import annotations

import os

from zeroin.fronts.cli.bisect import add_options
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import read_env_file
from zeroin.tools.bisect.settings import bisect_settings, bisect_variables

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Teller

NOUN = "setting"
EXAMPLES = """\
  zeroin bisect settings good.yaml bad.yaml -- python train.py --config bad.yaml
  zeroin bisect settings old.toml config.toml -- python serve.py     reads config.toml itself
  zeroin bisect settings --variables good.env bad.env -- ./run.sh
"""


def parser() -> Parser:
    """All options."""
    p = Parser(
        "bisect settings",
        "Name the keys that break it: of two files of settings (JSON, YAML, TOML, INI, dotenv)\n"
        "GOOD works and BAD fails. In each try the file that the command names, or both if it\n"
        "names none, holds GOOD with some of the keys of BAD. Your files stay as they are.",
        "GOOD BAD [options] -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add("good", metavar="GOOD", help="with this it works")
    add("bad", metavar="BAD", help="with this it fails")
    add("--variables", action="store_true", help="the files hold variables of the environment")
    add("--at", metavar="PATH", default="", help="the file that the command reads, if another")
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
    names = (given.good, given.bad)
    if given.variables:
        old, new = (read_env_file(os.path.join(cycle.cwd, name)) for name in names)
        return bisect_variables(cycle, names, (old, new), options, environ, teller)
    return bisect_settings(cycle, names, given.at, options, environ, teller)
