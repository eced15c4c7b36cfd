"""`disk=PATH:SIZE`, `inodes=PATH:N`: a folder that fills up, without a byte on the disk.

In a mount namespace of the command's own, an overlay lies on the folder: what was there can be
read, what is written goes to a tmpfs of that size. Nothing of it has a name outside, so nothing
is left when the last process in the namespace has ended, however that came about. The driver
holds a descriptor of what was written, and can list and keep it.
"""

from __future__ import annotations

import errno
import os
import re
import stat

from zeroin.emulate import kernel, values
from zeroin.emulate.fullness import Fullness
from zeroin.emulate.handle import Handle
from zeroin.emulate.part import Backend, Effect, Kind, Part, open_folder
from zeroin.errors import UsageError
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Limit, Scene
    from zeroin.emulate.watch import Watch

SPARE = 32  # more inodes than an overlay takes for itself, on any kernel
NO_FILES = ("/proc/", "/sys/")
MOST = 1000  # files that are listed
FULL = os.strerror(errno.ENOSPC)
SAYS_FULL = (FULL, "disk is full", "ENOSPC", "SIGBUS", "Bus error")
OVERFLOW = os.strerror(errno.EOVERFLOW)
QUOTED = r"""['"‘]([^'"’]+)['"’]"""
PAGE = os.sysconf("SC_PAGE_SIZE")


def check(limit: Limit, scene: Scene) -> Limit:
    """That it is a folder of ours, and a size that can be."""
    path = values.real_path(limit, scene, folder=True)
    if path == "/":
        raise UsageError(
            f"--limit {limit.text}: an overlay can't lie on the root",
            hint="name the folder that the command writes to, /data or /tmp for instance",
        )
    if f"{path}/".startswith(NO_FILES):
        raise UsageError(f"--limit {limit.text}: {path} is the kernel's own, and never fills up")
    if not _can_be_filled(path, scene.cwd):
        raise UsageError(
            f"--limit {limit.text}: you may not write to {path}, nor to a folder in it",
            hint=f"ls -ld {path}",
        )
    if limit.share and limit.amount > 1:
        raise UsageError(f"--limit {limit.text}: there is no more than 100% of what is free")
    if limit.share:
        room = os.statvfs(path)
        limit = limit._replace(amount=int(limit.amount * room.f_bavail * room.f_frsize))
    if limit.name == "disk":
        if limit.amount < PAGE:
            raise UsageError(
                f"--limit {limit.text}: room comes in pages of {PAGE:,} bytes",
                hint=f"write disk={limit.target}:{PAGE} or more",
            )
        values.in_memory(limit, values.free_memory())
    return limit._replace(target=path)


def _can_be_filled(path: str, cwd: str) -> bool:
    """Whether we may write to it, to a folder right in it, or to the one that we work in."""

    def may_write(folder: str) -> bool:
        return os.access(folder, os.W_OK | os.X_OK)

    if may_write(path) or (may_write(cwd) and cwd.startswith(os.path.join(path, ""))):
        return True
    try:
        with os.scandir(path) as entries:
            return any(entry.is_dir() and may_write(entry.path) for entry in entries)
    except PermissionError:
        return False


