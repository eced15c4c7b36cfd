"""`zeroin bisect limit`: how little is enough."""

import json

import pytest

USE = """\
import os
files = [os.open(os.devnull, 0) for _ in range(40)]
memory = bytearray(100_000_000)
with open("out.bin", "wb") as out:
    out.write(b"x" * 3_000_000)
"""


@pytest.fixture
def limit(zeroin, project):
    """Search among the values of a limit."""
    (project / "use.py").write_text(USE)

    def run(*words):
        done = zeroin("bisect", "limit", *words, "--json", "--", "python", "use.py", cwd=project)
        told = json.loads(done.stdout) if done.stdout else {}
        return done.returncode, told, done.stderr

    return run


def test_how_many_files(limit, project):
    """To the very number: one fewer fails."""
    code, told, _ = limit("files", "8", "256")
    assert (code, told["verdict"], told["confirmed"]) == (0, "found", True)
    assert int(told["last_good"]) == int(told["first_bad"]) + 1
    assert 40 < int(told["last_good"]) < 60
    assert not (project / "out.bin").exists()


@pytest.mark.parametrize(
    ("name", "low", "high", "needed"),
    [("memory", "20M", "400M", 100e6), ("disk=.", "1M", "20M", 3e6)],
)
def test_how_much(limit, name, low, high, needed):
    """As near as a thousandth of the range, and not far above what the program asks for."""
    code, told, err = limit(name, low, high)
    assert (code, told["verdict"]) == (0, "found"), err
    assert needed * 0.95 < int(told["last_good"]) < needed + 40e6
    assert told["about"]["limit"].startswith(f"{name}:" if "=" in name else f"{name}=")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("files", "100", "200"), 1, "works with files=100 as well"),
        (("files", "8", "16"), 1, "fails with files=16 already"),
        (("files", "64", "99", "--reset", "false"), 1, "nothing was tested: make it work with"),
        (("files", "64", "64"), 2, "is not below"),
        (("nothing", "1", "2"), 2, "no such limit"),
        (("memory", "10%", "50%"), 2, "it takes a size"),
        (("disk", "1M", "64M"), 2, "  zeroin bisect limit disk=FOLDER LOW HIGH -- COMMAND"),
    ],
)
def test_ends_that_are_none(limit, words, code, said):
    """What is wrong is said, with the right code."""
    found, told, err = limit(*words)
    assert (found, said in told.get("hint", "") + err) == (code, True), (told, err)
