"""`pytest --zeroin`: failing tests are attempts, each test has its cost, rates of flaky ones."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from xml.etree import ElementTree as ET

import pytest

import pytests

pytestmark = pytest.mark.xdist_group("pytest_attempts")  # they share warm pytests

DATA = """\
def collate(items):
    return [item["label"] for item in items]
"""
MANY = """\
import pytest
from data import collate

@pytest.mark.parametrize("n", range(51))
def test_collate(n):
    collate([{"text": n}] * n)
"""


def log(zeroin, suite, *args):
    done = zeroin("log", "--json", *args, cwd=suite.folder, env=suite.env)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_failing_test_is_an_attempt_that_can_be_repeated(suite, zeroin):
    """`show`, `again` and `diff` know it; `again` fails the same way."""
    suite.write(data=DATA, test_many=MANY)
    done = suite("--zeroin", "test_many.py::test_collate[2]", "test_many.py::test_collate[0]")
    assert "attempt 1: KeyError at data.py collate(): 'label'  · zeroin show 1" in done.stdout
    (one,) = log(zeroin, suite)
    assert one["signature"] == "KeyError at collate(): 'label'"
    assert (one["outcome"], one["peak_bytes"] > 1e6) == ("failed", True)
    assert one["command"][1:4] == ["-m", "pytest", "test_many.py::test_collate[2]"]
    shown = zeroin("show", "1", cwd=suite.folder)
    assert "items = [{'text': 2}, {'text': 2}]" in shown.stdout
    again = zeroin("again", "1", cwd=suite.folder)
    assert again.returncode == 1
    assert "same failure as attempt 1" in again.stderr, again.stdout + again.stderr
    diff = zeroin("diff", "1", "2", cwd=suite.folder)
    assert diff.returncode == 0, diff.stderr


def test_the_same_failure_fifty_times_is_told_once(suite, zeroin):
    """Each has its number; they stand in one line."""
    suite.write(data=DATA, test_many=MANY)
    done = suite("--zeroin", "-q", "--tb=no")
    lines = [line for line in done.stdout.splitlines() if line.startswith("attempt")]
    (line,) = lines
    assert line.startswith("attempts 1-50: KeyError at data.py collate(): 'label'  · ")
    assert line.endswith("  · the same failure 50 times  · zeroin show 1")
    assert len(log(zeroin, suite, "-n", "100")) == 50


def test_only_the_controller_of_xdist_records(suite, zeroin):
    """Every failing test once, with the worker it ran in."""
    suite.load_plugins("xdist")
    suite.write(data=DATA, test_many=MANY)
    done = suite("--zeroin", "-n", "2", "-k", "1 or 2", "--tb=no", "--zeroin-report", "r.json")
    found = json.loads((suite.folder / "r.json").read_text())
    failed = [one["id"] for one in found["failures"]]
    assert len(failed) == len(set(failed)) == len(log(zeroin, suite, "-n", "100")) > 10
    assert {one["worker"] for one in found["failures"]} == {"gw0", "gw1"}
    assert "(gw" in done.stdout


def test_under_zeroin_run_tests_belong_to_the_run(any_suite, zeroin):
    """Nothing is installed there; the run is one attempt, and each test names it."""
    any_suite.write(data=DATA, test_many=MANY)
    words = [any_suite.python, "-m", "pytest", "--zeroin", "-q", "-W", "ignore"]
    tests = ["test_many.py::test_collate[1]", "test_many.py::test_collate[2]"]
    env = {name: any_suite.env[name] for name in ("PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS")}
    done = zeroin("run", "--json", "--", *words, *tests, cwd=any_suite.folder, env=env)
    found = json.loads(done.stdout)
    assert (done.returncode, found["id"]) == (1, 1)
    assert [(one["id"], one["test"]) for one in found["tests"]] == list(enumerate(tests, 2))
    assert {one["signature"] for one in found["tests"]} == {found["signature"]}
    shown = zeroin("show", "3", cwd=any_suite.folder).stdout
    assert re.search(r"^part of +attempt 1$", shown, re.MULTILINE)
    assert "n = 2" in shown
    assert "  attempts 2-3" not in done.stdout
    plain = zeroin("run", "--", *words, *tests, cwd=any_suite.folder, env=env)
    assert "  attempts 5-6: KeyError at data.py collate(): 'label'  (2 tests)" in plain.stderr


def test_before_3_11_one_line_says_where_attempts_are_kept(tmp_path):
    """The values are shown all the same."""
    suite = pytests.Suite(tmp_path, pytests.interpreter("7"))
    suite.write(test_a="def test_a():\n    x = 1\n    assert x == 2\n")
    done = suite("--zeroin")
    assert "    x = 1\n" in done.stdout
    note = "kept as attempts from Python 3.11 on, or under any with: zeroin run -- python -m pytest"
    assert done.stdout.count(note) == 1
    assert not (suite.folder / ".zeroin").exists()


def test_a_record_that_can_not_be_written_is_one_note(suite):
    """And the tests end as they would have."""
    suite.write(data=DATA, test_many=MANY)
    suite("--zeroin", "-q", "--tb=no", "-k", "1")
    for path in (suite.folder / ".zeroin").glob("store.db*"):
        path.write_text("this is no database, is it? " * 100)
    done = suite("--zeroin", "-q", "--tb=no", "-k", "1")
    assert (done.returncode, done.stdout.count("not kept as attempts")) == (1, 1)
    assert "KeyError at data.py collate(): 'label'  · the same failure" in done.stdout


# --- what each test costs -------------------------------------------------------------------

COSTS = """\
import time

