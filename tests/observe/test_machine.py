"""The doctor tells what this machine really allows, and changes nothing."""

from __future__ import annotations

import ctypes
import glob
import json
import os
import platform
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

import support
from support import needs
from zeroin.observe.machine import Probe, fixes, probe_all

ASK = """
import json, sys
from zeroin.observe.machine import probe, probe_all
probe.SECONDS = float(sys.argv[1])
print(json.dumps(probe_all()))
"""
SUDO = "" if os.geteuid() == 0 else "sudo "
IN_CONTAINER = bool(fixes.container())


def doctor(*before, python=sys.executable, seconds=20.0, preexec_fn=None, cwd=None, **env):
    """Ask in a process of its own, which `before` starts, in a changed environment."""
    done = subprocess.run(
        [*before, python, "-c", ASK, str(seconds)],
        env={**os.environ, "PYTHONPATH": str(support.SRC), **env},
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=preexec_fn,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return {row[0]: Probe(*row) for row in json.loads(done.stdout)}


def stub(folder: Path, name: str, script: str) -> Path:
    """Put a command of ours on a PATH of its own."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return folder


def before_path(folder: Path) -> str:
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


class TestProbes:
    """What holds on any machine."""

    def test_complete(self):
        """Every probe says in one line what it tried; only what isn't well has a fix."""
        probes = probe_all()
        names = [probe.name for probe in probes]
        assert len(names) == len(set(names))
        wanted = {"ptrace", "py-spy", "user namespaces", "overlay", "cgroups", "strace", "gdb"}
        wanted |= {"git", "uv", "GPU", "SLURM", "reflinks", "shared memory", "UTF-8"}
        assert wanted == set(names)
        for probe in probes:
            assert probe.state in ("ok", "limited", "missing", "absent")
            assert not (probe.state == "absent" and probe.fix)
            assert probe.detail
            assert "probe itself failed" not in probe.detail
            assert len((probe.detail + probe.fix).splitlines()) == 1
            assert probe.matters
            assert not (probe.state == "ok" and probe.fix)

    def test_quick(self):
        """All of it takes less than a second and a half."""
        best = min(_seconds(probe_all) for _ in range(3))
        assert best < 1.5

    def test_changes_nothing(self, tmp_path, monkeypatch):
        """No file, no mount and no cgroup is there afterwards that was not there before."""
        monkeypatch.chdir(tmp_path)
        before = _traces(tmp_path)
        probe_all()
        assert _traces(tmp_path) == before

    def test_every_driver(self, driver):
        """The trials work on every interpreter that the driver runs on."""
        found = doctor(python=driver[0])
        assert found["git"].state == "ok"
        assert not [probe for probe in found.values() if "no answer" in probe.detail]
        assert not [probe for probe in found.values() if "failed" in probe.detail]


def _seconds(act):
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def _traces(folder):
    """Give what is there; groups only of processes that have ended, since others run beside us."""
    groups = subprocess.run(
        ["find", "/sys/fs/cgroup", "-name", "zeroin-doctor-*"],
        capture_output=True,
        check=False,
        text=True,
    ).stdout.split()
    left = [path for path in groups if not os.path.exists(f"/proc/{path.rpartition('-')[2]}")]
    return os.listdir(folder), Path("/proc/self/mounts").read_text(), left


# --- what the kernel forbids ------------------------------------------------------------

CALLS = {  # system call numbers
    "x86_64": {"ptrace": 101, "unshare": 272, "process_vm_readv": 310},
    "aarch64": {"ptrace": 117, "unshare": 97, "process_vm_readv": 270},
}


def forbid(*names):
    """Make what forbids system calls with EPERM from here on, as Docker's default does."""
    numbers = CALLS[platform.machine()]
    load = struct.pack("HBBI", 0x20, 0, 0, 0)
    wanted = [numbers[name] for name in names]
    tests = [
        struct.pack("HBBI", 0x15, len(wanted) - i, 0, number) for i, number in enumerate(wanted)
    ]
    allow, refuse = (
        struct.pack("HBBI", 0x06, 0, 0, 0x7FFF0000),
        struct.pack("HBBI", 6, 0, 0, 0x50001),
    )
    program = b"".join([load, *tests, allow, refuse])
    code = ctypes.create_string_buffer(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)

    def apply(_keep=code):
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, header, 0, 0):  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            raise OSError(ctypes.get_errno(), "no seccomp filter")

    return apply


