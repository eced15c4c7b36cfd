"""Which stores and settings of a project are the user's own, and which came with the files.

A clone, an archive or another user can put a `.zeroin` into a folder. One is ours if it belongs to
us, nobody else can write on the way to it, no entry of it is a link, git does not track it, and its
id is known in our state folder. The state folder has, for each store, `stores/ID` with the inode of
the store, so that a copy of it is another one; and, for each project, `agreed/HASH` with what the
user has agreed to by `zeroin trust`.

A store without a known id is adopted once if it shows that it was made in this very place: by an
inode or a time of change, which nobody can bring along in an archive, or by this boot's id.
"""

from __future__ import annotations

import os
import re
import stat

from zeroin.digest import digest
from zeroin.named import NamedTuple
from zeroin.record.ownership import describe_exposure, find_exposure, name_user

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

IGNORED = ".gitignore"
ID = "id"
_HARMLESS = frozenset((IGNORED, ID, "config.toml"))  # a store that only has these is a new one
_MOST_INDEXES = 8


class Fault(NamedTuple):
    """Why a store is not used, and what to do about it."""

    why: str
    hint: str = ""
    can_be_agreed: bool = False  # to use it all the same


class Agreement(NamedTuple):
    """What the user has agreed to for one project."""

    exposed: bool = False  # that others can write to its folder
    settings: str = ""  # the hash of those that need it


def find_fault(folder: str, state: str) -> Fault | None:
    """Why the store of a project must not be used; None if it is ours, or can be made there."""
    root = os.path.dirname(folder)
    try:
        info = os.lstat(folder)
    except OSError:
        return _find_fault_above(root, root, state)
    if stat.S_ISLNK(info.st_mode):
        return Fault(f"{folder} is a link")
    if not stat.S_ISDIR(info.st_mode):
        return Fault(f"{folder} is no folder")
    if info.st_uid != os.geteuid():
        return Fault(f"{folder} belongs to {name_user(info.st_uid)}")
    agreed = read_agreement(root, state)
    why = describe_exposure(folder, info)
    if why and not agreed.exposed:
        hint = f"chmod 700 {folder}; or, if you trust them: zeroin trust"
        return Fault(why, hint, can_be_agreed=True)
    from zeroin.record.tracked import find_tracked

    name = os.path.basename(folder)
    if find_tracked(root, name):
        if is_known(folder, info, state):  # somebody has added what was to stay out
            return Fault(f"git tracks files in {folder}", f"git rm -r --cached {name}")
        return Fault(f"{folder} came with the repository, since git tracks it")
    try:
        with os.scandir(folder) as entries:
            names = {entry.name: entry.is_symlink() for entry in entries}
    except OSError as error:
        return Fault(f"{folder}: {error.strerror}")
    for name, is_link in names.items():
        if is_link:
            return Fault(f"{name if name.isprintable() else repr(name)} in {folder} is a link")
    fault = _find_fault_above(root, folder, state)
    if fault is not None:
        return fault
    if is_known(folder, info, state) or names.keys() <= _HARMLESS:
        return None
    if is_made_here(folder, names):
        register_store(folder, state)
        return None
    return Fault(f"{folder} was not made here", "if it is yours: zeroin trust", can_be_agreed=True)


def _find_fault_above(root: str, written: str, state: str) -> Fault | None:
    if not os.access(written, os.W_OK):
        return Fault(f"{written} can't be written to")
    why = find_exposure(root)
    if not why or read_agreement(root, state).exposed:
        return None
    return Fault(why, "if you trust whoever that is: zeroin trust", can_be_agreed=True)


# --- ids ------------------------------------------------------------------------------------------


def is_known(folder: str, info: os.stat_result, state: str) -> bool:
    """Whether the state folder has the id of a store, and the store is still the same folder."""
    name = _read_small(os.path.join(folder, ID)).partition(" ")[0]
    if not re.fullmatch(r"[0-9a-f]{32}", name):
        return False
    known = _read_small(os.path.join(state, "stores", name)).split(" ")
    return known[0] == str(info.st_ino)


