"""Control groups: found where we may make one, of either version; gone with the run."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

from zeroin.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from zeroin.emulate.part import Scene

PREFIX = "zeroin-limit-"
PATIENCE = 5.0  # seconds until the last process of a group has really ended
ROUND = 0.005


class Place(NamedTuple):
    """A folder in which groups may be made."""

    version: int
    folder: str


class Group:
    """One of ours."""

    def __init__(self, place: Place, scene: Scene) -> None:
        self.version = place.version
        self.folder = os.path.join(place.folder, PREFIX + scene.name)
        os.mkdir(self.folder)

    def set(self, values: Mapping[str, object]) -> None:
        """Write settings; those that end in a question mark may be missing on this kernel."""
        for knob, value in values.items():
            try:
                self._write(knob.rstrip("?"), str(value))
            except OSError:
                if not knob.endswith("?"):
                    raise

    def _write(self, knob: str, text: str) -> None:
        """Without making it: a setting that isn't there can't be made."""
        fd = os.open(os.path.join(self.folder, knob), os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, text.encode())
        finally:
            os.close(fd)

    def join(self) -> None:
        """With the process that calls it, and all that it will start."""
        self._write("cgroup.procs", "0")

    def remove(self) -> None:
        """Once nobody is in it any more."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                os.rmdir(self.folder)
            except FileNotFoundError:
                return
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > until:
                    return
                time.sleep(ROUND)
            else:
                return


def read(folder: str, name: str) -> str:
    """What a file of a group says; "" if there is none."""
    try:
        with open(os.path.join(folder, name), encoding="ascii") as file:
            return file.read()
    except OSError:
        return ""


def numbers(folder: str, name: str) -> dict[str, int]:
    """A file of lines `word number`."""
    rows = [line.split() for line in read(folder, name).splitlines()]
    return {row[0]: int(row[1]) for row in rows if len(row) == 2 and row[1].isdigit()}


def group_of(pid: int | str) -> str:
    """The folder of a process's group of version 2; "" if there is none."""
    own, tops = _own(pid), _tops()
    return f"{tops['']}{own['']}".rstrip("/") if "" in own and "" in tops else ""


def places(controller: str, version: int) -> list[Place]:
    """Where a group with that controller might be made, the nearest first."""
    own, tops = _own("self"), _tops()
    if version == 1:
        if controller not in own or controller not in tops:
            return []
        folder = tops[controller] + own[controller].rstrip("/")
        return [Place(1, folder if os.path.isdir(folder) else tops[controller])]
    found = []
    folder = group_of("self")
    while folder and folder.startswith(tops[""]) and os.path.isdir(folder):
        # Where processes are, version 2 has no groups below that limit anything.
        if controller in read(folder, "cgroup.subtree_control").split():
            found.append(Place(2, folder))
        folder = os.path.dirname(folder)
    return found


def why_not(controller: str, version: int, settings: Mapping[str, object], scene: Scene) -> str:
    """Make one, set it, put a process into it; why that fails, "" if it works."""
    found = places(controller, version)
    if not found:
        return f"no {controller} controller of version {version} for us"
    reason = ""
    for place in found:
        reason = _try(place, settings, scene)
        if not reason:
            break
    return reason


def make(controller: str, version: int, settings: Mapping[str, object], scene: Scene) -> Group:
    """In the first place where it works, after `why_not` has said that there is one."""
    reason = ""
    for place in places(controller, version):
        reason = _try(place, settings, scene)
        if not reason:
            group = Group(place, scene)
            group.set(settings)
            return group
    raise OSError(errno.EACCES, reason)


def _try(place: Place, settings: Mapping[str, object], scene: Scene) -> str:
    try:
        group = Group(place, scene)
    except OSError as error:
        return os.strerror(error.errno or 0).lower()
    try:
        group.set(settings)
        pid = os.fork()
        if not pid:
            _join_and_end(group)
        failed = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        return os.strerror(failed).lower() if failed else ""
    except OSError as error:
        return os.strerror(error.errno or 0).lower()
    finally:
        group.remove()


def _join_and_end(group: Group) -> None:
    code = errno.EIO
    try:
        group.join()
        code = 0
    except OSError as error:
        code = error.errno or errno.EIO
    finally:
        os._exit(code)


def _own(pid: int | str) -> dict[str, str]:
    """Controller → group; "" for version 2."""
    with open(f"/proc/{pid}/cgroup", encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.rstrip("\n").split(":", 2) for line in file]
    return {name: path for _, names, path in rows for name in names.split(",")}


def _tops() -> dict[str, str]:
    """Controller → where its hierarchy is mounted."""
    found: dict[str, str] = {}
    with open("/proc/self/mounts", encoding="utf-8", errors="surrogateescape") as file:
        for _, at, kind, options, *_ in map(str.split, file):
            if kind == "cgroup2":
                found.setdefault("", at)
            elif kind == "cgroup":
                found.update(dict.fromkeys(options.split(","), at))
    return found
