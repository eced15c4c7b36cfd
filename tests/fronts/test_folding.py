"""Lines of ours in a narrow terminal: broken between words, never inside one."""

import shlex
import subprocess

import pytest

from zeroin.fronts.cli import VERBS
from zeroin.fronts.cli.bisect import AXES
from zeroin.fronts.folding import count_cells, fold_line, fold_text

NARROW = 40
HELPS = [[verb, flag] for verb in VERBS for flag in ("-h", "--help")]
HELPS += [["bisect", axis, "--help"] for axis in AXES]
PROGRAM = """\
def read_settings(path):
    options = {"rate": 0.1}
    return options["optimizer"]
read_settings("a")
"""


def shell_words(text):
    """What a shell makes of it."""
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {text}"], capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def broken_lines(text):
    """Rows that the terminal has to break although there was a blank to break at."""
    rows = [row for row in text.split("\r\n") if count_cells(row) > NARROW]
    return [row for row in rows if len(shlex.split(row.rstrip("\\ "))) > 1]


@pytest.fixture
def narrow(zeroin, project, terminal):
    """Run zeroin in a terminal of 40 columns; give what it shows."""

    def run(*args):
        command = [*zeroin.driver, *args]
        shown = terminal(command, cwd=project, env=zeroin.env, cols=NARROW, rows=60)
        shown.wait()
        return shown.text

    return run


@pytest.mark.parametrize("args", HELPS, ids=" ".join)
def test_helps_fit(narrow, args):
    """Of every verb, in short and in full."""
    assert broken_lines(narrow(*args)) == []


def test_reports_fit(narrow, zeroin, project):
    """What is said of a failing run, and by the verbs that look at it; the program's own stays."""
    (project / "train.py").write_text(PROGRAM)
    zeroin("run", "--", "python", "train.py", cwd=project)
    (project / "train.py").write_text(PROGRAM + "# a change\n")
    said = narrow("run", "--env", "VARIABLE=1", "--", "python", "train.py")
    ours = said[said.index("attempt 2") - 20 :].partition("\r\n")[2]
    assert "changed since 1" in " ".join(ours.split())
    assert broken_lines(ours) == []
    for args in (
        ["log"],
        ["diff", "1", "2", "--only", "env", "--only", "outcome"],
        ["why", "2"],
        ["gc"],
        ["gc", "--to", "1k"],
        ["doctor"],
        ["which", "json.decoder.JSONDecoder"],
        ["loop", "--once", "--", "python", "-c", "pass"],
        ["run", "--repeat", "2", "--", "false"],
        ["run", "--limit", "fail=open:EI0", "--", "true"],
        ["bisect", "--", "python", "x"],
        ["tiny", "data", "nothing.csv"],
    ):
        lines = [row for row in broken_lines(narrow(*args)) if "File " not in row]
        assert lines == [], args


def test_a_row_goes_on_below_its_last_column():
    """As a table's does."""
    row = "  commits    the commit that broke it, or that repaired it"
    assert fold_line(row, NARROW) == [
        "  commits    the commit that broke it,",
        "             or that repaired it",
    ]


def test_a_command_stays_one_that_can_be_pasted():
    """A backslash stands where it is broken; quoted words stay whole."""
    line = "  reproduce: zeroin run --env 'A=b c' --timeout 5m -- python train.py --rate 0.1"
    rows = fold_line(line, NARROW)
    assert all(count_cells(row) <= NARROW for row in rows)
    words = line.partition("zeroin")[2]
    pasted = "\n".join(rows).partition("zeroin")[2]
    assert [shell_words(text) for text in (words, pasted)] == [shlex.split(words)] * 2


def test_a_number_stays_with_its_unit():
    """`16.6 MB`, `0.7 s` and `33 %` are one word."""
    rows = fold_text("it took all of 0.7 s and held 16.6 MB, which is 33 % of it", 21).split("\n")
    assert [row.strip() for row in rows] == [
        "it took all of 0.7 s",
        "and held 16.6 MB,",
        "which is 33 % of it",
    ]


def test_sources_and_json_stay_as_they_are():
    """They are not ours to break; a line that begins with a number in brackets is."""
    for line in ("   3 │ " + "x = 1; " * 20, '{"schema": 1, "text": "' + "a b " * 20 + '"}'):
        assert fold_line(line, NARROW) == [line]
    assert len(fold_line("[1] 0.52 s  ✗ KeyError at train.py main(): 'optimizer'", NARROW)) == 2


def test_colours_take_no_room():
    """Nor do they break a line."""
    line = "\x1b[31mred\x1b[0m " * 10
    assert fold_line(line.rstrip(), NARROW) == [line.rstrip()]
