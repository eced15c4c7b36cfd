"""A search that can't come to an answer stops, says what is left, and is no success."""

import pytest

from repositories import BAD, GOOD

COMMAND = ("--", "python", "-c", "from pkg.core import add; assert add(1) == 2")
BROKEN = "def add(x\n"


def test_where_nothing_tells_anything(bisect, repository):
    """After twenty commits in a row that can't be tested, not after all of them."""
    texts = [GOOD, *[f"{BROKEN}# {n}\n" for n in range(200)], BAD]
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~201", "-j", "1", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (1, "range", False)
    assert "20 commits in a row told nothing" in done.told["why"]
    assert "SyntaxError" in done.told["why"]
    assert set(done.told["candidates"]) == set(shas[1:])
    assert done.told["tries"] < 40


def test_a_bound_on_the_runs(bisect, repository):
    """With --max-runs it stops with what is known; without, it goes on from there."""
    shas = repository.commits(*[f"{GOOD if n < 40 else BAD}# {n}\n" for n in range(64)])
    words = ("commits", "HEAD~63", "-j", "1")
    some = bisect(*words, "--max-runs", "4", *COMMAND, cwd=repository.folder)
    assert (some.code, some.told["verdict"], some.told["tries"]) == (1, "range", 4)
    assert "no more than 4 runs" in some.told["why"]
    assert shas[40] in some.told["candidates"]
    assert len(some.told["candidates"]) < 63
    rest = bisect(*words, *COMMAND, cwd=repository.folder)
    assert (rest.code, rest.told["first_bad"]) == (0, shas[40])
    assert rest.told["resumed"] == 4


@pytest.mark.parametrize("number", ["0", "-3"])
def test_a_bound_that_is_none(zeroin, repository, number):
    """It takes one run at least."""
    done = zeroin("bisect", "commits", "--max-runs", number, *COMMAND, cwd=repository.folder)
    assert (done.returncode, "--max-runs takes a number from 1 on" in done.stderr) == (2, True)


def test_an_answer_that_is_not_one(bisect, repository):
    """One of several commits, which nothing tells apart: exit code 1."""
    repository.commits(GOOD, BROKEN, BAD)
    done = bisect("commits", "HEAD~2", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"], len(done.told["candidates"])) == (1, "range", 2)


def test_a_bound_on_a_search_for_several(zeroin, project):
    """Where changes are combined there is no range to tell of: it says that it has stopped."""
    names = [f"k{n}" for n in range(30)]
    for name, value in (("good", 1), ("bad", 0)):
        lines = ", ".join(f'"{one}": {value}' for one in names)
        (project / f"{name}.json").write_text(f"{{{lines}}}")
    (project / "t.py").write_text(
        "import json\nd = json.load(open('bad.json'))\nassert d['k3'] or d['k20']\n"
    )
    words = ("bisect", "settings", "good.json", "bad.json", "--max-runs", "5", "--")
    done = zeroin(*words, "python", "t.py", "bad.json", cwd=project)
    assert done.returncode == 1
    assert "no more than 5 runs" in done.stderr
