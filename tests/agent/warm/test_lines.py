"""Code that is running gets the line numbers of the file as it is now."""

import ast
import subprocess

from support import ROOT

PROGRAM = ROOT / "tests" / "programs" / "warm_lines.py"
AGENT = ROOT / "src" / "zeroin" / "agent"


def test_moved_tables_are_those_the_compiler_makes(python):
    """Of files of the standard library, each edited somewhere: every instruction's place."""
    done = subprocess.run(
        [python, "-W", "ignore", PROGRAM, AGENT, "1"],
        capture_output=True,
        text=True,
        check=True,
    )
    *differences, counts = done.stdout.splitlines()
    assert differences == []
    found = ast.literal_eval(counts)
    assert found["codes"] > 500
    assert found["clear"] > 20
