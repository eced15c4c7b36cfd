"""`pytest --zeroin`: the values below each traceback, and nothing else changed."""

from __future__ import annotations

import json
import re

import pytest

import pytests

pytestmark = pytest.mark.xdist_group("pytest_values")  # they share runs, and warm pytests

DATA = """\
def collate(items):
    return [item["label"] for item in items]
"""
KINDS = """\
import asyncio, time, unittest
import pytest
from data import collate

@pytest.mark.parametrize("n", range(4))
def test_collate(n):
    batch = [{"text": "a"}] * n
    collate(batch)

class Interrupting:
    def __repr__(self): raise KeyboardInterrupt
class Slow:
    def __repr__(self): time.sleep(8)
class Raising:
    def __repr__(self): raise ValueError("no")

def test_nasty():
    a, b, c = Interrupting(), Slow(), Raising()
    big, nan = list(range(10**6)), float("nan")
    token = "hunter2hunter2"
    raise LookupError("nasty")

@pytest.fixture
def broken():
    port = 5432
    raise ConnectionError("no database")

def test_fixture(broken): pass

@pytest.fixture
def late():
    yield
    left = [1, 2]
    raise RuntimeError("in the tear-down")

def test_late(late): pass

class TestUnit(unittest.TestCase):
    def test_it(self):
        got = {"a": 1}
        self.assertEqual(got, {})

@pytest.mark.xfail
def test_expected():
    hidden = 1
    assert hidden == 2

def test_chain():
    first = 1
    try:
        {}["k"]
    except KeyError as error:
        second = 2
        raise ValueError("outer") from error

def test_coroutine():
    async def fetch(url):
        size = len(url)
        raise OSError("unreachable")
    asyncio.run(fetch("http://shop"))
"""


def sections(output: str) -> dict[str, str]:
    """What stands under the headings of the failures: ours by the name of the test."""
    parts = re.split(r"^_{3,} (.+?) _{3,}$", output, flags=re.MULTILINE)
    found = {}
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        ours = re.search(r"^-+ zeroin -+\n(.*?)(?=^[-=_]{5,}|\Z)", text, re.MULTILINE | re.DOTALL)
        found[name] = ours[1] if ours else ""
    return found


@pytest.fixture(scope="module", params=list(pytests.OTHERS))
def kinds_run(tmp_path_factory, request):
    """Give a run of all kinds of failures with `--zeroin`, in each pytest that we work with."""
    folder = tmp_path_factory.mktemp("kinds")
    suite = pytests.Suite(folder, pytests.interpreter(request.param))
    suite.write(data=DATA, test_kinds=KINDS)
    return suite("--zeroin")


def test_every_kind_of_failure_shows_its_values(kinds_run):
    """Parameters, fixtures before and after, unittest, chains, coroutines; not what is expected."""
    done = kinds_run
    found = sections(done.stdout)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "n = 2" in found["test_collate[2]"]
    assert "in collate\n    items = [{'text': 'a'}, {'text': 'a'}]" in found["test_collate[2]"]
    assert "port = 5432" in found["ERROR at setup of test_fixture"]
    assert "left = [1, 2]" in found["ERROR at teardown of test_late"]
    assert "got = {'a': 1}" in found["TestUnit.test_it"]
    assert "was the direct cause of" in found["test_chain"]
    assert "second = 2" in found["test_chain"]
    assert "size = 11" in found["test_coroutine"]
    assert "test_expected" not in found


def test_values_that_break_other_tools(kinds_run):
    """A repr that interrupts, sleeps or raises; a million elements; a secret."""
    shown = sections(kinds_run.stdout)["test_nasty"]
    assert "a = <Interrupting object: its repr raised KeyboardInterrupt>" in shown
    assert re.search(r"b = <Slow object: .*>", shown)
    assert "c = <Raising object: its repr raised ValueError>" in shown
    assert "big = list(1,000,000): [0, 1, 2" in shown
    assert "nan = nan" in shown
    assert "hunter2" not in shown
    assert kinds_run.returncode == 1


def test_without_the_option_nothing_is_there(any_suite):
    """The output is that of a pytest without us, to the letter."""
    any_suite.write(data=DATA, test_kinds=KINDS)
    any_suite.load_plugins("xdist")  # so that there is a line of plugins also without us
    args = ("-p", "no:cacheprovider", "-k", "collate or late")

    def plain(output: str) -> str:
        output = re.sub(r"^plugins:.*$", "", output, flags=re.MULTILINE)
        return re.sub(r"0x\w+|\d+\.\d+s", "…", output)

    with_us, without = any_suite(*args), any_suite(*args, "-p", "no:zeroin")
    assert plain(with_us.stdout) == plain(without.stdout)
    assert not (any_suite.folder / ".zeroin").exists()


def test_the_plain_traceback_comes_first_and_unchanged(suite):
    """Taking our sections away leaves what pytest prints alone."""
    suite.write(data=DATA, test_kinds=KINDS)
    args = ("-p", "no:cacheprovider", "-k", "chain or late")

    def plain(output: str) -> str:
        output = re.sub(
            r"^-+ zeroin -+\n.*?(?=^[_=]{5,})", "", output, flags=re.MULTILINE | re.DOTALL
        )
        output = re.sub(r"^=+ zeroin =+\n.*?(?=^={5,})", "", output, flags=re.MULTILINE | re.DOTALL)
        return re.sub(r"0x\w+|\d+\.\d+s", "…", output)

    with_us, without = suite("--zeroin", *args), suite(*args)
    assert " zeroin " in with_us.stdout
    assert plain(with_us.stdout) == plain(without.stdout)


