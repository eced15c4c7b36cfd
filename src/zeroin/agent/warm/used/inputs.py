"""What of the outside world the run up to here has used, and what of that is different now.

`install` at the start, `mark` at each snapshot, `changed` in a process forked from one.
The uses are found by audit events (`events`), by what stands in for `os.stat` (`probes`),
by the imports (`lookups`), and by what is mapped or open at a mark.

Not seen: a file that C code opens and closes between two marks (some readers of images,
parquet and checkpoints), what a child process reads beyond the files that its command
names, what is opened relative to a descriptor (`os.open(name, dir_fd=…)`), and modules that
took `stat` from `posix` itself.
"""

from __future__ import annotations

import os
import posix
import sys

from . import events, lookups, probes, signatures, uses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Container

# What belongs to the machine: compared where it was read, but nobody need watch it.
_SYSTEM = ("/usr/", "/lib/", "/lib64/", "/bin/", "/sbin/", "/etc/", "/var/lib/", "/run/")

on_event: dict[str, Callable[[tuple[Any, ...]], None]] = {}

_settled: dict[str, Any] = {}  # what the run wrote, as it was at the last mark
_known_maps: set[bytes] = set()
_last_mark = 0
_start = ""


def install(now: Callable[[], int]) -> None:
    """Begin. Once, before the user's code; can't be undone."""
    global _start  # noqa: PLW0603 - a process starts once
    uses.now = now
    _start = posix.getcwd() + "/"
    on_event.update(events.HANDLERS)
    on_event["import"] = lookups.imported
    lookups.install()
    probes.install()
    sys.addaudithook(_hook)


def _hook(event: str, args: tuple[Any, ...], table: dict[str, Any] = on_event) -> None:
    if event in table:  # a default argument and no call: `id()` raises an event, too
        try:
            table[event](args)
        except Exception:  # strangers' paths may be anything; the program goes on
            pass


def step_aside() -> None:
    """No snapshot will depend on what is used from here on: do nothing that the program can see."""
    signatures.look_no_more()
    probes.step_aside()
    if lookups.Finder in sys.meta_path:
        sys.meta_path.remove(lookups.Finder)


def ignore(folder: str) -> None:
    """Take no notice of a folder: one that the agent and the driver speak by."""
    events.ignored += (os.path.join(os.path.abspath(folder), ""),)


def looked_for(name: str) -> None:
    """Note that a module is being looked for: for finders that stand before ours."""
    lookups.Finder.find_spec(name)


def exempt(path: str) -> None:
    """Leave to others whether a source file's content has changed."""
    full = events.resolve(path)
    use = uses.looked(full) if full is not None else None
    if use is not None:
        use.exempt = True


def paths() -> list[str]:
    """Give what is worth watching: files and folders of the user's, also those not found.

    What the run writes itself is left out: watched, each run would set off the next.
    """
    system = (*_SYSTEM, *(os.path.join(p, "") for p in {sys.prefix, sys.base_prefix} if p != "/"))
    used = [path for path, use in list(uses.TABLE.items()) if _is_watched(use)]
    found = dict.fromkeys([*used, *lookups.candidates()])
    for path in list(found):
        try:
            found[os.path.join(os.path.dirname(path), posix.readlink(path))] = None
        except OSError:  # no link
            pass
    return [os.path.normpath(path) for path in found if not path.startswith(system)]


def _is_watched(use: uses.Use) -> bool:
    if use.listed is None and signatures.FOLDER in (use.look, (use.link or (0,))[0]):
        return False  # only that it is there was seen, as of all folders above a file
    return use.written is None and not use.own


# --- at a snapshot --------------------------------------------------------------------------


def mark() -> object:
    """Note what the run has written so far; and look for what was opened outside of Python."""
    global _last_mark  # noqa: PLW0603 - marks follow one another
    writing: dict[tuple[int, int], str] = {}
    try:
        _see_mapped()
        writing = _see_open()
    except Exception:  # no /proc
        pass
    again = {*uses.unsettled, *writing.values()}
    uses.unsettled.clear()
    for path in again:
        left = _settled[path] = _left(path, writing)
        if left is not None and left[0] == "open":
            uses.unsettled.add(path)
    _last_mark = uses.now()
    return dict(_settled)


def _left(path: str, writing: Container[tuple[int, int]] = ()) -> Any:
    """Tell what the run left at a path."""
    found = signatures.state(path)
    if found is None:
        return signatures.link(path)
    if (found.st_dev, found.st_ino) in writing:  # its length will be put back
        return "open", found.st_ino, found.st_size
    if signatures.kind(found) != signatures.FOLDER:
        return signatures.measure(found)
    use = uses.TABLE.get(path)
    return "folder", signatures.names(path, 1) if use is not None and use.fresh else None


