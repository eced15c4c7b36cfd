"""What killed runs leave in temp folders goes; nothing else does, whoever has put it there."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import support
from zeroin.run import inbox, leftovers
from zeroin.run.inbox import Inbox
from zeroin.tools.folders import OwnFolder

if TYPE_CHECKING:
    from collections.abc import Iterator

NOBODY = 1 << 22  # one more than the kernel ever gives
NAME = f"zeroin-{os.getuid()}"


@pytest.fixture
def temp(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which sockets are made: its path must be short."""
    with tempfile.TemporaryDirectory(prefix="z-", dir="/tmp") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        assert inbox._base() == f"{folder}/{NAME}"
        yield Path(folder)


def left(base: Path, pid: int = NOBODY) -> Path:
    """A folder as a killed run leaves it."""
    folder = base / f"{pid}-abcd"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "agent").write_text("")
    base.chmod(0o700)
    return folder


def test_what_a_killed_run_left_goes(temp):
    """With the folder that all of them lie in, when the last one has gone."""
    folder = left(temp / NAME)
    Inbox().close()
    assert not folder.exists()
    assert list(temp.iterdir()) == []


def test_a_link_in_place_of_our_folder_is_left_alone(temp, tmp_path):
    """Somebody else may have made it, to what is ours."""
    target = tmp_path / "target"
    kept = left(target)
    (temp / NAME).symlink_to(target)
    one = Inbox()
    one.close()
    assert (kept / "agent").exists()
    assert os.path.dirname(one.folder) != str(temp / NAME)


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(temp, mode):
    """They could replace the socket, and listen."""
    (temp / NAME).mkdir()
    (temp / NAME).chmod(mode)
    one = Inbox()
    assert os.path.dirname(one.folder) != str(temp / NAME)
    assert stat.S_IMODE(os.lstat(os.path.dirname(one.folder)).st_mode) == 0o700
    one.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files of other users")
def test_what_belongs_to_others_stays(temp):
    """Also with a fitting name in a folder of ours."""
    folder = left(temp / NAME)
    os.chown(folder, support.NOBODY, support.NOBODY)
    leftovers.remove_left(str(temp / NAME))
    assert (folder / "agent").exists()


def test_a_fifo_or_a_link_with_a_fitting_name_is_passed_over(tmp_path):
    """Nobody waits for its other end; what the link leads to stays."""
    target = tmp_path / "target"
    target.mkdir()
    (target / "file").write_text("")
    os.mkfifo(tmp_path / f"x-{NOBODY}-fifo")
    (tmp_path / f"x-{NOBODY}-link").symlink_to(target)
    (tmp_path / f"x-{NOBODY}-file").write_text("")
    made = OwnFolder("x-", str(tmp_path))
    made.close()
    assert (target / "file").exists()
    assert len(list(tmp_path.iterdir())) == 4


def test_a_live_folder_of_another_pid_namespace_stays(temp):
    """Its maker can't be seen here, and holds it all the same; `shrink` and `bisect` likewise."""
    held = left(temp / NAME)
    lock = leftovers.hold_folder(str(held))
    Inbox().close()
    assert (held / "agent").exists()
    os.close(lock)
    Inbox().close()
    assert not held.exists()


@support.needs("unshare")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes pid namespaces everywhere")
def test_two_pid_namespaces_share_a_temp_folder(temp, zeroin):
    """The socket folder of the one outlives a run of the other."""
    env = zeroin.env | {"XDG_RUNTIME_DIR": str(temp)}
    words = ["unshare", "--pid", "--fork", "--mount-proc", *zeroin.driver, "run", "--", "sh", "-c"]
    run = subprocess.Popen(
        [*words, "echo ready; read line"], env=env, cwd=zeroin.base, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with run:
        assert run.stdout.readline() == "ready\n"
        (folder,) = (temp / NAME).iterdir()
        before = sorted(os.listdir(folder))
        done = zeroin("run", "--", "true", env={"XDG_RUNTIME_DIR": str(temp)})
        assert done.returncode == 0
        assert sorted(os.listdir(folder)) == before
        run.communicate("\n")
    assert list(temp.iterdir()) == []


def test_a_zombie_counts_as_gone(temp):
    """Its parent has not asked for its exit code, and may never do."""
    zombie = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    folder = left(temp / NAME, zombie.pid)
    assert not leftovers.is_gone(os.getpid())
    Inbox().close()
    assert not folder.exists()
    zombie.wait()


def test_a_folder_that_is_being_swept_is_not_taken(tmp_path):
    """Its maker makes another one."""
    folder = tmp_path / "new"
    folder.mkdir()
    sweeper = os.open(folder, os.O_RDONLY)
    fcntl.flock(sweeper, fcntl.LOCK_EX)
    assert leftovers.hold_folder(str(folder)) is None
    os.close(sweeper)
    held = leftovers.hold_folder(str(folder))
    assert held is not None
    os.close(held)
    folder.rmdir()
    assert leftovers.hold_folder(str(folder)) is None