@pytest.mark.skipif(platform.machine() not in CALLS, reason="system call numbers unknown")
class TestForbidden:
    """What a real seccomp filter takes away is told, and why."""

    def test_ptrace(self):
        """Without ptrace, the probe says that a filter is on, and strace says so, too."""
        found = doctor(preexec_fn=forbid("ptrace"))
        assert found["ptrace"].state == "missing"
        assert "Operation not permitted" in found["ptrace"].detail
        assert "seccomp" in found["ptrace"].detail
        assert found["strace"].state in ("limited", "missing")
        assert found["gdb"].state in ("limited", "missing")
        assert found["git"].state == "ok"

    def test_namespaces(self):
        """Without unshare there is no namespace, and so no overlay."""
        found = doctor(preexec_fn=forbid("unshare"))
        assert found["user namespaces"].state == "missing"
        assert "seccomp" in found["user namespaces"].detail
        assert found["overlay"].state == "missing"


def namespaces_work() -> bool:
    ask = ["unshare", "-Urm", "true"]
    return support.lack("unshare") is None and subprocess.run(ask, check=False).returncode == 0


@pytest.mark.skipif(not namespaces_work(), reason="needs user namespaces, closed here")
class TestInANamespace:
    """What an administrator can close, closed for us alone."""

    def test_none_allowed(self):
        """With a limit of no namespaces, the fix is the very setting."""
        close = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$@"'
        found = doctor("unshare", "-Urm", "sh", "-c", close, "sh")
        namespaces = found["user namespaces"]
        assert namespaces.state == "limited"  # we are root in there: mount namespaces are left
        assert "number allowed is 0" in namespaces.detail
        assert namespaces.fix == "sysctl -w user.max_user_namespaces=15000"
        assert found["overlay"].state == "ok"

    def test_small_shared_memory(self):
        """The 64 MB that Docker gives are too few, and the fix is for where we are."""
        shrink = 'mount -t tmpfs -o size=64m none /dev/shm; exec "$@"'
        found = doctor("unshare", "-Urm", "sh", "-c", shrink, "sh")
        assert found["shared memory"].state == "limited"
        assert "64 MiB" in found["shared memory"].detail
        size = "--shm-size=2g" if IN_CONTAINER else "size=2G"
        assert size in found["shared memory"].fix

    def test_read_only_shared_memory(self):
        """A /dev/shm that can't be written to is as good as none."""
        close = 'mount -t tmpfs -o ro none /dev/shm; exec "$@"'
        found = doctor("unshare", "-Urm", "sh", "-c", close, "sh")
        assert found["shared memory"].state == "missing"
        assert "Read-only file system" in found["shared memory"].detail


class TestFiles:
    """The file system that is asked is the one we are in."""

    def test_reflinks(self):
        """A tmpfs has no reflinks, and is named."""
        reflinks = doctor(cwd="/dev/shm")["reflinks"]
        assert reflinks.state == "absent"
        assert reflinks.detail == "tmpfs has none; files are copied instead"

    def test_no_writing(self):
        """Where nothing can be written there is nothing to clone."""
        reflinks = doctor(cwd="/proc")["reflinks"]
        assert reflinks.state == "absent"
        assert "can't write here (proc)" in reflinks.detail


# --- programs ---------------------------------------------------------------------------


