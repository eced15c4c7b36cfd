"""Control groups: found where we may make one, of either version; gone with the run."""

from __future__ import annotations

import errno
import os
import time

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.emulate.scopes import Scope

PATIENCE = 5.0  # seconds until the last process of a group has really ended
ROUND = 0.005


class Place(NamedTuple):
    """A folder in which groups may be made."""

    version: int
    folder: str
    scope: Scope | None = None  # whose folder it is, if it is one of systemd's


class Group:
    """One of ours."""

    def __init__(self, place: Place, name: str) -> None:
        self.place = place
        self.folder = os.path.join(place.folder, name)
        os.mkdir(self.folder)

    def set(self, values: Mapping[str, object]) -> None:
        """Write settings; those that end in a question mark may be missing on this kernel."""
        for knob, value in values.items():
            try:
                write(self.folder, knob.rstrip("?"), str(value))
            except OSError:
                if not knob.endswith("?"):
                    raise

    def take(self, pid: int) -> None:
        """A process, and all that it will start."""
        try:
            write(self.folder, "cgroup.procs", str(pid))
        except PermissionError:
            # From a session to what a user's own systemd has there is no way but to ask it.
            if self.place.scope is None:
                raise
            self.place.scope.attach(pid, os.path.basename(self.folder))

    def remove(self) -> None:
        """Once nobody is in it any more."""
        self.abandon()
        if self.place.scope is not None:
            self.place.scope.close()

    def abandon(self) -> None:
        """Likewise, if its maker was killed: a scope ends by itself then."""
        remove_group(self.folder)


def remove_group(folder: str) -> None:
    """Once nobody is in it any more, or not at all."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            os.rmdir(folder)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > until:
                return
            time.sleep(ROUND)
        else:
            return


def write(folder: str, knob: str, text: str) -> None:
    """Without making it: a setting that isn't there can't be made."""
    fd = os.open(os.path.join(folder, knob), os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


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
        if has(folder, controller):
            found.append(Place(2, folder))
        folder = os.path.dirname(folder)
    return found


def has(folder: str, controller: str) -> bool:
    """Whether groups in that folder are limited by it."""
    return controller in read(folder, "cgroup.subtree_control").split()


def make(places: Sequence[Place], name: str, settings: Mapping[str, object]) -> Group:
    """In the first place where it works; OSError with the reason where none does."""
    reason = OSError(errno.ENOENT, "there is no place for a group")
    for place in places:
        try:
            group = Group(place, name)
        except OSError as error:
            reason = error
            continue
        try:
            group.set(settings)
            _can_take(group)
        except OSError as error:
            group.abandon()
            reason = error
        else:
            return group
    raise reason


def _can_take(group: Group) -> None:
    """Try with a process that does nothing: OSError if it can't be put into the group."""
    waiting, going = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(going)
        os.read(waiting, 1)
        os._exit(0)
    try:
        group.take(pid)
    finally:
        os.close(going)
        os.close(waiting)
        os.waitpid(pid, 0)


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