held = []

def test_peak():
    data = bytearray(60_000_000)
    data[::4096] = b"x" * len(data[::4096])
    del data

def test_kept():
    held.append(bytearray(b"x") * 40_000_000)

def test_slow():
    time.sleep(0.2)

def test_none():
    pass
"""


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["here", "xdist"])
def test_time_and_memory_of_each_test(suite, options):
    """The peak inside a test is seen though it is gone at its end; in JUnit's XML as well."""
    suite.load_plugins(*["xdist"] if options else [])
    suite.write(test_costs=COSTS)
    done = suite("--zeroin", "--zeroin-report", "r.json", "--junitxml", "j.xml", *options)
    found = json.loads((suite.folder / "r.json").read_text())
    tests = {one["id"].partition("::")[2]: one for one in found["tests"]}
    assert done.returncode == 0, done.stdout
    assert 50e6 < tests["test_peak"]["peak_bytes"] < 90e6
    assert abs(tests["test_peak"]["grown_bytes"]) < 20e6
    assert 30e6 < tests["test_kept"]["grown_bytes"] < 60e6
    assert tests["test_none"]["peak_bytes"] < 5e6
    assert tests["test_slow"]["seconds"] > 0.2
    row = r"peak \+\d+\.\d MB +kept (0|\S+ \S+) +test_costs.py::test_peak"
    assert re.search(row, done.stdout), done.stdout
    for case in ET.parse(suite.folder / "j.xml").iter("testcase"):
        names = {one.get("name"): one.get("value") for one in case.iter("property")}
        assert int(names["zeroin_peak_bytes"]) == tests[case.get("name")]["peak_bytes"]


COLLECTED = """\
import pytest, missing_shop
"""
DOCTESTS = '''\
def price(amount):
    """
    >>> price(1)
    2
    >>> price(2)
    3
    """
    return amount * 2

def total(amount):
    """
    >>> total(2)
    3
    """
    raise ValueError(amount)
'''


def test_what_can_not_be_collected_is_titled_by_its_cause(any_suite):
    """The import that failed, in the user's file, and not pytest's own error."""
    any_suite.write(test_shop=COLLECTED)
    done = any_suite("--zeroin", "--zeroin-report", "r.json")
    (failure,) = json.loads((any_suite.folder / "r.json").read_text())["failures"]
    title = "ModuleNotFoundError at test_shop.py: No module named 'missing_shop'"
    assert failure["headline"] == title, done.stdout


