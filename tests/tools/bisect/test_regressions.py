"""Regressions of real packages, from the real index: each ends where its changelog says.

What happened is told in `regressions/cases.json`; each case was checked release by release.
"""

import json
import os
from pathlib import Path

import pytest

import packages
import support
from left_out import some_rows

HERE = Path(__file__).parent / "regressions"
TABLE = "real regressions"
CASES = json.loads((HERE / "cases.json").read_text())
PYTHON = support.interpreters().get("3.11")  # some releases are for no newer one
# Of two at once, one is often in vain: how many such ones end is a matter of load, and counted.
ONE_BY_ONE = ("--jobs", "1")
FLASK = """\
import flask

app = flask.Flask("shop")


@app.get("/price/<item>")
def price(item):
    return {"item": item, "net": 12}


print(app.test_client().get("/price/tea").json)
"""
pytestmark = [
    packages.needs_index(),
    pytest.mark.slow,
    pytest.mark.skipif(PYTHON is None, reason="there is no Python 3.11"),
]


@pytest.fixture
def ask(zeroin, tmp_path):
    """Ask in a project with an empty environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    settings = packages.online()
    made = packages.make_environment(folder / ".venv", zeroin.env | settings, python=PYTHON)

    def ask(script, *words):
        (folder / "repro.py").write_text(script)
        env = {**settings, "PATH": f"{made / 'bin'}{os.pathsep}{zeroin.env['PATH']}"}
        words = ("bisect", *words, "--json", "--", "python", "repro.py")
        done = zeroin(*words, cwd=folder, env=env, timeout=280)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    ask.folder = folder
    return ask


@pytest.mark.parametrize("case", some_rows(CASES["versions"], TABLE), ids=lambda case: case["name"])
def test_the_release_of_the_changelog(ask, case):
    """The first bad release is the one that the changelog names."""
    also = [word for one in case["with"] for word in ("--with", one)]
    ends = ("--good", case["good"], "--bad", case["bad"])
    told = ask(case["script"], "versions", case["package"], *ends, *also)
    assert (told["last_good"], told["first_bad"]) == (case["last_good"], case["first_bad"])
    assert told["candidates"] == case.get("candidates", [case["first_bad"]])
    assert told["confirmed"]


@pytest.mark.parametrize("case", some_rows(CASES["envs"], TABLE), ids=lambda case: case["name"])
def test_a_dependency_of_a_dependency(ask, case):
    """Of all that differs between two locks, and then its first bad release."""
    for name in ("old", "new"):
        (ask.folder / f"{name}.txt").write_text("\n".join(case[name]) + "\n")
    told = ask(case["script"], "envs", "old.txt", "new.txt")
    found = {
        one["name"]: [one["about"]["last_good"], one["about"]["first_bad"]]
        for one in told["culprits"]
    }
    assert found == case["culprits"]


def lines(name):
    return dict(line.split("==") for line in (HERE / name).read_text().split())


def test_a_large_lock(ask):
    """One of 179 changes, in at most 15 tries one by one; nothing else is named."""
    told = ask(FLASK, "envs", str(HERE / "old.txt"), str(HERE / "new.txt"), *ONE_BY_ONE)
    assert told["about"]["changes"] >= 150
    (culprit,) = told["culprits"]
    assert (culprit["name"], culprit["about"]["first_bad"]) == ("werkzeug", "3.0.0")
    assert culprit["about"]["breaks_alone"]
    assert told["tries"] <= 15


@pytest.mark.parametrize(
    ("names", "most"),
    [(["joblib"], 15), (["types-toml"], 15), (["faker", "deprecated"], 25)],
    ids=lambda value: "-".join(value) if isinstance(value, list) else "",
)
def test_a_large_lock_without_a_trace(ask, names, most):
    """Where nothing shows which packages matter: one in 15 tries, two together in 25."""
    new = lines("new.txt")
    script = f"""\
import importlib.metadata as metadata
there = [one.version for name in {names!r} for one in metadata.distributions(name=name)]
if there == {[new[name] for name in names if name in new]!r}:
    raise ValueError("broken")
"""
    files = (str(HERE / "old.txt"), str(HERE / "new.txt"))
    told = ask(script, "envs", *files, "--no-release", *ONE_BY_ONE)
    assert {one["name"] for one in told["culprits"]} == set(names)
    assert told["tries"] <= most
