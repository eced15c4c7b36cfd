"""What the kernel lets us do: trials.py tries it, this file says what it means."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from errno import EINVAL, ENOSPC, EOPNOTSUPP, EPERM, EXDEV

from zeroin.observe.machine import fixes, probe
from zeroin.observe.machine.probe import ABSENT, LIMITED, MISSING, OK, Probe, read, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

SMALL_SHM = 256 << 20  # PyTorch's data loaders need more; Docker gives 64 MiB
NO_DEVICE = 100  # CUDA's own number for it


# --- what the kernel lets us do ----------------------------------------------------


def kernel() -> Iterable[Probe]:
    """Run all trials in one go, and beside them the two commands they can't stand for."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(3) as pool:
        trials = pool.submit(_trials)
        scope, smi = pool.submit(_systemd_scope), pool.submit(_nvidia_smi)
        tried = trials.result()
        tried["cgroups"]["scope"], tried["cuda"]["smi"] = scope.result(), smi.result()
    for judge, name in JUDGES:
        result = tried[name]
        yield _died(judge(result), result["died"]) if "died" in result else judge(result)


def _trials() -> dict[str, dict[str, Any]]:
    import json

    script = os.path.join(os.path.dirname(__file__), "trials.py")
    deadline = time.monotonic() + 0.8 * probe.SECONDS  # one that hangs must not cost the others
    ran = run(sys.executable, "-I", "-S", script, str(deadline))
    if ran.code == 0:
        tried: dict[str, dict[str, Any]] = json.loads(ran.out)
        return tried
    return {name: {"died": ran.reason} for _, name in JUDGES}


def _died(shape: Probe, how: object) -> Probe:
    """Say that a trial gave no answer; its Probe is right but for what it found."""
    if how == -signal.SIGALRM:
        how = "it hung"
    return shape._replace(state=LIMITED, detail=f"the trial gave no answer: {how}")


def _ptrace(tried: dict[str, Any]) -> Probe:
    child, other = tried.get("child", EPERM), tried.get("other", EPERM)
    scope = read("/proc/sys/kernel/yama/ptrace_scope")
    yama = f"; Yama's ptrace_scope is {scope}" if scope else ""
    state, fix = OK, ""
    if not child and not other:
        detail = f"attached to a child and to a process that is none{yama}"
    elif not child:
        state = LIMITED
        detail = f"attached to a child only: {os.strerror(other)}{yama}: only parents may attach"
    else:
        state = MISSING
        detail = f"could not attach even to a child: {os.strerror(child)}{yama}{_filtered()}"
    if state != OK:
        fix = fixes.restart_container("--cap-add=SYS_PTRACE --security-opt seccomp=unconfined")
        if not fix and scope == "3":
            detail += " (until the next start of the machine)"
        elif not fix and scope not in ("", "0"):
            fix = fixes.sysctl("kernel.yama.ptrace_scope=0")
    return Probe("ptrace", state, detail, fix, "stacks of hung programs, strace, gdb")


def _filtered() -> str:
    """Say so when a seccomp filter, such as Docker's, is on us."""
    status = read("/proc/self/status")
    return "; a seccomp filter is on (Docker's default forbids it)" * ("Seccomp:\t2" in status)


def _user_namespaces(tried: dict[str, Any]) -> Probe:
    matters = "disk, network and process limits without root"
    failed = tried.get("user", EPERM)
    if not failed:
        return Probe("user namespaces", OK, "entered one, with our own user mapped", "", matters)
    why, fix = _why_no_namespace(failed)
    if tried.get("mount") == 0:
        detail = f"refused ({why}), but root has mount namespaces without it"
        return Probe("user namespaces", LIMITED, detail, fix, matters)
    return Probe("user namespaces", MISSING, f"refused: {why}", fix, matters)


def _why_no_namespace(failed: int) -> tuple[str, str]:
    """Find the switch that closes them, and the command that opens it."""
    switches = (
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0", "AppArmor, as Ubuntu sets it"),
        ("kernel.unprivileged_userns_clone", "0", "1", "Debian's kernel switch"),
        ("user.max_user_namespaces", "0", "15000", "the number allowed is 0"),
    )
    for name, closed, opened, why in switches:
        if read(f"/proc/sys/{name.replace('.', '/')}") == closed:
            return f"{os.strerror(failed)}: {why}", fixes.sysctl(f"{name}={opened}")
    why = f"{os.strerror(failed)}{_filtered()}"
    return why, fixes.restart_container("--security-opt seccomp=unconfined")