def test_doctests_are_told_by_their_example(any_suite):
    """What it should give and what it gave, at the user's line; or what it raised."""
    any_suite.write(test_shop=DOCTESTS)
    for more in ((), ("--doctest-continue-on-failure",)):
        done = any_suite("--zeroin", "--doctest-modules", "--zeroin-report", "r.json", *more)
        failures = json.loads((any_suite.folder / "r.json").read_text())["failures"]
        assert sorted(one["headline"] for one in failures) == [
            "DocTestFailure at test_shop.py price(): price(2): expected 3, got 4",
            "ValueError at test_shop.py total(): 2",
        ], done.stdout
        assert "test_shop.py:5 in test_shop.price" in done.stdout


# --- how often --------------------------------------------------------------------------------

FLAKY = """\
import itertools
import pytest

count = itertools.count()

@pytest.fixture(scope="module")
def server():
    return {"up": True}

@pytest.fixture
def client(server):
    return dict(server, number=next(count))

def test_flaky(client):
    number = client["number"]
    if number == 0 or number % 10 in (3, 6):
        raise TimeoutError(f"after {number} ms")
    if number % 10 == 9:
        raise KeyError("answer")

def test_broken():
    assert 1 == 2

def test_fixture_in_between(server):
    assert server["up"]
"""
ORDER = """\
state = []

def test_first():
    state.append(1)

def test_second():
    assert not state
"""


def test_rates_of_failing_tests(any_suite):
    """Flaky by kind, with its interval; broken as broken; the exit code stays."""
    any_suite.write(test_flaky=FLAKY)
    done = any_suite("--zeroin-flaky", "10", "--tb=no", "-q")
    out = done.stdout
    assert done.returncode == 1, out + done.stderr
    assert "test_flaky: failed 3 of 10: flaky, 30 % (95 % interval 11 to 60 %)" in out
    assert "    2 of 10: TimeoutError at test_flaky.py test_flaky(): after 3 ms" in out
    assert "    1 of 10: KeyError at test_flaky.py test_flaky(): 'answer'" in out
    assert "test_broken: failed 10 of 10: not flaky; alone it failed 1 of 1" in out
    assert "2 failed, 1 passed" in out


SUBTESTS = """\
import unittest

class Prices(unittest.TestCase):
    def test_prices(self):
        for price in range(3):
            with self.subTest(price=price):
                self.assertNotEqual(price, 1)

def test_amounts(subtests):
    for amount in range(3):
        with subtests.test(amount=amount):
            assert amount != 1
"""


def test_subtests_that_fail_again_count_for_their_test_and_not_for_pytest(tmp_path):
    """A test is as often broken as one of its subtests; pytest's own counts stay as they were."""
    suite = pytests.Suite(tmp_path, pytests.interpreter("9"))
    suite.write(test_shop=SUBTESTS)
    plain = suite("--tb=no", "-q").stdout
    done = suite("--tb=no", "-q", "--zeroin-flaky", "4", "--zeroin-report", "r.json")
    rates = json.loads((suite.folder / "r.json").read_text())["flaky"]
    assert [(rate["failed"], rate["verdict"]) for rate in rates] == [(4, "fails always")] * 2
    (counts,) = re.findall(r"\d+ failed.*(?= in )", plain)
    assert counts in done.stdout, done.stdout


def test_what_only_fails_behind_others_is_told_apart(suite, zeroin):
    """And the command that is printed names the other test."""
    suite.write(test_order=ORDER)
    done = suite("--zeroin-flaky", "3", "--tb=no", "-q", "--zeroin-report", "r.json")
    assert "failed 3 of 3 here, and never alone: it depends on what ran before" in done.stdout
    (rate,) = json.loads((suite.folder / "r.json").read_text())["flaky"]
    assert (rate["verdict"], rate["alone_runs"], rate["alone_failed"]) == ("order", 2, 0)
    command = re.search(r"which test is it\? zeroin (.*)", done.stdout)[1].split()
    env = {"PATH": f"{sys.prefix}/bin:{zeroin.env['PATH']}"}
    env["PYTEST_ADDOPTS"] = suite.env["PYTEST_ADDOPTS"]
    found = zeroin(*command, cwd=suite.folder, env=env)
    assert "test_first" in found.stdout, found.stdout + found.stderr