def _see_mapped() -> None:
    with open("/proc/self/maps", "rb") as maps:
        tails = {line[line.find(b"/") :] for line in maps if b"/" in line}
    for tail in tails - _known_maps:
        _known_maps.add(tail)
        path = os.fsdecode(tail.rstrip(b"\n"))
        if not path.startswith(_SYSTEM):
            _see_at_last_mark(path)


def _see_open() -> dict[tuple[int, int], str]:
    """Give the files open for writing; note those that were not known to be open."""
    import fcntl

    writing = {}
    for name in posix.listdir("/proc/self/fd"):
        fd = int(name)
        if fd <= 2:  # the driver's
            continue
        try:
            path = posix.readlink(f"/proc/self/fd/{fd}")
            if path[0] != "/" or not events.tracked(path):
                continue
            flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        except OSError:
            continue
        found = signatures.state(path)
        if not flags & events._ACCESS:
            _see_at_last_mark(path)
        elif found is not None and signatures.kind(found) == signatures.FILE:
            writing[found.st_dev, found.st_ino] = path
            use = uses.TABLE.get(path)
            if use is None or use.written is None:
                use = uses.wrote(path, whole=False)
                if use is not None:
                    use.written = _last_mark
    return writing


def _see_at_last_mark(path: str) -> None:
    """Note what no event told of; it may have been opened by another name."""
    if path in uses.TABLE or not events.tracked(path):
        return
    found = signatures.state(path)
    if (
        found is not None
        and signatures.kind(found) == signatures.FILE
        and found.st_ino not in signatures.inodes
    ):
        uses.read(path)
        use = uses.TABLE.get(path)
        if use is not None:
            use.read = _last_mark


# --- in a process forked from a snapshot --------------------------------------------------------


def changed(mark: object) -> list[tuple[int, str]]:
    """Give what is different now: the position of its first use, and a reason; earliest first."""
    left: dict[str, Any] = mark if isinstance(mark, dict) else {}
    found = lookups.changed(_show)
    for path, use in list(uses.TABLE.items()):
        odd = list(_differences(path, use, left))
        if odd:
            found.append(min(odd))
    if uses.full_since is not None:
        found.append((uses.full_since, f"more than {uses.MOST:,} files were used"))
    return sorted(found)


def _show(path: str) -> str:
    """As the user would name it: below the folder that the program started in."""
    return path.removeprefix(_start)


def _differences(path: str, use: uses.Use, left: dict[str, Any]) -> Any:
    found = signatures.state(path)
    is_folder = signatures.FOLDER in (signatures.kind(found), use.look, (use.link or (0,))[0])
    shown = _show(path) + "/" * is_folder
    if use.looked is not None and use.look != signatures.kind(found):
        yield use.looked, f"{shown} {_fate(use, use.look is None, found is None)}"
    if use.linked is not None and use.link != (link := signatures.link(path)):
        yield use.linked, f"{shown} {_fate(use, use.link is None, link is None)}"
    if use.measured is not None and use.measure != signatures.measure(found):
        yield use.measured, f"{shown} was changed and its size or time had been looked at"
    if use.read is not None and not (use.exempt and use.tools):
        if found is None or use.content is None:
            if found is not None or use.content is not None:
                yield use.read, f"{shown} {_fate(use, use.content is None, found is None)}"
        elif _is_other(path, use.content, found):
            yield use.read, f"{shown} was changed and had been read"
    if use.listed is not None and use.names != signatures.names(path, use.deep):
        yield use.listed, f"{shown} has other files now"
    if use.written is not None and not _is_left(path, left.get(path), found):
        yield use.written, f"{shown} is no longer as the run had left it"


def _fate(use: uses.Use, was_absent: bool, is_absent: bool) -> str:
    if was_absent:
        if use.written is not None:
            return "was created by the run itself and had been looked for"
        return "exists now and was looked for"
    if is_absent:
        return "was removed by the run itself" if use.written is not None else "is gone"
    return "was replaced by something else"


def _is_other(path: str, was: signatures.Content, found: posix.stat_result) -> bool:
    if was[:3] == (found.st_size, found.st_mtime_ns, found.st_ino):
        return False
    return was[3] is None or was[0] != found.st_size or was[3] != signatures.digest_of(path)


def _is_left(path: str, was: Any, found: posix.stat_result | None) -> bool:
    if was is not None and was[0] == "open":
        return found is not None and found.st_ino == was[1] and found.st_size >= was[2]
    return bool(was == _left(path))
