"""`zeroin shrink` on the input of compilers and linters: the first error stays what it was."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from support import needs

SOURCE = """\
#include <stddef.h>
struct row { int key; int value; };
static int scale(int n) { return n * 2; }
int total(struct row *rows, size_t count) {
    int sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += rows[i].value;
        sum += scale(rows[i].c);
    }
    return sum;
}
int other(void) { return total(NULL, 0); }
"""


def first_error(words, folder):
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    lines = (done.stderr + done.stdout).splitlines()
    return next(line.partition(": error: ")[2] for line in lines if ": error: " in line)


@needs("gcc")
def test_a_compiler(zeroin, project):
    """A smaller source that fails with another first error is another failure."""
    (project / "t.c").write_text(SOURCE)
    words = ("gcc", "-fsyntax-only", "-fdiagnostics-color=never", "t.c")
    wanted = first_error(words, project)
    done = zeroin("shrink", "--json", "t.c", "--", *words, cwd=project, timeout=200)
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["verdict"], told["confirmed"]) == ("found", True)
    shutil.copy(project / told["payloads"][0]["result"], project / "t.c")
    assert first_error(words, project) == wanted
    assert "no member named" in wanted


def test_a_linter(zeroin, project):
    """What ruff answers on stdout is told apart by its words, not by its exit code."""
    (project / "m.py").write_text(
        "def total(rows):\n    found = {}\n    unused = 3\n    for row in rows:\n"
        "        found[row] = missing\n    return found\n\n\nimport os\n"
    )
    ruff = Path(sys.executable).with_name("ruff")
    words = (ruff, "check", "--isolated", "--no-cache", "--output-format", "concise", "m.py")
    wanted = first_line(words, project)
    done = zeroin("shrink", "--json", "m.py", "--", *words, cwd=project, timeout=200)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["verdict"] == "found"
    shutil.copy(project / told["payloads"][0]["result"], project / "m.py")
    assert first_line(words, project) == wanted
    assert len((project / "m.py").read_text()) < 60


def first_line(words, folder):
    """Give the code and the words of what is told first."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[0].split(" ", 1)[1]
