"""Git hears only our settings, in our own repository and when it reads that of the user."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import attacks
import support
from zeroin.record.code import CodeError, Shadow

if TYPE_CHECKING:
    from pathlib import Path

EVERY = [("run", "--", "true"), ("log", "--json"), ("show",), ("diff", "1", "2"), ("again", "1")]


@pytest.fixture
def victim(tmp_path: Path, project: Path) -> attacks.Victim:
    """A project of the user's, with two attempts, and a folder for what attacks leave."""
    made = attacks.make_victim(tmp_path / "victim")
    return made._replace(clone=project)


def test_settings_in_our_own_repository_are_written_anew(victim, zeroin):
    """Whatever has changed them: promised objects are not fetched, filters do not run."""
    for text in ("a = 1\n", "a = 2\n"):
        (victim.clone / "new.py").write_text(text)
        zeroin("run", "--", "true", cwd=victim.clone)
    (victim.clone / ".gitattributes").write_text("* filter=x diff=x\n")
    code = victim.clone / ".zeroin/code.git"
    (code / "config").write_text(attacks.evil_config(victim))
    (code / "info/attributes").write_text("* filter=x diff=x\n")
    (code / "objects/info/alternates").write_text(f"{victim.base}/elsewhere\n")
    (code / "commondir").write_text("../..\n")
    with attacks.connect(victim.clone / ".zeroin/store.db") as db:
        db.execute("UPDATE attempts SET code=? WHERE id=1", (attacks.MISSING,))
    before = victim.state()
    for args in (
        *EVERY,
        ("show", "--oneliner", "1"),
        ("again", "1", "--code"),
        ("gc", "--to", "1"),
    ):
        done = zeroin(*args, cwd=victim.clone)
        assert done.returncode in (0, 1), done.stderr
        assert victim.state() == before, args
    assert "evil" not in (code / "config").read_text()
    assert not (code / "commondir").exists()


def test_settings_of_the_users_repository_run_nothing(victim, zeroin):
    """As those of an archive may be, with a `.git` that no clone could bring along."""
    (victim.clone / ".gitattributes").write_text("* filter=x diff=x\n")
    with (victim.clone / ".git/config").open("a") as file:
        file.write(attacks.evil_config(victim))
    hooks = victim.clone / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\necho >> {victim.traces}/executed-hook\n")
        (hooks / name).chmod(0o755)
    before = victim.state()
    for number, args in enumerate((*EVERY, ("show", "--oneliner"), ("again", "1", "--code"))):
        (victim.clone / "train.py").write_text(f"print({number})\n")
        done = zeroin(*args, cwd=victim.clone)
        assert done.returncode in (0, 1), done.stderr
        assert victim.state() == before, args


@pytest.mark.parametrize("name", ["--output=x", "-O", "HEAD", "", "1" * 39, "1" * 40 + "\n--x"])
def test_what_is_no_name_of_an_object_reaches_no_git(tmp_path, name):
    """Neither as an option nor as a word that git looks up in some way of its own."""
    project = tmp_path / "project"
    project.mkdir()
    shadow = Shadow(str(tmp_path / "store"), str(project))
    tree = shadow.snapshot().tree
    asked = [
        lambda: shadow.changes(tree, name),
        lambda: shadow.changes(name, tree),
        lambda: shadow.patch(name, tree),
        lambda: shadow.read(name, "x"),
        lambda: shadow.files(name),
        lambda: shadow.entries(name),
        lambda: shadow.blobs([name]),
        lambda: shadow.checkout(name, str(tmp_path / "out")),
        lambda: shadow.keep("1", name),
    ]
    for ask in asked:
        with pytest.raises(CodeError, match="names no code"):
            ask()
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part", ["objects", "refs/attempts", "info"])
def test_a_link_in_our_repository_is_damage(tmp_path, part):
    """Nothing is written to where it leads."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / "a.py").write_text("1\n")
    Shadow(str(tmp_path / "store"), str(project)).snapshot()
    shutil.rmtree(tmp_path / "store/code.git" / part)
    (tmp_path / "store/code.git" / part).symlink_to(outside)
    (project / "a.py").write_text("2\n")
    with pytest.raises(CodeError, match="is a link"):
        Shadow(str(tmp_path / "store"), str(project)).snapshot()
    assert list(outside.iterdir()) == []


def test_the_users_patterns_for_all_repositories_count(project, zeroin):
    """Wherever they lie: git's usual place, or one that the user's settings name."""
    home = zeroin.base / "home"
    (project / "a.secret").write_text("1")
    (project / "b.private").write_text("1")
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.secret\n")
    zeroin("run", "--", "true", cwd=project)
    assert _kept(project) == {"train.py", "b.private"}
    (home / "patterns").write_text("*.private\n")
    (home / ".gitconfig").write_text("[core]\n\texcludesFile = ~/patterns\n")
    zeroin("run", "--", "true", cwd=project)
    assert _kept(project) == {"train.py", "a.secret"}


def _kept(project: Path) -> set[str]:
    store = project / ".zeroin"
    with attacks.connect(store / "store.db") as db:
        (tree,) = db.execute("SELECT code FROM attempts ORDER BY id DESC").fetchone()
    return set(Shadow(str(store), str(project)).files(tree))


@pytest.mark.parametrize("how", ["loose", "packed", "detached", "worktree", "unborn", "sub"])
def test_the_commit_is_read_without_git(tmp_path, zeroin, how):
    """The same that git would tell."""
    project = support.make_project(tmp_path / "project", zeroin.env)
    expected = attacks.run_git(project, "rev-parse", "HEAD", env=zeroin.env).strip()
    if how == "packed":
        attacks.run_git(project, "pack-refs", "--all", env=zeroin.env)
    elif how == "detached":
        attacks.run_git(project, "checkout", "-q", "--detach", env=zeroin.env)
    elif how == "worktree":
        attacks.run_git(project, "worktree", "add", "-q", "../tree", "-b", "side", env=zeroin.env)
        project = tmp_path / "tree"
    elif how == "unborn":
        project, expected = tmp_path / "new", None
        subprocess.run(["git", "init", "-q", project], check=True, env=zeroin.env)
    elif how == "sub":
        project = project / "sub"
        project.mkdir()
    assert Shadow(str(tmp_path / "store"), str(project)).base_commit() == expected


def test_a_commit_in_the_record_is_no_word_of_a_shell(victim, zeroin):
    """The line of `show --oneliner` is pasted into one."""
    zeroin("run", "--", "true", cwd=victim.clone)
    assert "worktree add" in zeroin("show", "--oneliner", cwd=victim.clone).stdout
    with attacks.connect(victim.clone / ".zeroin/store.db") as db:
        db.execute("UPDATE attempts SET base_commit='HEAD; touch x'")
    done = zeroin("show", "--oneliner", cwd=victim.clone)
    assert (done.returncode, done.stdout, "names no code" in done.stderr) == (1, "", True)
