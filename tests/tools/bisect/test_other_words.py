"""`bisect versions` and `bisect envs` where releases fail in the same place in other words."""

import json
import os

import pytest

import packages

WORKS = "def total(rows):\n    return 7\n\n\ndef check(rows):\n    return rows\n"
# What led to the exception, the function that raises it and its words: all of them move.
CAUSED = """\
def total(rows):
    try:
        return convert(rows)
    except NotImplementedError as error:
        raise TypeError('could not convert xy to numeric') from error


def convert(rows):
    raise NotImplementedError('no fast way')


def check(rows):
    return rows
"""
PLAIN = """\
def total(rows):
    return aggregate(rows)


def aggregate(rows):
    raise TypeError('agg function failed [how->mean]')


def check(rows):
    return rows
"""
USE = "import shop\nrows = shop.check([1])\nprint(shop.total(rows))\n"


@pytest.fixture
def bisect(tmp_path, zeroin):
    """Ask for JSON, given the texts of shop by their releases and the user's script."""

    def ask(shops, use, *words):
        index = packages.Index(tmp_path / "index")
        for version, text in shops.items():
            index.add("shop", version, {"shop.py": text})
        for version in ("1.0", "2.0"):
            index.add("style", version, {"style.py": f"words = {version!r}\n"})
        folder = tmp_path / "project"
        folder.mkdir()
        newest = list(shops)[-1]
        packages.make_environment(folder / ".venv", {**zeroin.env, **index.env}, f"shop=={newest}")
        (folder / "use.py").write_text(use)
        (folder / "old.txt").write_text("shop==1.0\nstyle==1.0\n")
        (folder / "new.txt").write_text(f"shop=={newest}\nstyle==2.0\n")
        path = f"{folder / '.venv' / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
        words = ("bisect", *words, "--json", "--", "python", "use.py")
        done = zeroin(*words, cwd=folder, env={"PATH": path, **index.env}, timeout=120)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return ask


SHOPS = {
    **dict.fromkeys(("1.0", "1.1"), WORKS),
    **dict.fromkeys(("2.0rc1", "2.0", "2.1"), CAUSED),
    **dict.fromkeys(("3.0", "3.1"), PLAIN),
}


def test_the_same_line_in_other_words(bisect):
    """The first release that fails in the same line with the same exception is the answer."""
    told = bisect(SHOPS, USE, "versions", "shop", "--good", "1.0")
    assert (told["verdict"], told["last_good"], told["first_bad"]) == ("found", "1.1", "2.0")
    assert told["confirmed"]
    assert told["skipped"] == []
    (note,) = told["notes"]
    assert note.startswith("in the same place, but in other words: shop 2.0")
    assert told["about"]["early"] == "2.0rc1"


def test_what_is_another_failure(bisect):
    """Another exception, another line or a package that can't be imported at all tell nothing."""
    shops = {
        "1.0": CAUSED,
        "2.0": "raise ImportError('a newer base is needed')\n",
        "2.1": f"{CAUSED}\n\ndef check(rows):\n    raise ImportError('no base')\n",
        "2.2": "def __getattr__(name):\n    raise TypeError(name)\n",
        "3.0": WORKS,
    }
    use = "from shop import check, convert\ncheck([1])\n"
    told = bisect(shops, use, "versions", "shop", "--good", "1.0")
    assert told["headline"].startswith("ImportError at use.py: cannot import name 'convert'")
    assert (told["verdict"], told["candidates"]) == ("range", ["2.0", "2.1", "2.2", "3.0"])
    assert {one["name"] for one in told["skipped"]} == {"2.0", "2.1", "2.2"}
    assert told["notes"] == []


def test_two_environments(bisect):
    """The release that `bisect envs` goes on to is found in the same way, and it is said."""
    told = bisect(SHOPS, USE, "envs", "old.txt", "new.txt")
    (culprit,) = told["culprits"]
    assert culprit["about"]["candidates"] == ["2.0"]
    assert told["skipped"] == []
    assert "in the same place, but in other words: shop 2.0" in " ".join(told["notes"])


def test_mixes_that_fail_in_other_words(bisect):
    """A package that only changes the words of the failure is not among those to put back."""
    words = PLAIN.replace("'agg", "NAMES[style.words] + 'agg")
    words = f"import style\n\nNAMES = {{'1.0': 'old ', '2.0': 'new '}}\n\n\n{words}"
    told = bisect({"1.0": WORKS, "2.0": words}, USE, "envs", "old.txt", "new.txt")
    (culprit,) = told["culprits"]
    assert culprit["name"] == "shop"
    assert culprit["about"]["breaks_alone"] is True
    assert "in the same place, but in other words" in " ".join(told["notes"])