class TestPrograms:
    """What isn't there is missing; what doesn't answer isn't waited for."""

    def test_missing(self, tmp_path):
        """Without programs the rest still answers, and each lack has its command."""
        folder = stub(tmp_path / "bin", "apt-get", "exit 1")
        found = doctor(PATH=str(stub(folder, "sudo", "exit 1")))
        for name in ("strace", "gdb", "git"):
            assert found[name].state == "missing"
            assert found[name].fix.endswith(f"apt-get install -y {name}")
        assert (found["SLURM"].state, found["SLURM"].fix) == ("absent", "")
        assert found["ptrace"].state == doctor()["ptrace"].state

    def test_what_a_laptop_does_not_have_is_no_fault(self, zeroin):
        """A GPU or a cluster that is not there is told in one line, without a mark of failure."""
        done = zeroin("doctor")
        lines = {line.split()[1]: line for line in done.stdout.splitlines() if line[0] != " "}
        assert done.returncode == 0
        assert lines["SLURM"].startswith("· ") or shutil.which("sinfo")
        assert "slurm" not in done.stdout.replace("SLURM", "") or shutil.which("sinfo")
        if not glob.glob("/dev/nvidia*"):
            assert lines["GPU"].startswith("· ")

    def test_a_part_of_slurm_or_a_job_of_it_is_a_cluster(self, tmp_path):
        """There the rest is missing, with the command that brings it."""
        folder = stub(tmp_path / "bin", "apt-get", "exit 1")
        job = doctor(PATH=str(folder), SLURM_JOB_ID="77")["SLURM"]
        stub(folder, "srun", "")
        for slurm in (job, doctor(PATH=str(folder))["SLURM"]):
            assert slurm.state == "missing"
            assert "apt-get install -y slurm-client" in slurm.fix

    def test_hanging(self, tmp_path):
        """A cluster whose controller is gone costs the time limit, and leaves nothing running."""
        folder = stub(tmp_path / "bin", "sinfo", "sleep 300 & sleep 300")
        stub(folder, "srun", "")
        start = time.monotonic()
        slurm = doctor(PATH=before_path(folder), seconds=1.2)["SLURM"]
        assert time.monotonic() - start < 30
        assert slurm.state == "limited"
        assert slurm.detail == "sinfo: no answer in 1.2 s"

    def test_slurm(self, tmp_path):
        """A cluster that answers is counted, and the job we are in is named."""
        folder = stub(tmp_path / "bin", "sinfo", "echo 'debug* 4'; echo 'long 12'")
        stub(folder, "srun", "")
        slurm = doctor(PATH=before_path(folder), SLURM_JOB_ID="77")["SLURM"]
        assert slurm.state == "ok"
        assert slurm.detail == "2 partitions, 16 nodes, inside job 77"

    def test_old_git(self, tmp_path):
        """A git that lacks what we use is told apart from a good one."""
        folder = stub(tmp_path / "bin", "git", "echo git version 2.11.0")
        git = doctor(PATH=before_path(folder))["git"]
        assert (git.state, git.detail) == ("limited", "2.11.0 is older than 2.25")

    @needs("strace")
    def test_old_strace(self, tmp_path):
        """A strace without seccomp-bpf works, slowly, and that is what is said."""
        real = subprocess.run(["which", "strace"], capture_output=True, text=True, check=True)
        refuse = 'case "$*" in *seccomp-bpf*) echo unrecognized option >&2; exit 1;; esac'
        folder = stub(tmp_path / "bin", "strace", f'{refuse}; exec {real.stdout.strip()} "$@"')
        found = doctor(PATH=before_path(folder))
        if found["ptrace"].state == "ok":
            assert found["strace"].state == "limited"
            assert "without --seccomp-bpf" in found["strace"].detail

    @pytest.mark.parametrize(
        ("words", "said", "fix"),
        [
            (
                "Permission Denied: Try again",
                "9.9 may not read a Python's stack; see ptrace",
                False,
            ),
            (
                "Error: No luck\n\nCaused by:\n 0: x",
                "9.9 could not read a Python's stack: No luck",
                True,
            ),
        ],
    )
    def test_py_spy(self, tmp_path, words, said, fix):
        """A py-spy that may not look points to ptrace; one that fails is to be upgraded."""
        home = tmp_path / "env"
        subprocess.run([support.base_python(), "-m", "venv", "--without-pip", home], check=True)
        fail = f"cat >&2 <<'END'\n{words}\nEND\nexit 1"
        stub(home / "bin", "py-spy", f'[ "$1" = --version ] && echo py-spy 9.9 && exit\n{fail}')
        spy = doctor(python=home / "bin" / "python")["py-spy"]
        assert (spy.state, spy.detail, bool(spy.fix)) == ("limited", said, fix)

    def test_broken(self, tmp_path):
        """A program that fails says why in its own words."""
        folder = stub(tmp_path / "bin", "git", "echo noise; echo 'git: no such luck' >&2; exit 4")
        git = doctor(PATH=before_path(folder))["git"]
        assert (git.state, git.detail) == ("missing", "git: no such luck")


# --- a GPU ------------------------------------------------------------------------------

CUDA = """
#include <string.h>
#include <unistd.h>
int cuInit(unsigned flags) { %s; }
int cuDeviceGetCount(int *n) { *n = 2; return 0; }
int cuDeviceGet(int *device, int n) { *device = n; return 0; }
int cuDeviceGetName(char *name, int size, int device) { strncpy(name, "Stub H100", size); return 0; }
"""


