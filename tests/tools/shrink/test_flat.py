"""A script and its modules as one list of statements."""

import contextlib
import io

from zeroin.tools.shrink.flat import flattened

CORE = """
import math
from . import deep

limit = 3

def work(x):
    from . import deep as again
    return again.root(x) + math.floor(2.5)
"""
MODULES = {
    "pkg": (True, "from __future__ import annotations\nfrom .core import work as do, limit\n"),
    "pkg.core": (False, CORE),
    "pkg.deep": (False, "import pkg.core, os\n\n\ndef root(x):\n    return x * pkg.core.limit\n"),
    "other": (False, "from pkg import *\nvalue = 5\n"),
}
SCRIPT = (
    "import sys\nimport pkg, other as o\nprint(pkg.do(o.value), pkg.core.limit, sys.byteorder)\n"
)


def test_it_does_the_same_without_the_modules():
    """Names of packages, of modules in them, other names for both: each stands for itself."""
    flat = flattened(SCRIPT, MODULES)
    assert flat.startswith("from __future__ import annotations\n")
    assert "pkg" not in flat
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(flat, "flat", "exec"), {"__name__": "__main__"})
    assert out.getvalue().startswith("17 3 ")


def test_what_is_no_python_is_left_alone():
    """Then the script stays as it is; that is tried, and does not fail the same way."""
    assert flattened(SCRIPT, MODULES | {"other": (False, "print 1\n")}) == SCRIPT
