"""`zeroin shrink` on the input of compilers and linters: the first error stays what it was."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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


SHELL = """\
total() {
  for item in "$@"; do
    sum=$((sum + item))
  done
}
other() {
  case x in esac;;
}
third() {
  echo )
}
"""
PERL = """\
use strict;
use warnings;
sub total {
    my ($items) = @_;
    my $sum = 0;
    my $sum = 1;
    $sum += $missing;
    return $sum +;
}
sub other {
    if $x > 3 { $x = 3; }
}
"""
MAKE = """\
OBJECTS = a.o b.o
all: $(OBJECTS)
\techo linking
endif
a: b: c: d
    spaces
"""
# The command, what of its output tells the first error apart, and the input.
TOOLS = {
    "bash": (("bash", "-n"), r"line \d+: (.*)", SHELL),
    "perl": (("perl", "-c"), r"^(?!.*masks)(.*) at \S+ line \d+", PERL),
    "make": (("make", "-n", "-f"), r":\d+: (.*)", MAKE),
}


@pytest.mark.parametrize("tool", [pytest.param(name, marks=needs(name)) for name in TOOLS])
def test_a_parser(shrink, project, tool):
    """What comes first stays so, whatever warnings stand before it and errors behind it."""
    words, pattern, text = TOOLS[tool]

    def first():
        done = subprocess.run(
            [*words, "input"], cwd=project, capture_output=True, text=True, check=False
        )
        return re.search(pattern, done.stderr, re.MULTILINE)[1]

    (project / "input").write_text(text)
    wanted = first()
    done = shrink("input", "--cold", "--", *words, "input", timeout=200)
    assert done.told["verdict"] == "found", (done.out, done.err)
    left = (project / "input.min").read_text()
    (project / "input").write_text(left)
    assert first() == wanted
    told = done.told["payloads"][0]
    assert (told["noun"], told["parts_after"]) == ("line", len(left.splitlines()))
    assert len(left) < 40


@needs("awk")
def test_more_errors_than_are_kept(shrink, project):
    """The first of many is what failed, though only the last of them are kept besides it."""
    (project / "words").write_text("".join(f"word{chr(97 + n)}\n" for n in range(20)))
    tell = (
        '{ for (i = 0; i < 200; i++) printf "words:%d:%d: error: no such word: %s\\n", NR, i, $1 }'
    )
    words = ("awk", f"{tell} END {{ exit NR > 0 }}", "words")
    done = shrink("words", "--cold", "--", *words)
    assert done.told["signature"] == "exit 1: error: no such word: worda"
    assert (project / "words.min").read_text().strip() == "worda"


ASSERTING = """\
#include <assert.h>
#include <stdio.h>
int main(int count, char **words) {
    char line[80];
    FILE *file = fopen(words[1], "r");
    while (fgets(line, sizeof line, file)) {
        assert(line[0] != 'b');
        assert(line[0] != 'a');
    }
    return 0;
}
"""


@needs("gcc")
def test_one_assertion_of_several(shrink, project):
    """A program in C that aborts itself says which of them did not hold."""
    (project / "check.c").write_text(ASSERTING)
    subprocess.run(["gcc", "-o", "check", "check.c"], cwd=project, check=True)
    (project / "rows").write_text("c\n" * 20 + "b\n" + "a\n" * 20)
    done = shrink("rows", "--cold", "--", "./check", "rows")
    assert "line[0] != 'b'" in done.told["headline"]
    assert (project / "rows.min").read_text().strip() == "b"