def _overlay(tried: dict[str, Any]) -> Probe:
    matters = "full-disk emulation, runs that leave files untouched"
    failed = tried.get("overlay", EPERM)
    if not failed:
        return Probe("overlay", OK, "wrote through an overlay on a tmpfs of 1 MiB", "", matters)
    if tried.get("user") and tried.get("mount", EPERM):
        detail, fix = "not tried: it needs a namespace", _why_no_namespace(EPERM)[1]
        return Probe("overlay", MISSING, detail, fix, matters)
    detail = f"no overlay on tmpfs in a namespace: {os.strerror(failed)}"
    fix = "" if _knows_overlay() else fixes.as_root("modprobe overlay")
    if failed == EPERM and "Seccomp:\t2" in read("/proc/self/status"):
        detail, fix = f"{detail}{_filtered()}", fixes.restart_container("--privileged")
    return Probe("overlay", LIMITED, f"{detail}; folders are copied instead", fix, matters)


def _knows_overlay() -> bool:
    return "overlay" in read("/proc/filesystems").split()


def _cgroups(tried: dict[str, Any]) -> Probe:
    matters = "memory limits that kill as a cluster would"
    scope = tried["scope"]
    by_hand = [f"cgroup {version}" for version in ("v2", "v1") if tried.get(version) == 0]
    if by_hand or scope is None:
        works = by_hand + ["systemd scope"] * (scope is None)
        return Probe("cgroups", OK, f"limited a group's memory: {', '.join(works)}", "", matters)
    said = [f"{v}: {os.strerror(tried[v])}" for v in ("v2", "v1") if v in tried]
    detail = "; ".join([*said, f"systemd: {scope}"]) + "; a watcher stands in"
    fix = ""
    if os.path.isdir("/run/systemd/system") and os.geteuid() != 0:
        fix = fixes.as_root(f"loginctl enable-linger {os.getuid()}")
    elif os.geteuid() == 0:
        fix = fixes.restart_container("--privileged --cgroupns=private")
    return Probe("cgroups", LIMITED, detail, fix, matters)


def _systemd_scope() -> str | None:
    """Run a command in a scope with a memory limit; None if it works, else why not."""
    if not os.path.isdir("/run/systemd/system"):
        return "not running"
    if shutil.which("systemd-run") is None:
        return "no systemd-run"
    whose = [] if os.geteuid() == 0 else ["--user"]
    options = ["--scope", "--quiet", "--collect", "--property=MemoryMax=64M"]
    ran = run("systemd-run", *whose, *options, "true")
    return None if ran.code == 0 else ran.reason


# --- devices, files, text ------------------------------------------------------------


def _gpu(tried: dict[str, Any]) -> Probe:
    matters = "GPU memory limits and reports"
    if tried.get("cuInit") == 0 and tried["names"]:
        names = tried["names"]
        detail = f"CUDA has {len(names)}: {', '.join(dict.fromkeys(names))}"
        return Probe("GPU", OK, detail + tried["smi"], "", matters)
    card = _has_nvidia_card()
    if not tried.get("loaded"):
        if not card:
            return Probe("GPU", ABSENT, "no NVIDIA card in this machine", "", matters)
        detail = "no CUDA driver (libcuda.so.1 does not load)" + tried["smi"]
        return Probe("GPU", MISSING, f"{detail}, but a card", _install_driver(), matters)
    result = tried.get("cuInit")
    why = "it finds no device" if result in (0, NO_DEVICE) else f"cuInit fails with {result}"
    fix = fixes.restart_container("--gpus all") or "nvidia-smi" * bool(shutil.which("nvidia-smi"))
    return Probe("GPU", LIMITED, f"the CUDA driver loads, but {why}", fix if card else "", matters)


def _nvidia_smi() -> str:
    if shutil.which("nvidia-smi") is None:
        return "; no nvidia-smi"
    ran = run("nvidia-smi", "-L")
    listed = sum(line.startswith("GPU ") for line in ran.out.splitlines())
    return f"; nvidia-smi lists {listed}" if ran.code == 0 else f"; nvidia-smi: {ran.reason}"