@needs("gcc", "libc6-dev")
class TestGPU:
    """A driver that loads is asked; one that hangs or crashes hurts nobody."""

    def ask(self, folder, init, seconds=20.0):
        source = folder / "cuda.c"
        source.write_text(CUDA % init)
        build = ["gcc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", source]
        subprocess.run(build, check=True)
        return doctor(LD_LIBRARY_PATH=str(folder), seconds=seconds)

    def test_there(self, tmp_path):
        """The devices are counted and named."""
        gpu = self.ask(tmp_path, "return 0")["GPU"]
        assert gpu.state == "ok"
        assert gpu.detail.startswith("CUDA has 2: Stub H100")

    def test_no_device(self, tmp_path):
        """A driver without a device is no GPU."""
        gpu = self.ask(tmp_path, "return 100")["GPU"]
        assert (gpu.state, gpu.detail) == (
            "limited",
            "the CUDA driver loads, but it finds no device",
        )

    @pytest.mark.parametrize(
        ("init", "said"), [("pause(); return 0", "it hung"), ("*(volatile int *)0 = 1", "-11")]
    )
    def test_bad_driver(self, tmp_path, init, said):
        """The other trials answer all the same."""
        found = self.ask(tmp_path, init, seconds=3.0)
        assert found["GPU"].state == "limited"
        assert found["GPU"].detail == f"the trial gave no answer: {said}"
        assert found["user namespaces"].detail != found["GPU"].detail


# --- text -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [
        ("C.UTF-8", "ok", "C.UTF-8, terminal screen"),
        ("C", "limited", "the locale is C: Python copes, other programs may not"),
        ("xx_YY.UTF-8", "limited", "the locale 'xx_YY.UTF-8' is not installed"),
    ],
)
def test_text(name, state, said):
    """A locale that isn't installed, or isn't UTF-8, is found, with the one setting."""
    text = doctor(LC_ALL=name, TERM="screen")["UTF-8"]
    assert (text.state, text.detail) == (state, said)
    assert text.fix == ("" if state == "ok" else "export LC_ALL=C.UTF-8")


def test_no_locale():
    """No locale at all is told, although Python helps itself."""
    text = doctor(LC_ALL="", LC_CTYPE="", LANG="")["UTF-8"]
    assert text.state == "limited"
    assert text.detail.startswith("the locale is not set")


# --- the command that fixes it ------------------------------------------------------------


class TestFixes:
    """The fix is for this machine: its package manager, its user, its environment."""

    @pytest.mark.parametrize(
        ("manager", "install"),
        [
            ("apt-get", "apt-get install -y strace"),
            ("dnf", "dnf install -y strace"),
            ("pacman", "pacman -S --noconfirm strace"),
            ("apk", "apk add strace"),
            ("brew", "brew install strace"),
        ],
    )
    def test_package_manager(self, tmp_path, monkeypatch, manager, install):
        """The manager that is there is used, as root; Homebrew wants no root."""
        folder = stub(tmp_path / "bin", manager, "")
        stub(folder, "sudo", "")
        monkeypatch.setenv("PATH", str(folder))
        fix = fixes.system_package("strace")
        if manager == "apt-get" and "update" in fix:
            fix = fix.partition(" && ")[2]
        assert fix == (install if manager == "brew" else SUDO + install)

    def test_no_package_manager(self, tmp_path, monkeypatch):
        """Where there is none, no command is made up."""
        monkeypatch.setenv("PATH", str(tmp_path))
        assert fixes.system_package("strace") == ""

    def test_no_sudo(self, tmp_path, monkeypatch):
        """Without sudo, su asks for root's password."""
        monkeypatch.setenv("PATH", str(tmp_path))
        fix = fixes.sysctl("kernel.yama.ptrace_scope=0")
        command = "sysctl -w kernel.yama.ptrace_scope=0"
        assert fix == (command if os.geteuid() == 0 else f"su -c '{command}'")

    @pytest.mark.parametrize(
        ("sign", "fix"),
        [
            (None, "uv pip install --python {python} py-spy"),
            ("uv-receipt.toml", "uv tool install --force --with py-spy zeroin"),
            ("pipx_metadata.json", "pipx inject zeroin py-spy"),
            ("pip", "{python} -m pip install py-spy"),
        ],
    )
    def test_beside_the_driver(self, tmp_path, sign, fix):
        """py-spy goes where zeroin is, by the tool that put zeroin there."""
        home = tmp_path / "env"
        pip = [] if sign == "pip" else ["--without-pip"]
        subprocess.run([support.base_python(), "-m", "venv", *pip, home], check=True)
        if sign not in (None, "pip"):
            (home / sign).touch()
        python = str(home / "bin" / "python")
        found = doctor(python=python, PATH=str(stub(tmp_path / "bin", "nothing", "")))
        assert found["py-spy"].state == "missing"
        assert found["py-spy"].fix == fix.format(python=python)