class Overlay(Part):
    """A folder, and what is written to it."""

    spaces = kernel.NEW_MOUNTS
    keeps = True

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "overlay on tmpfs")
        self._cwd = scene.cwd
        made = scene.folders.made if scene.folders is not None else ()
        self._made = [limits[0].target] if limits[0].target in made else []
        self.path = limits[0].target
        self.covers = self.fills = (self.path,)
        self.order = 10 + self.path.count("/")  # a folder before what is in it
        self._amounts = {limit.name: int(limit.amount) for limit in limits}
        self._upper = Handle()

    def enter(self, *, apart: bool) -> None:
        """All that is still needed of the folder is opened before it is covered."""
        lower = open_folder(self.path)
        below = [(path, open_folder(path)) for path in values.mounts_below(self.path)]
        was, may_write = os.stat(self.path), os.access(self.path, os.W_OK)
        kernel.mount("tmpfs", self.path, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, self._room())
        upper, work = os.path.join(self.path, "upper"), os.path.join(self.path, "work")
        os.mkdir(work)
        os.mkdir(upper)
        mode = stat.S_IMODE(was.st_mode)
        if not apart:
            os.chown(upper, was.st_uid, was.st_gid)
        elif not may_write:  # it is ours in there
            mode &= ~stat.S_IWUSR
        os.chmod(upper, mode)
        handle = os.open(upper, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        opened = open_folder(upper), open_folder(work), open_folder(self.path)
        lowest, highest, works = (f"/proc/self/fd/{fd}" for fd in (lower, *opened[:2]))
        options = f"lowerdir={lowest},upperdir={highest},workdir={works}"
        try:
            kernel.mount(
                "overlay", self.path, "overlay", 0, options + (",userxattr" if apart else "")
            )
        except OSError as error:
            if not apart or not below:
                raise
            what = f"without root there is none on a folder in which {below[0][0]} is mounted"
            raise OSError(error.errno, what) from None
        for path, fd in below:
            kernel.bind(fd, path)
            os.close(fd)
        if "inodes" in self._amounts:
            _leave(self._amounts["inodes"], opened[2])
        self._upper.pass_on(handle)
        for fd in (lower, handle, *opened):
            os.close(fd)

    def _room(self) -> str:
        room = ["mode=0700"]
        if "disk" in self._amounts:
            room.append(f"size={self._amounts['disk']}")
        else:  # a tmpfs would take half of the memory as its size
            here = os.statvfs(self.path)
            free = min(here.f_bavail * here.f_frsize, values.free_memory())
            room.append(f"size={max(free, PAGE)}")
        count = self._amounts.get("inodes")
        room.append(f"nr_inodes={count + SPARE if count else 0}")
        return ",".join(room)

    def watch(self) -> Watch | None:
        """How full it gets."""
        return Fullness(self.path)

    # --- what came of it ----------------------------------------------------------------------

    def effects(self, ending: Ending) -> list[Effect]:
        """How full it was, and what was written last."""
        if not self._upper.take():  # it was never started
            return super().effects(ending)
        written, newest, deleted = self._list()
        words = SAYS_FULL if ending.failed else (FULL,)  # it may have coped with it
        is_full = any(one in ending.said for one in words)
        notes = self._notes(ending, deleted)
        kept = ending.keep if ending.keep and self._copy(ending.keep, notes) else ""
        found: list[Effect] = []
        for limit in self.limits:
            used, detail = self._used(limit)
            most = self._most(limit, ending)
            reached = max(used, most) >= limit.amount or (is_full and limit.name == "disk")
            reached = reached or (self.path in ending.full and len(self.limits) == 1)
            spare = PAGE if limit.name == "disk" else 0
            if reached and used < limit.amount - spare:  # it tidied up before it ended
                detail = f"it had no room left{ending.full.get(self.path, '')}; {detail} at the end"
                newest = self._named(ending.said)
            elif not reached:
                much = size(most) if limit.name == "disk" else f"{most:,}"
                detail = f"{f'up to {much}, ' if most > used else ''}{detail} at the end"
            file = newest if limit.name == "disk" else self._named(ending.said)
            if reached and file:
                detail += f", writing {file}"
            own = found == []
            found.append(
                Effect(
                    limit.text,
                    self.backend,
                    reached,
                    detail,
                    tuple(notes if own else ()),
                    tuple(written if own else ()),
                    kept if own else "",
                )
            )
        return found

    def _used(self, limit: Limit) -> tuple[int, str]:
        if limit.name == "inodes":
            count = int(limit.amount) - os.fstatvfs(self._upper.fd).f_ffree
            return count, f"{count} of {limit.amount} files made"
        used = min(self._upper.used(), int(limit.amount))
        return used, f"{size(used)} of {size(limit.amount)} used"

    def _most(self, limit: Limit, ending: Ending) -> int:
        """Likewise while it ran, as far as it was seen to be more than at the end."""
        told = ending.told
        if not told:
            return 0
        if limit.name == "inodes":
            return int(limit.amount - told["files_left"])
        return int(limit.amount) if told["full"] else min(told["peak"], int(limit.amount))

    def _named(self, said: str) -> str:
        """The file below the folder that it could not write, if it said so."""
        for line in said.splitlines():
            for name in re.findall(QUOTED, line) if FULL in line else ():
                path = os.path.realpath(os.path.join(self._cwd, name))
                if path.startswith(os.path.join(self.path, "")):
                    return path
        return ""

    def _list(self) -> tuple[list[str], str, int]:
        """Files that were written, the one that was written last, how many were deleted."""
        top = f"/proc/self/fd/{self._upper.fd}"
        found: list[str] = []
        newest, when, deleted = "", 0, 0
        for folder, _, names in os.walk(top):
            for name in names:
                now = os.lstat(os.path.join(folder, name))
                if stat.S_ISCHR(now.st_mode) and not now.st_rdev:
                    deleted += 1
                    continue
                path = os.path.join(self.path, os.path.relpath(os.path.join(folder, name), top))
                if len(found) < MOST:
                    found.append(path)
                if stat.S_ISREG(now.st_mode) and now.st_mtime_ns > when:
                    newest, when = path, now.st_mtime_ns
        return sorted(found), newest, deleted

    def _notes(self, ending: Ending, deleted: int) -> list[str]:
        notes = [f"{path} was not there, so it was made for this run" for path in self._made]
        notes += [
            f"{path} is mounted there and is not limited" for path in values.mounts_below(self.path)
        ]
        if deleted:
            notes.append(f"files that it deleted are still there: {deleted}")
        if ending.failed and OVERFLOW in ending.said:
            notes.append(
                f'"{OVERFLOW}" is not the program\'s: below the limit, files of another owner or '
                "group can't be changed without root"
            )
        return notes

    def _copy(self, keep: str, notes: list[str]) -> bool:
        """Keep what was written; what can't be is told."""
        import shutil

        try:
            shutil.copytree(
                f"/proc/self/fd/{self._upper.fd}",
                keep,
                symlinks=True,
                dirs_exist_ok=True,
                ignore=_whiteouts,
            )
        except (OSError, shutil.Error) as error:
            notes.append(f"not all of it could be kept in {keep}: {str(error)[:200]}")
            return False
        return True

    def close(self) -> None:
        """Without a descriptor of ours the memory is free."""
        self._upper.close()


def _leave(count: int, fd: int) -> None:
    """Take up all inodes but these, beside the overlay: it has its own, more or less of them."""
    place = f"/proc/self/fd/{fd}"
    for number in range(os.statvfs(place).f_ffree - count):
        os.mknod(f"{place}/{number}")


def _whiteouts(folder: str, names: list[str]) -> set[str]:
    """What stands for a file that was deleted; it can't be copied without root."""
    return {name for name in names if stat.S_ISCHR(os.lstat(os.path.join(folder, name)).st_mode)}


def lacks(limits: Sequence[Limit], scene: Scene) -> str:
    """Try it, in a process that ends right after."""
    part = Overlay(limits, scene)
    try:
        return kernel.trial(part.spaces, lambda apart: part.enter(apart=apart))
    finally:
        part.close()


def _lacks_budget(limits: Sequence[Limit], scene: Scene) -> str:
    from zeroin.emulate import budget

    return budget.lacks(limits, scene)


def _budget(limits: Sequence[Limit], scene: Scene) -> Part:
    from zeroin.emulate.budget import Budget

    return Budget(limits, scene)


_BUDGET = Backend("seccomp listener", _lacks_budget, _budget)
_OVERLAY = Backend("overlay on tmpfs", lacks, Overlay, fails_well=True)
KINDS = {
    "disk": Kind(
        "disk",
        "a folder with only so much room left",
        values.read_path_and_size,
        (_OVERLAY, _BUDGET),
        check,
        lambda limit: f"overlay {limit.target}",
    ),
    "inodes": Kind(
        "inodes",
        "a folder in which only so many files can be made",
        values.read_path_and_count,
        (_OVERLAY,),
        check,
        lambda limit: f"overlay {limit.target}",
    ),
}
