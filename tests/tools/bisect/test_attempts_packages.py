"""`bisect attempts` where installed packages differ as well."""

import json
import os
import shutil

import pytest

import packages

CODE = "version = '{}'\n"
NAMES = [f"p{number}" for number in range(6)]


class Story:
    """A project with an environment of its own, runs of it, and what bisect says of them."""

    def __init__(self, zeroin, index, folder):
        self.zeroin, self.index, self.folder = zeroin, index, folder
        folder.mkdir()
        bin_ = folder / ".venv" / "bin"
        path = f"{bin_}{os.pathsep}{zeroin.env['PATH']}"
        self.env = {**index.env, "PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        (folder / ".zeroin").mkdir()
        (folder / ".gitignore").write_text(".venv\n")

    def install(self, *wanted):
        folder = self.folder / ".venv"
        if folder.exists():
            shutil.rmtree(folder)
        packages.make_environment(folder, {**self.zeroin.env, **self.index.env}, *wanted)

    def run(self, text, code, python="python"):
        (self.folder / "use.py").write_text(text)
        done = self.zeroin("run", "--", python, "use.py", cwd=self.folder, env=self.env)
        assert done.returncode == code, done.stderr

    def ask(self, *words, env=None):
        return self.zeroin(
            "bisect", "attempts", "1", "2", *words, cwd=self.folder,
            env={**self.env, **(env or {})}, timeout=200,
        )  # fmt: skip

    def told(self, *words):
        done = self.ask("--json", *words)
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def index(tmp_path):
    """Six packages, and three that need each other in the same release."""
    made = packages.Index(tmp_path / "index")
    for name in NAMES:
        for version in ("1.0", "2.0"):
            made.add(name, version, {f"{name}.py": CODE.format(version)})
    for name, below in (("top", "base"), ("base", "")):
        for version in ("1.0", "2.0"):
            needs = [f"{below}=={version}"] if below else []
            made.add(name, version, {f"{name}.py": CODE.format(version)}, requires=needs)
    return made


@pytest.fixture
def story(zeroin, index, tmp_path):
    return Story(zeroin, index, tmp_path / "project")


def use(*lines):
    return "\n".join([*(f"import {name}" for name in NAMES), *lines]) + "\n"


def test_a_package_among_edits(story):
    """The package is named, with both releases; edits and the other packages are not."""
    story.install(*(f"{name}==1.0" for name in NAMES))
    line = "assert p3.version < '2', p3.version"
    story.run(use("x = 1", line), 0)
    story.install(*(f"{name}==2.0" for name in NAMES))
    story.run(use("x = 2", line, "y = 3"), 1)
    told = story.told()
    (one,) = told["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("p3", "1.0", "2.0")
    assert (one["about"]["kind"], told["confirmed"], told["about"]["cured"]) == (
        "package",
        True,
        True,
    )
    assert told["about"]["changes"] >= 8
    assert not any("as they are now" in note for note in told["notes"])
    shown = story.ask("--fresh").stdout
    assert "p3: 1.0 → 2.0" in shown


def test_an_edit_and_a_package_together(story):
    """Neither breaks it alone: both are named."""
    story.install("p1==1.0", "p2==1.0")
    line = "assert not (strict and p1.version > '1.5'), p1.version"
    story.run(f"import p1, p2\nstrict = False\n{line}\n", 0)
    story.install("p1==2.0", "p2==2.0")
    story.run(f"import p1, p2\nstrict = True\n{line}\n", 1)
    told = story.told()
    assert {one["name"] for one in told["culprits"]} == {"use.py:2", "p1"}


def test_packages_that_cannot_be_apart(story):
    """Who needs the other in the same release moves with it; no mixture of them is tried."""
    story.install("top==1.0", "p1==1.0")
    line = "assert base.version < '2', base.version"
    story.run(f"import base, top, p1\n{line}\n", 0)
    story.install("top==2.0", "p1==2.0")
    story.run(f"import base, top, p1\n{line}\n", 1)
    done = story.ask()
    assert "base: 1.0 → 2.0" in done.stdout
    assert "which needs (else these packages can't be installed together):" in done.stdout
    assert "top: 1.0 → 2.0" in done.stdout
    assert "p1" not in done.stdout.replace("p1.version", "")


def test_two_environments_by_name(story):
    """Whichever Python is named, tries have the packages: it is not the program that broke it."""
    env = {**story.zeroin.env, **story.index.env}
    for name, version in (("works", "1.0"), ("fails", "2.0")):
        packages.make_environment(story.folder / name, env, f"p1=={version}", f"p2=={version}")
    (story.folder / ".gitignore").write_text("works\nfails\n")
    line = "import p1, p2\nassert p1.version < '2', p1.__file__\n"
    story.run(line, 0, "works/bin/python")
    story.run(line, 1, "fails/bin/python")
    told = story.told()
    (one,) = told["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("p1", "1.0", "2.0")
    assert told["headline"].endswith(": p1.py")


def test_packages_that_came_and_went(story):
    """A package that is there only in the one is a change as well."""
    story.install("p1==1.0")
    line = "try: import p2\nexcept ImportError: pass\nelse: raise RuntimeError('p2 is in the way')"
    story.run(f"import p1\n{line}\n", 0)
    story.install("p1==2.0", "p2==1.0")
    story.run(f"import p1\n{line}\n", 1)
    (one,) = story.told()["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("p2", None, "1.0")


def test_without_an_index(story):
    """What can't be had can't be varied: the rest is searched, and that is said."""
    story.install("p1==1.0")
    story.run("import p1\nx = 1\nassert x == 1\n", 0)
    story.install("p1==2.0")
    story.run("import p1\nx = 2\nassert x == 1\n", 1)
    away = {
        "UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple",
        "UV_OFFLINE": "",
        "XDG_CACHE_HOME": str(story.folder / "c"),
        "UV_NO_CACHE": "1",
    }
    done = story.ask(env=away)
    assert "use.py:2" in done.stdout
    assert "installed packages differ as well, and are in all tries as they are now: p1" in (
        done.stdout
    )
