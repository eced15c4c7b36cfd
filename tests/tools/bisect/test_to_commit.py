"""From the release on to the commit, in a repository made here."""

import json
import os
import subprocess

import pytest

import packages
from zeroin.axes.versions import sources

STEPS = ["one", "two", "broken", "four", "five"]


@pytest.fixture
def repository(tmp_path):
    """Five commits from the tag of 1.0 to that of 2.0; the third one breaks it."""
    folder = tmp_path / "upstream" / "shop"
    (folder / "src").mkdir(parents=True)

    def git(*words):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.invalid"]
        subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)

    git("init", "-q")
    for number, step in enumerate(["zero", *STEPS]):
        code = (
            "def total():\n    raise TypeError('no total')\n" if number >= 3 else "total = list\n"
        )
        (folder / "src" / "shop.py").write_text(f"step = {step!r}\n{code}")
        git("add", "-A")
        git("commit", "-q", "-m", f"Do {step}")
        if step in ("zero", "five"):
            git("tag", "v1.0" if step == "zero" else "v2.0")
    return folder


@pytest.fixture
def project(tmp_path, zeroin, repository):
    """Releases that name their repository, and a project that uses the newer one."""
    index = packages.Index(tmp_path / "index")
    for version, code in (("1.0", "total = list\n"), ("2.0", "raise TypeError('no total')\n")):
        text = code if version == "1.0" else f"def total():\n    {code}"
        urls = [f"Homepage, {repository}", f"Source, file://{repository}/tree/main"]
        index.add("shop", version, {"shop.py": text}, urls=urls)
    folder = tmp_path / "project"
    folder.mkdir()
    env = {**zeroin.env, **index.env}
    packages.make_environment(folder / ".venv", env, "shop==2.0")
    (folder / "use.py").write_text("import shop\nopen('left', 'w').close()\nshop.total()\n")
    (folder / "old.txt").write_text("shop==1.0\n")
    (folder / "new.txt").write_text("shop==2.0\n")
    path = f"{folder / '.venv' / 'bin'}{os.pathsep}{env['PATH']}"

    def ask(*words):
        told = {"PATH": path, **index.env}
        return zeroin("bisect", *words, cwd=folder, env=told, timeout=200)

    ask.folder = folder
    return ask


def test_from_a_release_to_its_commit(project):
    """The commit is named, and the user's folder is as it was."""
    words = ("versions", "shop", "--good", "1.0", "--to-commit")
    done = project(*words, "--", "python", "use.py")
    assert "first bad: shop 2.0" in done.stdout
    assert '"Do broken"' in done.stdout, done.stdout + done.stderr
    assert not (project.folder / "left").exists()
    told = json.loads(project(*words, "--json", "--", "python", "use.py").stdout)
    assert told["about"]["commit"]["subject"] == "Do broken"


def test_from_an_environment_to_the_commit(project):
    """The package, the release, the commit."""
    done = project("envs", "old.txt", "new.txt", "--to-commit", "--", "python", "use.py")
    assert "put back shop 2.0 → 1.0 and it works" in done.stdout
    assert '"Do broken"' in done.stdout, done.stdout + done.stderr


def test_there_are_no_tags(project, repository):
    """That is said; the release is answered all the same."""
    subprocess.run(["git", "tag", "-d", "v1.0", "v2.0"], cwd=repository, check=True)
    done = project("versions", "shop", "--good", "1.0", "--to-commit", "--", "python", "use.py")
    assert "first bad: shop 2.0" in done.stdout
    assert "no commit: " in done.stdout
    assert "has no tags" in done.stdout
    assert done.returncode == 0


def test_addresses():
    """The repository first, without the page in it; no pages of documentation."""
    lines = [
        "Documentation, https://docs.example.invalid",
        "Issues, https://git.example.invalid/a/shop/issues",
        "Source Code, https://git.example.invalid/a/shop/tree/main/src",
        "Homepage, https://www.example.invalid/a/home",
    ]
    found = sources.addresses(lines, ["https://shop.example.invalid"])
    assert found == ["https://git.example.invalid/a/shop", "https://www.example.invalid/a/home"]
