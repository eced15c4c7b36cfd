"""Control groups of version 2, and the watch over them.

Memory can't be limited there where version 1 has that controller, as on many a machine for tests:
so the groups are tried with whichever controller version 2 has, and the watch with files that say
what the kernel's would.
"""

import fcntl
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zeroin.emulate import cgroups, memory_watch, scopes
from zeroin.emulate.grouped import SCOPE, V2, Grouped
from zeroin.emulate.part import Eyes, Limit, Scene
from zeroin.run import tree

SCENE = Scene("/", {}, f"{os.getpid()}-test")
PAGES = "hugetlb.2MB.max"


class Pages(Grouped):
    """The controller that nobody misses."""

    way = V2
    controller = "hugetlb"

    @classmethod
    def settings(cls, limits):
        """How many bytes of huge pages."""
        return {PAGES: int(limits[0].amount)}


class PagesScope(Pages):
    """By systemd."""

    way = SCOPE


class Pids(Pages):
    """Of a controller that is not there."""

    controller = "no-such"


@pytest.fixture
def version2():
    """Where version 2 is mounted, with that controller for groups below; as it was afterwards."""
    top = Path(cgroups.group_of("self") or "/nowhere")
    if os.geteuid() != 0 or not os.access(top / "cgroup.subtree_control", os.W_OK):
        pytest.skip("needs root and control groups of version 2")
    if "hugetlb" not in cgroups.read(str(top), "cgroup.controllers").split():
        pytest.skip("needs the controller of huge pages in version 2")
    with open(top / "cgroup.subtree_control", "rb") as shared:
        fcntl.flock(shared, fcntl.LOCK_EX)  # there is one such setting for all who test
        was = cgroups.has(str(top), "hugetlb")
        cgroups.write(str(top), "cgroup.subtree_control", "+hugetlb")
        yield top
        if not was:
            cgroups.write(str(top), "cgroup.subtree_control", "-hugetlb")


@pytest.fixture
def sleeper():
    """A process that does nothing."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


def limit(amount):
    return [Limit("memory", f"memory={amount}", "", amount)]


def test_limits_of_one_run_share_a_group(version2, sleeper):
    """In version 2 a process is in one group: a second limit must not take it out of the first."""
    first = Pages(limit(4 << 20), SCENE)
    assert Pages.lacks(limit(2 << 20), SCENE) == ""
    second = Pages(limit(2 << 20), SCENE)
    assert first._group is second._group
    for part in (first, second):
        part.started(sleeper.pid)
    folder = cgroups.group_of(sleeper.pid)
    assert folder == f"{version2}/zeroin-limit-{SCENE.name}"
    assert cgroups.read(folder, PAGES).strip() == str(2 << 20)
    sleeper.kill()
    sleeper.wait()
    first.close()
    second.close()
    assert not os.path.exists(folder)


def test_a_limit_that_can_not_be_in_that_group_is_not_in_another(version2):
    """It has to take the next back-end: by another group it would undo the first limit."""
    first = Pages(limit(4 << 20), SCENE)
    assert PagesScope.lacks(limit(1), SCENE) == "another limit has its group by cgroup v2"
    assert Pids.lacks(limit(1), SCENE) == "no no-such controller where the others are"
    first.close()
    assert Pids.lacks(limit(1), SCENE) == "no no-such controller of version 2 for us"
    if scopes.lacks():
        assert PagesScope.lacks(limit(1), SCENE) == scopes.lacks()


def test_a_trial_leaves_no_group(version2):
    """Neither where it works nor where a setting is refused."""
    assert Pages.lacks(limit(4 << 20), SCENE) == ""
    assert Pages.lacks([Limit("memory", "memory=x", "", -1)], SCENE) == "invalid argument"
    assert not list(version2.glob(f"zeroin-limit-{SCENE.name}*"))


@pytest.fixture
def group(tmp_path):
    """What the kernel says of a group with 90 MB, 30 of them of files."""
    (tmp_path / "memory.current").write_text("90000000\n")
    (tmp_path / "memory.stat").write_text(
        "anon 60000000\nactive_file 20000000\ninactive_file 10000000\n"
    )
    (tmp_path / "memory.events").write_text("high 0\noom_kill 0\n")
    return tmp_path


def eyes(*pids):
    return Eyes(lambda: list(pids), tree.memory, tree.together, tree.ticks, lambda _: [])


def test_what_is_kept_of_files_does_not_count(group, sleeper):
    """The kernel gives it up before it kills."""
    watch = memory_watch.ByGroup2(70_000_000, str(group))
    watch.look(eyes(sleeper.pid), 0.1)
    assert (watch.told()["hits"], watch.told()["peak"]) == ([], 60_000_000)
    assert sleeper.poll() is None


def test_who_is_over_the_limit_is_ended(group, sleeper):
    """And named with what the group had."""
    watch = memory_watch.ByGroup2(60_000_000, str(group))
    watch.look(eyes(sleeper.pid), 0.1)
    assert sleeper.wait(10) == -signal.SIGKILL
    (hit,) = watch.told()["hits"]
    assert (hit["pid"], hit["used"], hit["count"]) == (sleeper.pid, 60_000_000, 1)


def test_who_was_killed_by_the_kernel_is_told_at_the_end(group, sleeper):
    """Its only process gone, nobody is there to be looked at; the group still knows."""
    watch = memory_watch.ByGroup2(70_000_000, str(group))
    watch.look(eyes(sleeper.pid), 0.1)
    sleeper.kill()
    sleeper.wait()
    (group / "memory.events").write_text("high 9\noom_kill 1\n")
    (hit,) = watch.told()["hits"]
    assert hit["pid"] == sleeper.pid
    assert len(watch.told()["hits"]) == 1


def test_a_process_that_has_ended_waits_for_nothing():
    """One that nobody has asked after yet is no pool that hangs, nor ended a second time."""
    held = "held = bytearray(b'x') * 90_000_000; print('held', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", held], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        watch = memory_watch.ByLooking(60_000_000)
        for now in (0.1, 0.2):
            watch.look(eyes(process.pid), now)
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        for now in (1.0, 4.0, 8.0):
            watch.look(eyes(process.pid), now)
        assert (len(watch.told()["hits"]), watch.told()["hung"]) == (1, False)