@pytest.mark.parametrize(
    "options",
    [
        ("--tb=no",),
        ("-q",),
        ("-x",),
        ("-s",),
        ("--tb=line",),
        ("--tb=native", "-l"),
        ("--show-capture=no",),
        ("-p", "no:terminal"),
        ("-p", "no:cacheprovider", "-p", "no:unittest"),
        ("-n", "2"),
        ("--collect-only",),
        ("--zeroin-top", "0"),
    ],
    ids=" ".join,
)
def test_other_options_end_as_without_us(suite, options):
    """The exit code and the count of what failed stay, whatever else is asked for."""
    suite.load_plugins(*["xdist"] if "-n" in options else [])
    suite.write(data=DATA, test_kinds=KINDS)
    wanted = ("-k", "collate or fixture or chain", *options)

    def count(done):
        last = done.stdout.strip().splitlines()[-1:] or [""]
        return done.returncode, re.sub(r" in [\d.]+s.*", "", last[0]).strip("= "), done.stderr

    assert count(suite("--zeroin", *wanted)) == count(suite(*wanted))


def test_doctests_and_files_that_can_not_be_imported(suite):
    """A failing import is a failure with values; a doctest keeps its own report."""
    suite.write(
        broken="limit = 3\nassert limit > 5, 'too low'\n",
        test_import="import broken\n",
        doc='def f():\n    """\n    >>> f()\n    2\n    >>> 1 / 0\n    """\n    return 1\n',
    )
    done = suite("--zeroin", "--doctest-modules", "--ignore=broken.py", "doc.py", "test_import.py")
    assert done.returncode in (1, 2), done.stdout
    assert "broken.py:2 in <module>\n    limit = 3" in done.stdout
    assert "AssertionError at broken.py: too low" in done.stdout
    alone = suite("--zeroin", "--doctest-modules", "doc.py")
    assert (alone.returncode, "Expected:\n    2" in alone.stdout) == (1, True)
    assert "INTERNALERROR" not in alone.stdout


@pytest.mark.slow
def test_groups_and_subtests(tmp_path):
    """Each member of a group and each subtest has its values."""
    suite = pytests.Suite(tmp_path, pytests.interpreter("9"))
    suite.write(
        test_many="""\
def fail(name):
    size = len(name)
    raise ValueError(name)

def test_group():
    found = []
    for name in ("one", "three"):
        try:
            fail(name)
        except ValueError as error:
            found.append(error)
    raise ExceptionGroup("both", found)

def test_subtests(subtests):
    for number in range(3):
        with subtests.test(number=number):
            square = number * number
            assert square < 1
"""
    )
    done = suite("--zeroin", "-p", "no:cacheprovider")
    assert done.returncode == 1
    assert "1. ValueError at test_many.py fail(): one" in done.stdout
    assert "       name = 'three'" in done.stdout
    assert done.stdout.count("square = 1\n") == 1
    assert done.stdout.count("square = 4\n") == 1


MOCKS = """\
import builtins, os, subprocess, time
from unittest import mock
import pytest

@pytest.fixture
def frozen(monkeypatch):
    for name in ("monotonic", "perf_counter"):
        monkeypatch.setattr(time, name, lambda: 5.0)
    monkeypatch.setattr(time, "time", mock.Mock(side_effect=[1]))

@pytest.fixture
def no_system(monkeypatch):
    monkeypatch.setattr(builtins, "open", mock.Mock())
    monkeypatch.setattr(subprocess, "Popen", mock.Mock())
    monkeypatch.setattr(os, "fork", mock.Mock(side_effect=OSError))

def test_frozen(frozen):
    size = 3
    raise LookupError("frozen")

def test_no_system(no_system):
    size = 4
    raise LookupError("mocked")

def test_no_folder(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    raise LookupError("no folder")

def test_recursion():
    def again(n):
        return again(n + 1)
    again(0)
"""


def test_tests_that_mock_the_world(suite):
    """Frozen clocks, a mocked open, fork and Popen, no working folder: each is an attempt."""
    suite.write(test_mocks=MOCKS)
    done = suite("--zeroin")
    assert "    size = 3\n" in done.stdout
    assert "note:" not in done.stdout, done.stdout
    assert re.findall(r"^attempt (\d): (\w+)", done.stdout, re.MULTILINE) == [
        ("1", "LookupError"),
        ("2", "LookupError"),
        ("3", "LookupError"),
        ("4", "RecursionError"),
    ]
    deep = sections(done.stdout)["test_recursion"]
    assert deep.count("in test_recursion.<locals>.again") < 4
    assert "… the same line again and again" in deep


def test_groups_of_xdist_are_no_part_of_the_command(suite):
    """`loadgroup` hangs them on the ids."""
    suite.load_plugins("xdist")
    suite.write(
        test_group="""\
import pytest

@pytest.mark.xdist_group("db")
def test_it():
    assert 0
"""
    )
    done = suite("--zeroin", "-n", "1", "--dist", "loadgroup", "--zeroin-report", "r.json")
    (failure,) = json.loads((suite.folder / "r.json").read_text())["failures"]
    assert (failure["id"], failure["command"][3]) == ("test_group.py::test_it",) * 2, done.stdout