def test_rates_come_from_the_workers_of_xdist(suite):
    """The same counts as in one process."""
    suite.load_plugins("xdist")
    suite.write(test_flaky=FLAKY)
    done = suite("--zeroin-flaky", "10", "--tb=no", "-q", "-n", "2", "--dist", "loadfile")
    assert "test_flaky: failed 3 of 10: flaky" in done.stdout, done.stdout


def test_other_plugins_run_tests_again_and_count_as_before(any_suite):
    """pytest-rerunfailures and pytest-cov work beside us; what passed later is no failure."""
    any_suite.load_plugins(*pytests.USUAL_PLUGINS)
    any_suite.write(test_flaky=FLAKY, data=DATA)
    args = ("--reruns", "2", "--cov=data", "--tb=no", "-q", "test_flaky.py::test_flaky")
    done = any_suite("--zeroin", *args)
    assert "1 rerun" in done.stdout, done.stdout
    assert "attempt" not in done.stdout
    assert "INTERNALERROR" not in done.stdout + done.stderr


def test_asynchronous_tests(any_suite):
    """Tests of pytest-asyncio have their values and rates."""
    any_suite.load_plugins("asyncio")
    any_suite.write(
        test_async="""\
import asyncio, pytest

@pytest.mark.asyncio
async def test_fetch():
    url = "shop"
    await asyncio.sleep(0)
    assert url == "x"
"""
    )
    done = any_suite("--zeroin", "--zeroin-flaky", "2")
    assert "    url = 'shop'\n" in done.stdout, done.stdout
    assert "failed 2 of 2: not flaky" in done.stdout


@pytest.mark.parametrize(
    ("option", "text"),
    [
        (("--zeroin-flaky", "0"), "--zeroin-flaky: how often"),
        (("--zeroin-top", "-1"), "--zeroin-top: how many"),
    ],
)
def test_wrong_numbers_are_refused(suite, option, text):
    """As pytest refuses: exit code 4."""
    done = suite(*option)
    assert (done.returncode, text in done.stderr) == (4, True)


def test_the_debugger_opens_at_the_failure(suite, terminal):
    """`--pdb` works as without us, and no test is run again under it."""
    suite.write(data=DATA, test_many=MANY)
    words = [suite.python, "-m", "pytest", "--zeroin", "--zeroin-flaky", "3", "--pdb"]
    one = terminal([*words, "test_many.py::test_collate[1]"], cwd=suite.folder, env=suite.env)
    one.expect("(Pdb)")
    assert "items = [{'text': 1}]" in one.text
    one.line("p item")
    one.expect("{'text': 1}")
    one.line("c")
    assert one.wait() == 1
    assert one.text.count("entering PDB") == 1


def test_ctrl_c_leaves_what_was_recorded(suite, terminal, zeroin):
    """The tests that failed before are attempts, and pytest ends as always."""
    suite.write(
        data=DATA,
        test_a="from data import collate\ndef test_a():\n    collate([{}])\n",
        test_b="import time\ndef test_b():\n    print('waiting')\n    [time.sleep(0.1) for _ in range(1000)]\n",
    )
    words = [suite.python, "-m", "pytest", "--zeroin", "-s", "-v"]
    one = terminal(words, cwd=suite.folder, env=suite.env)
    one.expect("waiting")
    one.send("\x03")
    assert one.wait() == 2
    assert "attempt 1: KeyError" in one.text
    assert len(log(zeroin, suite)) == 1


def test_it_costs_nothing_to_import():
    """What every start of pytest loads is the options: none of our other modules."""
    code = (
        "import sys; import zeroin.fronts.pytest_plugin as p;"
        "print(*sorted(n for n in sys.modules if n.startswith('zeroin')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        *("zeroin", "zeroin.agent", "zeroin.agent.testing", "zeroin.agent.testing.entry"),
        *("zeroin.fronts", "zeroin.fronts.pytest_plugin"),
    ]
