"""`bisect tests`: which tests make another one fail when they run before it, or which it needs."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    import support

PYTEST = (sys.executable, "-m", "pytest")
pytestmark = pytest.mark.slow


# Of two at once, one is often in vain.
ONE_BY_ONE = ("-j", "1")


class Suite:
    """A project with tests, and what bisect says of one."""

    def __init__(self, zeroin: support.Zeroin, folder: Path) -> None:
        self.zeroin = zeroin
        self.folder = folder
        # Each try is a pytest of its own, and our own environment's plugins are half of its time.
        self.env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        (folder / "state.py").write_text("VALUES = []\n")
        (folder / "conftest.py").write_text(
            "import os, sys\nsys.path.insert(0, os.path.dirname(__file__))\n"
        )
        (folder / "tests").mkdir()

    def write(self, name: str, *tests: str) -> None:
        """Functions, by their bodies."""
        text = "import pytest\nimport state\n\n\n"
        for number, body in enumerate(tests):
            text += body if "def " in body else f"def test_{number}():\n    {body}\n"
            text += "\n\n"
        (self.folder / "tests" / name).write_text(text)

    def fill(self, files: int = 4, tests: int = 5) -> None:
        for number in range(files):
            self.write(f"test_f{number}.py", *["assert True"] * tests)

    def run(self, test: str, *args: str, command: tuple[str, ...] = PYTEST) -> tuple[int, str, str]:
        done = self.zeroin(
            "bisect",
            "tests",
            test,
            *args,
            "--",
            *command,
            cwd=self.folder,
            env=self.env,
            timeout=250,
        )
        return done.returncode, done.stdout, done.stderr

    def ask(self, test: str, *args: str, command: tuple[str, ...] = PYTEST) -> dict:
        code, out, err = self.run(test, "--json", *args, command=command)
        assert code == 0, out + err
        told = json.loads(out)
        assert told["verdict"] == "found"
        assert told["confirmed"]
        return told

    def names(self, test: str, *args: str, command: tuple[str, ...] = PYTEST) -> list[str]:
        return [one["name"] for one in self.ask(test, *args, command=command)["culprits"]]


@pytest.fixture
def suite(zeroin: support.Zeroin, project: Path) -> Suite:
    return Suite(zeroin, project)


def test_the_polluter(suite: Suite) -> None:
    """One of twenty tests before it makes it fail: log₂ n tries find it, others' failures don't."""
    suite.fill()
    suite.write(
        "test_f2.py", "pass", "state.VALUES.append(1)", "assert False, 'of its own'", "pass"
    )
    suite.write("test_z.py", "assert not state.VALUES")
    told = suite.ask("tests/test_z.py::test_0", *ONE_BY_ONE)
    assert [one["name"] for one in told["culprits"]] == ["tests/test_f2.py::test_1"]
    assert told["about"]["order"] == ["tests/test_f2.py::test_1", "tests/test_z.py::test_0"]
    assert told["tries"] <= 14


def test_the_same_command_again(suite: Suite) -> None:
    """With its Python and its options, and the tests that it takes instead of all."""
    suite.fill(1)
    suite.write("test_f0.py", "state.VALUES.append(1)", "pass")
    suite.write("test_z.py", "assert not state.VALUES")
    command = (*PYTEST, "-q", "tests", "--rootdir", ".")
    _, out, _ = suite.run("test_z.py::test_0", command=command)
    tests = "tests/test_f0.py::test_0 tests/test_z.py::test_0"
    assert f"\nagain: {sys.executable} -m pytest -q --rootdir . {tests}\n" in out


def test_several_are_needed(suite: Suite) -> None:
    """It fails only behind two of them together: both are named."""
    suite.fill(3)
    suite.write("test_f0.py", "pass", "state.VALUES.append(1)", "pass")
    suite.write("test_f2.py", "pass", "pass", "state.VALUES.append(2)")
    suite.write("test_z.py", "assert len(state.VALUES) < 2")
    assert suite.names("test_z.py::test_0") == [
        "tests/test_f0.py::test_1",
        "tests/test_f2.py::test_2",
    ]


def test_a_message_that_shows_traces_of_others(suite: Suite) -> None:
    """Pytest shows what is in a list: that others have left more in it is no other failure."""
    suite.write("test_a.py", *[f"state.VALUES.append({n})" for n in range(6)])
    suite.write("test_b.py", "assert 3 not in state.VALUES")
    assert suite.names("test_b.py::test_0") == ["tests/test_a.py::test_3"]


def test_one_that_it_needs(suite: Suite) -> None:
    """It fails alone and works behind the others: the one that it needs is named so."""
    suite.fill(3)
    suite.write("test_f1.py", "pass", "state.VALUES.append(1)", "pass")
    suite.write("test_z.py", "assert state.VALUES")
    told = suite.ask("tests/test_z.py::test_0", *ONE_BY_ONE)
    assert told["fixed"]
    assert [one["name"] for one in told["culprits"]] == ["tests/test_f1.py::test_1"]
    for name in ("test_f0.py", "test_f2.py"):  # the text of a shorter search is the same
        (suite.folder / "tests" / name).unlink()
    code, out, _ = suite.run("tests/test_z.py::test_0", *ONE_BY_ONE)
    assert code == 0
    assert "works only behind" in out
    assert "confirmed: fails alone, works behind that" in out


def test_odd_names_and_classes(suite: Suite) -> None:
    """Ids with brackets, colons, spaces and slashes, in classes, are taken as they are."""
    suite.write(
        "test_a.py",
        "class TestIt:\n"
        "    @pytest.mark.parametrize('x', ['a b', '::', '[x]', 'x/y', 'ü', 'a,b'])\n"
        "    def test_it(self, x):\n"
        "        if x == '::':\n"
        "            state.VALUES.append(x)\n",
        "@pytest.mark.parametrize('y', ['[::] /', '-x'])\n"
        "def test_after(y):\n"
        "    assert not state.VALUES\n",
    )
    assert suite.names("tests/test_a.py::test_after[[::] /]", *ONE_BY_ONE) == [
        "tests/test_a.py::TestIt::test_it[::]"
    ]


def test_options_of_the_project_do_not_disturb(suite: Suite) -> None:
    """xdist, stopping at the first failure and markers in the settings: the order is still ours."""
    suite.fill(2)
    suite.write("test_f1.py", "assert False", "state.VALUES.append(1)", "pass")
    suite.write("test_z.py", "assert not state.VALUES")
    (suite.folder / "pytest.ini").write_text("[pytest]\naddopts = -p xdist.plugin -x -n 2 --ff\n")
    assert suite.names("tests/test_z.py::test_0", *ONE_BY_ONE) == ["tests/test_f1.py::test_1"]


def test_one_that_comes_later(suite: Suite) -> None:
    """What comes before changes nothing: those behind it are tried before it as well."""
    suite.write("test_a.py", "assert not state.VALUES")
    suite.write("test_b.py", "pass", "state.VALUES.append(1)", "pass")
    assert suite.names("tests/test_a.py::test_0", *ONE_BY_ONE) == ["tests/test_b.py::test_1"]


def test_what_a_module_does_when_it_is_imported(suite: Suite) -> None:
    """A test whose module pollutes by being imported is named."""
    suite.fill(3)
    suite.write("test_f1.py", "state.VALUES.append(1)\ndef test_0():\n    pass\n")
    suite.write("test_z.py", "assert not state.VALUES")
    assert suite.names("tests/test_z.py::test_0", *ONE_BY_ONE) == ["tests/test_f1.py::test_0"]


def test_nothing_is_left_in_the_project(suite: Suite) -> None:
    """What the tests write vanishes, and pytest needs no plugin of ours installed."""
    suite.write("test_a.py", "open('made.txt', 'w').write('x'); state.VALUES.append(1)", "pass")
    suite.write("test_z.py", "assert not state.VALUES")
    suite.names("tests/test_z.py::test_0")
    assert not (suite.folder / "made.txt").exists()
    assert not (suite.folder / ".pytest_cache").exists()
    assert "zeroin_order" not in os.listdir(suite.folder)


def test_what_can_not_be_answered(suite: Suite) -> None:
    """An unknown test, one that works anyway, one that fails alone, no tests: each is said."""
    suite.fill(1, 3)
    suite.write("test_z.py", "assert True", "assert 1 == 2")

    def said(test: str, code: int, command: tuple[str, ...] = PYTEST) -> str:
        got, out, err = suite.run(test, command=command)
        assert got == code, out + err
        return out + err

    unknown = said("tests/test_z.py::test_7", 2)
    assert "no such test" in unknown
    assert "test_z.py::test_1" in unknown
    assert "several tests end so" in said("test_0", 2)
    assert "works alone and behind all others" in said("tests/test_z.py::test_0", 1)
    assert "fails alone as well" in said("tests/test_z.py::test_1", 1)
    assert "listed no tests" in said("test_0", 125, (sys.executable, "-c", "pass"))


def test_a_reset_is_run_before_each_try(suite: Suite) -> None:
    """Where the tests are run: without it, the test would find nothing."""
    suite.fill(1)
    suite.write("test_f0.py", "pass", "state.VALUES.append(1)")
    suite.write("test_z.py", "open('ready').close(); assert not state.VALUES")
    told = suite.ask("tests/test_z.py::test_0", "--reset", "touch ready", *ONE_BY_ONE)
    assert [one["name"] for one in told["culprits"]] == ["tests/test_f0.py::test_1"]
