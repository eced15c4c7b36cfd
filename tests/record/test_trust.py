"""Which `.zeroin` is used: one that is surely ours, and no other."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import attacks
import support
from zeroin.record import ownership, place, repository, tracked, trust

if TYPE_CHECKING:
    from collections.abc import Iterator

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder on whose way nobody is kept out, as /tmp has them."""
    with tempfile.TemporaryDirectory(prefix="zeroin-trust-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def ids_of(zeroin: support.Zeroin) -> list[str]:
    """The stores that the user's state folder knows."""
    folder = Path(zeroin.env["XDG_STATE_HOME"]) / "zeroin/stores"
    return sorted(os.listdir(folder)) if folder.exists() else []


def count(zeroin: support.Zeroin, project: Path) -> int:
    """Attempts that are found from a project."""
    return len(zeroin("log", "--json", "-n", "0", cwd=project).stdout.splitlines())


def test_a_store_gets_an_id_that_the_state_folder_knows(project, zeroin):
    """Once, with the first run; nothing is said about it."""
    first = zeroin("run", "--", "true", cwd=project)
    second = zeroin("run", "--", "true", cwd=project)
    assert ids_of(zeroin) == [(project / ".zeroin/id").read_text().split()[0]]
    assert "warning" not in first.stderr + second.stderr
    assert count(zeroin, project) == 2


def test_a_store_of_an_earlier_version_is_adopted_once(project, zeroin):
    """It has no id; its index lies where it says, which nothing that was copied can show."""
    zeroin("run", "--", "true", cwd=project)
    (project / ".zeroin/id").unlink()
    shutil.rmtree(Path(zeroin.env["XDG_STATE_HOME"]) / "zeroin")
    done = zeroin("run", "--", "true", cwd=project)
    assert "warning" not in done.stderr
    assert count(zeroin, project) == 2
    assert ids_of(zeroin) == [(project / ".zeroin/id").read_text().split()[0]]


def test_an_earlier_store_without_code_is_adopted(tmp_path, zeroin):
    """By an attempt of this boot, whose id nobody elsewhere knows."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "pyproject.toml").write_text("[tool.zeroin]\ncode = false\n")
    zeroin("run", "--", "true", cwd=project)
    (project / ".zeroin/id").unlink()
    assert zeroin("log", cwd=project).returncode == 0
    assert count(zeroin, project) == 1


def test_a_state_folder_that_does_not_last_costs_no_record(project, zeroin):
    """A container with a new home each time finds the record of the mounted project."""
    zeroin("run", "--", "true", cwd=project)
    shutil.rmtree(Path(zeroin.env["XDG_STATE_HOME"]) / "zeroin")
    shutil.rmtree(project / ".zeroin/code.git")
    with attacks.connect(project / ".zeroin/store.db") as db:
        db.execute("UPDATE attempts SET driver='1:2:another'")
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    assert count(zeroin, project) == 2


def test_a_store_from_an_archive_is_not_used(project, zeroin, tmp_path):
    """Unpacked by us and so of our own; but nobody has made it here. `trust` takes it."""
    zeroin("run", "--", "true", cwd=project)
    with attacks.connect(project / ".zeroin/store.db") as db:
        db.execute("UPDATE attempts SET driver='1:2:another'")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with tarfile.open(tmp_path / "archive.tar", "w") as archive:
        archive.add(project, "unpacked")
    with tarfile.open(tmp_path / "archive.tar") as archive:
        archive.extractall(tmp_path, filter="fully_trusted")
    unpacked = tmp_path / "unpacked"
    done = zeroin("run", "--", "true", cwd=unpacked)
    assert f"{unpacked}/.zeroin was not made here: recorded in" in done.stderr
    assert "zeroin trust" in done.stderr
    assert count(zeroin, unpacked) == 1
    told = zeroin("trust", cwd=unpacked)
    assert (told.returncode, "is used from now on" in told.stdout) == (0, True)
    assert "taken back" in zeroin("trust", "--forget", cwd=unpacked).stdout
    assert "was not made here" in zeroin("log", cwd=unpacked).stderr
    zeroin("trust", cwd=unpacked)
    zeroin("run", "--", "true", cwd=unpacked)
    assert count(zeroin, unpacked) == 2  # the one of the archive, and its own


def test_a_moved_project_keeps_its_record(project, zeroin, tmp_path):
    """A rename leaves the folder what it is."""
    zeroin("run", "--", "true", cwd=project)
    moved = project.rename(tmp_path / "moved")
    assert count(zeroin, moved) == 1


@pytest.mark.parametrize("kind", ["pull", "force"])
def test_git_that_comes_to_track_a_store_takes_it_out_of_use(project, zeroin, kind):
    """A pull can put any file into a folder that git ignores; so can `git add -f`."""
    zeroin("run", "--", "true", cwd=project)
    if kind == "pull":
        other = project.parent / "other"
        attacks.run_git(project.parent, "clone", "-q", str(project), str(other), env=zeroin.env)
        (other / ".zeroin/attempts/2").mkdir(parents=True)
        (other / ".zeroin/attempts/2/0").symlink_to(project / "train.py")
        attacks.run_git(other, "add", "-f", ".zeroin", env=zeroin.env)
        attacks.run_git(other, "commit", "-q", "-m", "more", env=zeroin.env)
        attacks.run_git(project, "pull", "-q", str(other), "HEAD", env=zeroin.env)
        assert (project / ".zeroin/attempts/2/0").is_symlink()
    else:
        attacks.run_git(project, "add", "-f", ".zeroin/.gitignore", env=zeroin.env)
    done = zeroin("run", "--", "echo", "overwritten", cwd=project)
    assert f"git tracks files in {project}/.zeroin: recorded in" in done.stderr
    assert (project / "train.py").read_text() == "print('training')\n"
    attacks.run_git(project, "rm", "-r", "-q", "--cached", ".zeroin", env=zeroin.env)
    assert zeroin("log", cwd=project).stderr == ""


@pytest.mark.parametrize("version", ["2", "3", "4", "split"])
def test_an_index_of_any_version_is_understood(tmp_path, zeroin, version):
    """Paths in full, compressed, or in two files; names that only look similar are others."""
    made = support.make_project(tmp_path / "project", zeroin.env)
    for name in (".zer", ".zero/x", "a.zeroin/x", "sub/.zeroin/x", "z/.zeroin"):
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(name)
    attacks.run_git(made, "add", "-A", "-f", env=zeroin.env)
    if version == "split":
        attacks.run_git(made, "update-index", "--split-index", env=zeroin.env)
    else:
        attacks.run_git(made, "update-index", f"--index-version={version}", env=zeroin.env)
    assert tracked.find_tracked(str(made), ".zeroin") == ""
    assert tracked.find_tracked(str(made / "sub"), ".zeroin") == "sub/.zeroin/x"
    assert tracked.find_tracked(str(made / "z"), ".zeroin") == "z/.zeroin"
    (made / ".zeroin/deep").mkdir(parents=True)
    (made / ".zeroin/deep/file").write_text("")
    attacks.run_git(made, "add", "-f", ".zeroin", env=zeroin.env)
    if version == "3":
        attacks.run_git(
            made, "update-index", "--skip-worktree", ".zeroin/deep/file", env=zeroin.env
        )
    assert tracked.find_tracked(str(made), ".zeroin") == ".zeroin/deep/file"


@pytest.mark.parametrize("what", ["folder", "part", "file", "fifo"])
def test_a_link_is_never_followed(project, zeroin, tmp_path, what):
    """`.zeroin` as a link, or one in it, or no folder at all: the state folder has the record."""
    outside = tmp_path / "outside"
    outside.mkdir()
    if what == "folder":
        (project / ".zeroin").symlink_to(outside)
    elif what == "part":
        zeroin("run", "--", "true", cwd=project)
        (project / ".zeroin/restore").symlink_to(outside)
    elif what == "file":
        (project / ".zeroin").write_text("")
    else:
        os.mkfifo(project / ".zeroin")
    done = zeroin("run", "--restore", "train.py", "--", "true", cwd=project)
    assert (done.returncode, ": recorded in" in done.stderr) == (0, True)
    assert list(outside.iterdir()) == []
    assert zeroin("log", cwd=project).returncode == 0


def test_a_store_that_others_may_write_to_is_not_used(project, zeroin):
    """The hint says how to close it."""
    zeroin("run", "--", "true", cwd=project)
    (project / ".zeroin").chmod(0o777)
    done = zeroin("run", "--", "true", cwd=project)
    assert f"others can write to {project}/.zeroin" in done.stderr
    subprocess.run(["chmod", "700", f"{project}/.zeroin"], check=True)
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    (project / ".zeroin").chmod(0o777)  # as some file systems have it, whatever one does
    assert f"others can write to {project}/.zeroin" in zeroin("trust", cwd=project).stdout
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    assert count(zeroin, project) == 3


def test_a_folder_that_others_may_write_to_needs_consent(tmp_path, zeroin):
    """They could replace the record; `trust` says that they are trusted, for this project."""
    project = tmp_path / "shared" / "project"
    project.mkdir(parents=True)
    (project / "setup.py").write_text("")
    project.parent.chmod(0o777)
    done = zeroin("run", "--", "true", cwd=project)
    assert f"others can write to {project.parent}: recorded in" in done.stderr
    assert not (project / ".zeroin").exists()
    told = zeroin("trust", cwd=project)
    assert f"others can change this record: others can write to {project.parent}" in told.stdout
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    assert (project / ".zeroin/store.db").exists()
    project.parent.chmod(0o1777)
    zeroin("trust", "--forget", cwd=project)
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr  # nobody can rename it


@AS_ROOT
def test_what_another_user_puts_above_is_no_project(open_folder, zeroin):
    """A `.zeroin`, a repository or settings in a sticky folder do not reach those below."""
    open_folder.chmod(0o1777)
    traces = open_folder / "traces"
    traces.mkdir()
    victim = attacks.Victim(open_folder, open_folder / "mine", traces)
    run = {"env": zeroin.env}
    attacks.run_git(open_folder, "init", "-q", **run)
    (open_folder / ".git/config").write_text(attacks.evil_config(victim))
    (open_folder / "pyproject.toml").write_text("[tool.zeroin]\nnonsense = true\n")
    (open_folder / ".gitattributes").write_text("* filter=x\n")
    attacks.write_attacks(open_folder / ".zeroin", victim)
    (open_folder / ".zeroin").chmod(0o777)
    for path in open_folder.rglob("*"):
        os.chown(path, support.NOBODY, support.NOBODY, follow_symlinks=False)
    mine = open_folder / "mine"
    mine.mkdir()
    for args in (("run", "--", "true"), ("log", "--json"), ("show",), ("gc", "--to", "1k")):
        done = zeroin(*args, cwd=mine)
        assert done.returncode == 0, done.stderr
    assert list(traces.iterdir()) == []
    assert place.find_root(str(mine), "") is None
    (mine / "setup.py").write_text("")
    assert zeroin("run", "--", "true", cwd=mine).returncode == 0
    assert list(traces.iterdir()) == []
    assert repository.find_repository(str(mine)).git == ""


@AS_ROOT
def test_root_in_a_users_project_keeps_its_record_at_home(open_folder, zeroin):
    """Its owner could put anything there, and it would be root who believes it."""
    project = support.make_project(open_folder / "project", zeroin.env)
    zeroin("run", "--", "true", cwd=project)
    for path in (open_folder, *open_folder.rglob("*")):
        os.chown(path, support.NOBODY, support.NOBODY, follow_symlinks=False)
    done = zeroin("run", "--", "true", cwd=project)
    assert f"{project}/.zeroin belongs to nobody: recorded in" in done.stderr
    shutil.rmtree(project / ".zeroin")
    done = zeroin("run", "--", "true", cwd=project)
    assert f"{project} belongs to nobody: recorded in" in done.stderr
    assert not (project / ".zeroin").exists()
    assert count(zeroin, project) == 2


@AS_ROOT
def test_a_home_of_somebody_else_is_not_ours(open_folder, zeroin, project):
    """`sudo` may keep HOME: the state folder is that of the account, not of who owns HOME."""
    home = open_folder / "home"
    home.mkdir()
    os.chown(home, support.NOBODY, support.NOBODY)
    found = place.own_state({"HOME": str(home)})
    assert found != place.state_home({"HOME": str(home)})
    assert place.own_state({"HOME": str(project)}) == place.state_home({"HOME": str(project)})


def test_a_group_of_one_is_nobody_else(tmp_path, zeroin):
    """Where each user has a group of his own, folders are made writable for it."""
    folder = tmp_path / "folder"
    folder.mkdir()
    folder.chmod(0o775)
    if os.geteuid() == 0:
        os.chown(folder, 0, 0)
    assert ownership.find_exposure(str(folder)) == ""
    if os.geteuid() == 0:
        os.chown(folder, 0, support.NOBODY)
        assert ownership.find_exposure(str(folder)) == f"others can write to {folder}"


def test_settings_by_hand_before_the_first_run_make_no_stranger(project, zeroin):
    """A `.zeroin` that has only a config.toml becomes the store."""
    (project / ".zeroin").mkdir()
    (project / ".zeroin/config.toml").write_text("code = false\n")
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    assert (project / ".zeroin/store.db").exists()


def test_a_project_for_reading_only_keeps_the_record_that_it_has(plain):
    """Only where there is none yet can none be made."""
    (plain.project / "setup.py").write_text("")
    plain.own()
    plain("run", "--", "true")
    plain.project.chmod(0o555)
    assert "warning" not in plain("run", "--", "true").stderr
    assert (plain.project / ".zeroin/attempts/2").exists()


def test_a_copied_id_is_unknown(project, zeroin, tmp_path):
    """A copy of a store has its id, and is another folder."""
    zeroin("run", "--", "true", cwd=project)
    copy = tmp_path / "copy"
    shutil.copytree(project, copy)
    state = place.state_home(zeroin.env)
    store = str(copy / ".zeroin")
    assert trust.is_known(str(project / ".zeroin"), os.lstat(project / ".zeroin"), state)
    assert not trust.is_known(store, os.lstat(store), state)


# --- what stands behind it: a record of ours that something of ours has changed -------------------


def test_output_is_never_written_through_a_link(project, zeroin, tmp_path):
    """The run goes on; its output is not kept, and that is said."""
    zeroin("run", "--", "true", cwd=project)
    outside = tmp_path / "outside"
    outside.write_text("mine")
    (project / ".zeroin/attempts/2").mkdir()
    (project / ".zeroin/attempts/2/0").symlink_to(outside)
    done = zeroin("run", "--", "echo", "overwritten", cwd=project)
    assert (done.returncode, "not kept: " in done.stderr) == (0, True)
    assert outside.read_text() == "mine"
    shown = zeroin("show", cwd=project)
    assert (shown.returncode, "mine" in shown.stdout) == (0, False)
    folder = tmp_path / "folder"
    folder.mkdir()
    (project / ".zeroin/attempts/3").symlink_to(folder)
    assert zeroin("run", "--", "echo", "overwritten", cwd=project).returncode == 0
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["store.db", "store.db-wal"])
def test_a_database_that_is_a_link_is_not_opened(project, zeroin, tmp_path, name):
    """Its target keeps its mode and its content."""
    zeroin("run", "--", "true", cwd=project)
    outside = tmp_path / "outside"
    outside.write_text("mine")
    outside.chmod(0o644)
    (project / ".zeroin" / name).unlink(missing_ok=True)
    (project / ".zeroin" / name).symlink_to(outside)
    for args in (("log",), ("show",), ("gc", "--to", "1"), ("run", "--", "true")):
        zeroin(*args, cwd=project)
    assert (outside.read_text(), outside.stat().st_mode & 0o777) == ("mine", 0o644)


def test_gc_deletes_only_what_it_made(project, zeroin, tmp_path):
    """Links in the record keep their targets, and other folders stay."""
    outside = tmp_path / "outside"
    (outside / "below").mkdir(parents=True)
    (outside / "below/file").write_text("mine")
    for _ in range(25):
        zeroin("run", "--", "true", cwd=project)
    store = project / ".zeroin"
    shutil.rmtree(store / "attempts/1")
    (store / "attempts/1").symlink_to(outside)
    (store / "restore").mkdir()
    (store / "restore/0123-4567").symlink_to(outside)
    (store / "restore/my own").mkdir()
    (store / "restore/89ab-cdef").mkdir()
    (store / "elsewhere").mkdir()
    (store / "elsewhere/x").symlink_to(outside)
    done = zeroin("gc", "--to", "1", cwd=project)
    assert done.stdout.startswith("took 5 attempts")
    assert (outside / "below/file").read_text() == "mine"
    assert sorted(os.listdir(outside)) == ["below"]
    assert sorted(os.listdir(store / "restore")) == ["0123-4567", "my own"]


@AS_ROOT
@support.needs("unshare", "setpriv")
def test_in_a_user_namespace_the_machines_folders_are_no_strangers(plain):
    """There, / belongs to nobody whom the namespace knows; the project is still the user's."""
    (plain.project / "setup.py").write_text("")
    plain.own()
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-Ur"]
    env = {"HOME": str(plain.base), "PATH": os.environ["PATH"], "PYTHONPATH": str(support.SRC)}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"}
    done = subprocess.run(
        [*words, plain.python, "-m", "zeroin", "run", "--", "true"],
        cwd=plain.project, env=env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "unshare failed" in done.stderr:
        pytest.skip("user namespaces are closed to plain users here")
    assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
    assert (plain.project / ".zeroin/store.db").exists()