def _has_nvidia_card() -> bool:
    """Look for a display or 3D controller of NVIDIA's on the PCI bus."""
    from glob import glob

    cards = (os.path.dirname(path) for path in glob("/sys/bus/pci/devices/*/vendor"))
    return any(
        read(f"{card}/vendor") == "0x10de" and read(f"{card}/class").startswith("0x03")
        for card in cards
    )


def _install_driver() -> str:
    if shutil.which("ubuntu-drivers"):
        return fixes.as_root("ubuntu-drivers install")
    return fixes.restart_container("--gpus all") or fixes.system_package("nvidia")


def _reflinks(tried: dict[str, Any]) -> Probe:
    matters = "copies of big folders in no time"
    kind = _file_system(os.getcwd())
    if "write" in tried:
        detail = f"can't write here ({kind}): {os.strerror(tried['write'])}"
        state = LIMITED if tried["write"] == ENOSPC else ABSENT
        return Probe("reflinks", state, detail, "", matters)
    failed = tried.get("clone", EOPNOTSUPP)
    if not failed:
        return Probe("reflinks", OK, f"cloned a file here ({kind})", "", matters)
    none = (EOPNOTSUPP, EINVAL, EXDEV)
    if failed in none:
        return Probe("reflinks", ABSENT, f"{kind} has none; files are copied instead", "", matters)
    detail = f"{kind}: {os.strerror(failed)}; files are copied instead"
    return Probe("reflinks", LIMITED, detail, "", matters)


def _file_system(folder: str) -> str:
    """Name the kind of file system that a folder is on, by the longest mount point above it."""
    best = ("", "unknown")
    for line in read("/proc/self/mounts").splitlines():
        _, at, kind, *_ = line.split()
        if (folder + "/").startswith(at.rstrip("/") + "/") and len(at) >= len(best[0]):
            best = (at, kind)
    return best[1]


def _shm(tried: dict[str, Any]) -> Probe:
    name, matters = "shared memory", "data loaders with workers"
    restart = fixes.restart_container("--shm-size=2g")
    if "bytes" not in tried:
        detail = f"can't write to /dev/shm: {os.strerror(tried.get('write', EPERM))}"
        fix = restart or fixes.as_root("mount -t tmpfs shm /dev/shm")
        return Probe(name, MISSING, detail, fix, matters)
    detail = f"{_size(tried['bytes'])} at /dev/shm, {_size(tried['free'])} of it free"
    if tried["free"] >= SMALL_SHM:
        return Probe(name, OK, detail, "", matters)
    fix = restart or fixes.as_root("mount -o remount,size=2G /dev/shm")
    return Probe(name, LIMITED, f"{detail}: too little for workers", fix, matters)


def _size(number: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} TiB"


def _text(tried: dict[str, Any]) -> Probe:
    matters = "names and messages that are not English"
    name = _locale()
    fix = "export LC_ALL=C.UTF-8"
    if not tried.get("known", True):
        return Probe("UTF-8", LIMITED, f"the locale {name!r} is not installed", fix, matters)
    codeset = tried.get("codeset", "")
    if name in ("", "C", "POSIX"):
        detail = f"the locale is {name or 'not set'}: Python copes, other programs may not"
        return Probe("UTF-8", LIMITED, detail, fix, matters)
    if codeset.replace("-", "").lower() != "utf8":
        return Probe("UTF-8", LIMITED, f"the locale {name!r} writes {codeset}", fix, matters)
    return Probe(
        "UTF-8", OK, f"{name}, terminal {os.environ.get('TERM') or 'unknown'}", "", matters
    )


def _locale() -> str:
    """Give the locale that was set for us: Python puts C.UTF-8 into its own environment."""
    given = dict(row.split("=", 1) for row in read("/proc/self/environ").split("\0") if "=" in row)
    names = ("LC_ALL", "LC_CTYPE", "LANG")
    return next((given[name] for name in names if given.get(name)), "")


# Who judges by which trial, in the order in which they are told.
JUDGES: tuple[tuple[Callable[[dict[str, Any]], Probe], str], ...] = (
    (_ptrace, "ptrace"),
    (_user_namespaces, "namespaces"),
    (_overlay, "namespaces"),
    (_cgroups, "cgroups"),
    (_gpu, "cuda"),
    (_reflinks, "reflink"),
    (_shm, "shm"),
    (_text, "text"),
)