def give_id(folder: str, state: str) -> None:
    """Write an id into a new store and into the state folder.

    The inode and the time of change of another file stand beside it, by which the store is known
    for as long as it stays here, also where there is no state folder that lasts.
    """
    info = os.lstat(os.path.join(folder, IGNORED))
    line = f"{os.urandom(16).hex()} {info.st_ino}:{info.st_ctime_ns}\n"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        fd = os.open(os.path.join(folder, ID), flags, 0o600)
    except FileExistsError:  # another run was quicker
        return
    with open(fd, "w", encoding="ascii") as file:
        file.write(line)
    register_store(folder, state)


def register_store(folder: str, state: str) -> None:
    """Note in the state folder that a store is ours; one without an id gets one."""
    name = _read_small(os.path.join(folder, ID)).partition(" ")[0]
    try:
        if not re.fullmatch(r"[0-9a-f]{32}", name):
            give_id(folder, state)
            return
        _write_state(state, "stores", name, f"{os.lstat(folder).st_ino} {folder}\n")
    except OSError:  # without a lasting state folder the store is adopted each time
        return


def is_made_here(folder: str, names: Collection[str]) -> bool:
    """Whether a store shows that it was made in this place, and did not come from elsewhere."""
    told = _read_small(os.path.join(folder, ID)).strip().partition(" ")[2]
    if told and told == _identify(os.path.join(folder, IGNORED), "st_ctime_ns"):
        return True
    code = os.path.join(folder, "code.git")
    indexes = [name for name in _names(code) if re.fullmatch(r"index\.[0-9a-f]{8}\.tree", name)]
    for name in indexes[:_MOST_INDEXES]:
        about = _read_small(os.path.join(code, name)).split(" ")
        index = os.path.join(code, name.removesuffix(".tree"))
        if len(about) == 4 and about[1] == _identify(index, "st_mtime_ns"):
            return True
    return "store.db" in names and _has_attempt_of_this_boot(os.path.join(folder, "store.db"))


def _identify(path: str, time: str) -> str:
    try:
        info = os.lstat(path)
    except OSError:
        return "none"
    return f"{info.st_ino}:{getattr(info, time)}"


def _has_attempt_of_this_boot(path: str) -> bool:
    """Whether a store holds an attempt whose recorder ran since this machine has started."""
    import _sqlite3 as sqlite3
    from urllib.parse import quote

    try:
        with open("/proc/sys/kernel/random/boot_id", "rb") as file:
            boot = file.read(8).decode()
        db = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=1.0)
        try:
            db.execute("PRAGMA trusted_schema=OFF")
            sql = "SELECT count(*) FROM (SELECT 1 FROM attempts WHERE driver LIKE ? LIMIT 1)"
            return bool(db.execute(sql, (f"%:{boot}",)).fetchone()[0])
        finally:
            db.close()
    except (OSError, sqlite3.Error):
        return False


# --- what the user has agreed to ------------------------------------------------------------------


def read_agreement(root: str, state: str) -> Agreement:
    """What was agreed to for a project."""
    words = _read_small(os.path.join(state, "agreed", digest(root, 12))).split("\n")[0].split(" ")
    if len(words) != 2:
        return Agreement()
    return Agreement(words[0] == "exposed", words[1].removeprefix("settings="))


def write_agreement(root: str, state: str, agreed: Agreement) -> None:
    """Keep what was agreed to for a project."""
    text = f"{'exposed' if agreed.exposed else 'closed'} settings={agreed.settings}\n{root}\n"
    _write_state(state, "agreed", digest(root, 12), text)


def forget_agreement(root: str, folder: str, state: str) -> bool:
    """Take back what was agreed to for a project and its store; False if nothing was."""
    name = _read_small(os.path.join(folder, ID)).partition(" ")[0]
    is_there = False
    for kind, known in (("agreed", digest(root, 12)), ("stores", name)):
        try:
            os.unlink(os.path.join(state, kind, os.path.basename(known) or "none"))
            is_there = True
        except OSError:
            continue
    return is_there


def _write_state(state: str, kind: str, name: str, text: str) -> None:
    folder = os.path.join(state, kind)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    passing = os.path.join(folder, f".{os.getpid()}.{os.urandom(4).hex()}")
    with open(passing, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(passing, os.path.join(folder, name))


def _read_small(path: str) -> str:
    """The first bytes of a file; "" of what is none: no link is followed, no FIFO waited for."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, 4096).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
    finally:
        os.close(fd)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []
