"""All that a command is given, as one payload, and how each state of it is put on the disk."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import stat

from zeroin.axes.payload import zstd
from zeroin.axes.payload.depth import DEEPEST
from zeroin.axes.payload.group import Group, Member
from zeroin.axes.payload.huge import Huge
from zeroin.axes.payload.lines import LINES
from zeroin.axes.payload.reading import is_too_deep, is_too_large, read_file
from zeroin.axes.payload.words import Words
from zeroin.errors import UntestableError, UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from zeroin.axes.payload.foreign import Cutter
    from zeroin.axes.payload.kinds import Payload

ARGS, ENV = "@args", "@env"
MOST = 20_000  # files of a folder
NO_CODE = frozenset(("__pycache__", ".git", ".zeroin", ".venv", "venv", "node_modules"))


class Source(NamedTuple):
    """A payload as the user named it."""

    path: str  # as it was given
    full: str
    is_folder: bool


class _Written(NamedTuple):
    """What was put into a file, and its state then."""

    payload: Payload
    stamp: tuple[int, ...]


class World:
    """The payloads that are given on the command line, and where each file belongs."""

    def __init__(
        self, sources: Sequence[Source], cutter: Callable[[str, str], Cutter | None]
    ) -> None:
        self.sources = sources
        self._cutter = cutter
        self.notes: list[str] = []  # what one should know about what was read
        self._modes: dict[str, int] = {}
        self._written: dict[str, _Written] = {}  # files of folders, by where they were put
        self._seen = self._stamps()

    def read(self, args: Sequence[str], env: Mapping[str, str]) -> Group:
        """All of it as it is. The names of members are `number/path`."""
        members = []
        for number, source in enumerate(self.sources):
            for name, full in _files(source):
                self._modes[f"{number}/{name}"] = stat.S_IMODE(os.stat(full).st_mode)
                goes = source.is_folder
                members.append(Member(f"{number}/{name}", self._read(full), goes))
        if args:
            members.append(Member(ARGS, Words(tuple(args)), goes=False))
        if env:
            words = tuple(f"{name}={value}" for name, value in sorted(env.items()))
            members.append(Member(ENV, Words(words, "variable"), goes=False))
        return Group(tuple(members))

    def _read(self, full: str) -> Payload:
        try:
            name = os.path.basename(full)
            if zstd.is_lacking(full):
                self.notes.append(f"{name} is made smaller by its bytes: {zstd.LACKING}")
            found = read_file(full, self._cutter)
            if isinstance(found, Huge) and is_too_large(full):
                self.notes.append(
                    f"{name} is made smaller by its lines: it is too large to be held"
                )
            elif getattr(found, "noun", "") == LINES.noun and is_too_deep(full):
                self.notes.append(
                    f"{name} is made smaller by its lines: it is nested more than {DEEPEST} "
                    "levels deep"
                )
            return found
        except PermissionError:
            raise UsageError(f"{full}: may not be read", hint=f"chmod u+r {full}") from None

    def place(self, number: int, folder: str) -> str:
        """Where a payload's state is, below a folder."""
        source = self.sources[number]
        below = os.path.join(folder, str(number))
        return below if source.is_folder else os.path.join(below, _name(source))

    def is_changed(self) -> bool:
        """Whether somebody has changed the payload since it was read."""
        return self._seen != self._stamps()

    def _stamps(self) -> dict[str, tuple[int, int, int]]:
        found = {}
        for source in self.sources:
            for _, full in _files(source):
                with contextlib.suppress(FileNotFoundError):  # it is gone, which is a change
                    now = os.stat(full)
                    found[full] = now.st_size, now.st_mtime_ns, now.st_ino
        return found

    def gone(self) -> str:
        """Which payload is not there any more; "" if all are."""
        return next((one.path for one in self.sources if not os.path.exists(one.full)), "")

    def write(self, group: Group, folder: str) -> None:
        """Put it below a folder, in the place of what was there.

        Files keep their identity: others may see them under another name.
        """
        try:
            self._write(group, folder)
        except OSError as error:
            raise UntestableError(
                f"{folder}: {os.strerror(error.errno or 0).lower()}",
                hint="the tries need room for the payload; set TMPDIR to a folder that has it",
            ) from None

    def _write(self, group: Group, folder: str) -> None:
        for number in range(len(self.sources)):
            os.makedirs(os.path.join(folder, str(number)), exist_ok=True)
        files = [one for one in group.members if one.name not in (ARGS, ENV)]
        self._remove_others(folder, {one.name for one in files})
        for one in files:
            target = os.path.join(folder, one.name)
            last = self._written.get(target)
            if last is not None and last.payload is one.payload and last.stamp == _stamp(target):
                continue
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                os.chmod(target, 0o600)  # the one before may have been for reading only
            fd = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            with open(fd, "wb") as file:
                file.writelines(one.payload.pieces())
                file.truncate()
                os.fchmod(fd, self._modes.get(one.name, 0o644))
            if one.goes:  # of a folder: most of them are as they were in the try before
                self._written[target] = _Written(one.payload, _stamp(target))

    def _remove_others(self, folder: str, names: set[str]) -> None:
        for number, source in enumerate(self.sources):
            if not source.is_folder:
                continue
            own = os.path.join(folder, str(number))
            for above, folders, found in os.walk(own, topdown=False):
                for name in found:
                    full = os.path.join(above, name)
                    if os.path.relpath(full, folder) not in names:
                        os.unlink(full)
                for name in folders:
                    with contextlib.suppress(OSError):  # it is not empty
                        os.rmdir(os.path.join(above, name))


def _stamp(path: str) -> tuple[int, ...]:
    """Other whenever somebody has written there: nobody can set back the time of a change."""
    try:
        now = os.lstat(path)
    except FileNotFoundError:
        return ()
    return now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns


def words_of(member: Member) -> tuple[str, ...]:
    """Of a member that is no file."""
    return member.payload.words if isinstance(member.payload, Words) else ()


def name_of(group: Group) -> str:
    """The name of its content, without writing it."""
    digest = hashlib.sha256()
    for piece in group.identity():
        digest.update(piece)
    return digest.hexdigest()[:32]


def stamp(paths: Sequence[str], left_out: Collection[str]) -> str:
    """The state of the program's own files: answers about other code are of no use."""
    digest = hashlib.sha256()
    for full in itertools.islice(_all_of(paths), MOST):
        if any(f"{full}/".startswith(f"{one}/") for one in left_out):
            continue
        with contextlib.suppress(FileNotFoundError):  # it was somebody's for a moment
            now = os.lstat(full)
            told = f"{full}\0{now.st_size} {now.st_mtime_ns}\0"
            digest.update(told.encode(errors="surrogateescape"))
    return digest.hexdigest()[:16]


def _all_of(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if os.path.isfile(path):
            yield path
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(one for one in folders if one not in NO_CODE)
            yield from (os.path.join(folder, name) for name in sorted(names))


def outputs() -> list[str]:
    """Where what we say goes: that is no part of the program."""
    found = []
    for fd in (1, 2):
        with contextlib.suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
    return found


def counted(group: Group) -> tuple[int, str]:
    """How many parts, and what those are called."""
    files = [one.payload for one in group.members if one.name not in (ARGS, ENV)]
    if len(files) == 1:
        return files[0].parts, files[0].noun
    return len(files), "file"


def find(paths: Sequence[str], cwd: str) -> list[Source]:
    """The payloads that the user means."""
    found = []
    for path in paths:
        full = os.path.realpath(os.path.join(cwd, path))
        if not os.path.exists(full):
            raise UsageError(f"{path}: no such file or folder", hint=f"paths are taken from {cwd}")
        if not os.access(full, os.R_OK | (os.X_OK if os.path.isdir(full) else 0)):
            raise UsageError(f"{path}: may not be read", hint=f"chmod u+r {path}")
        is_folder = os.path.isdir(full)
        if not is_folder and not os.path.isfile(full):
            raise UsageError(f"{path}: neither a file nor a folder, so it can't be made smaller")
        found.append(Source(path, full, is_folder))
    for one in found:
        for other in found:
            if one is not other and f"{one.full}/".startswith(f"{other.full}/"):
                raise UsageError(f"{one.path} is part of {other.path}: name only one of them")
    return found


def _name(source: Source) -> str:
    return os.path.basename(source.full)


def _files(source: Source) -> Iterator[tuple[str, str]]:
    if not source.is_folder:
        yield _name(source), source.full
        return
    count = 0
    for folder, folders, names in os.walk(source.full):
        folders[:] = sorted(one for one in folders if one not in NO_CODE)
        for name in sorted(names):
            full = os.path.join(folder, name)
            if os.path.isfile(full):
                count += 1
                if count > MOST:
                    raise UsageError(f"{source.path}: more than {MOST:,} files")
                yield os.path.relpath(full, source.full), full
