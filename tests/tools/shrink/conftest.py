"""A program that reads rows, a payload that makes it fail, and `shrink` on it."""

from __future__ import annotations

import json
import textwrap

import pytest

import support

PROGRAM = """
    import json
    import sys

    def collate(rows):
        return [row["label"] for row in rows]

    def main():
        with open(sys.argv[1]) as file:
            rows = [json.loads(line) for line in file if line.strip()]
        if not rows:
            raise ValueError("no rows")
        if any(row.get("id") == 40 for row in rows):
            collate(rows)

    main()
    """


def rows(count=60, without=23):
    """Rows, of which two are needed: the 40th, and one that has no label."""
    found = [{"id": n, "text": "lorem ipsum " * 5, "label": "a"} for n in range(count)]
    del found[without]["label"]
    return "".join(json.dumps(row) + "\n" for row in found)


class Shrunk:
    """What came of it."""

    def __init__(self, done):
        self.code = done.returncode
        self.out = done.stdout
        self.err = done.stderr
        self.told = json.loads(done.stdout) if done.stdout.startswith("{") else {}


@pytest.fixture
def shrink(zeroin, project):
    """`shrink("data.jsonl", "--", "python", "train.py", "data.jsonl")`, with --json."""

    def run(*words, text=False, **options):
        own = [] if text else ["--json"]
        return Shrunk(zeroin("shrink", *own, *words, cwd=project, **options))

    return run


def write_program(project):
    """Put the program and its rows into a project."""
    (project / "train.py").write_text(textwrap.dedent(PROGRAM))
    (project / "data.jsonl").write_text(rows())
    return project


@pytest.fixture
def program(project):
    """The program and its rows are there."""
    return write_program(project)


@pytest.fixture(scope="module")
def plain_search(tmp_path_factory):
    """One search in the rows of the program, for all who only look at what it told and left."""
    base = tmp_path_factory.mktemp("search")
    zeroin = support.Zeroin(base)
    folder = write_program(support.make_project(base / "project", zeroin.env))
    words = ("data.jsonl", "--", "python", "train.py", "data.jsonl")
    done = Shrunk(zeroin("shrink", "--json", *words, cwd=folder))
    done.folder = folder
    return done
