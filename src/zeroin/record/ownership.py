"""Who can change what lies at a path: only we and root, or somebody else as well."""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

_PASSWD_FIELDS = 6  # colons of a line
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def find_exposure(folder: str) -> str:
    """Why others could put something of theirs at this path; "" if only we and root can.

    Each folder on the way counts, from the root of the file system on. In one with the sticky bit
    everybody may make files, but nobody can rename or remove those of others.
    """
    path = folder
    while True:
        why = describe_exposure(path, os.lstat(path))
        if why or path == "/":
            return why
        path = os.path.dirname(path)


def describe_exposure(path: str, info: os.stat_result) -> str:
    """Why others could change the entries of this one folder; "" if only we and root can."""
    if stat.S_ISLNK(info.st_mode):
        return f"{path} is a link"
    if info.st_uid not in (os.geteuid(), 0) and not _is_unmapped(info.st_uid):
        return f"{path} belongs to {name_user(info.st_uid)}"
    if not info.st_mode & _OTHERS or info.st_mode & stat.S_ISVTX:
        return ""
    if info.st_mode & stat.S_IWOTH or not _is_group_of_one(path, info.st_gid):
        return f"others can write to {path}"
    return ""


def owners_around(folder: str) -> set[int]:
    """Whose files count in a folder: ours, root's, and those of the folder's own owner.

    Who works in somebody else's folder has chosen to; what a third user has put above it is not
    part of that choice.
    """
    try:
        return {os.geteuid(), 0, os.stat(folder).st_uid}
    except OSError:
        return {os.geteuid(), 0}


def is_owned_by(path: str, owners: Collection[int]) -> bool:
    """Whether there is something at the path, and it belongs to one of these users."""
    try:
        owner = os.lstat(path).st_uid
    except OSError:
        return False
    return owner in owners or _is_unmapped(owner)


def name_user(uid: int) -> str:
    """A user's name for people to read."""
    import pwd

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return f"user {uid}"


def _is_unmapped(uid: int) -> bool:
    """Whether a file's owner has no number here: in a user namespace, root outside has none.

    Nobody inside can act as that user, and what is ours is still known by its owner.
    """
    try:
        with open("/proc/sys/kernel/overflowuid", "rb") as file:
            if uid != int(file.read()):
                return False
        with open("/proc/self/uid_map", "rb") as file:
            ranges = [list(map(int, line.split())) for line in file]
    except (OSError, ValueError):
        return False
    return not any(first <= uid < first + count for first, _, count in ranges)


def _is_nobody_elses_group(gid: int, name: str) -> bool:
    """Whether this machine has no other user of that group, as containers for one user have none.

    Only where all users stand in a file of the machine: a directory service may have more.
    """
    try:
        with open("/etc/passwd", encoding="utf-8", errors="replace") as file:
            users = [line.split(":") for line in file if line.count(":") >= _PASSWD_FIELDS]
        with open("/etc/nsswitch.conf", encoding="utf-8", errors="replace") as file:
            services = [line.split()[1:] for line in file if line.startswith("passwd:")]
    except OSError:
        return False
    if any(set(words) - {"files", "compat", "systemd"} for words in services):
        return False
    return not any(one[3] == str(gid) and one[0] not in (name, "root") for one in users)


def _is_group_of_one(path: str, gid: int) -> bool:
    """Whether a group has only us, as the group that many systems make for each user."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    if set(group.gr_mem) - {user.pw_name, "root"}:
        return False
    is_named_so = (gid, group.gr_name) == (user.pw_gid, user.pw_name)
    if not is_named_so and not _is_nobody_elses_group(gid, user.pw_name):
        return False
    try:
        os.getxattr(path, "system.posix_acl_access")
    except OSError:  # the usual: nobody else is named in a list of its own
        return True
    return False
