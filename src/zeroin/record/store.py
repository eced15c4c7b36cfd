"""The SQLite store: one row an attempt, there before the command starts.

Write-ahead logging lets several runs write at once, and a `kill -9` at any moment leaves
whole rows only: an attempt without an outcome is one whose recorder died, or still runs.
"""

from __future__ import annotations

import _sqlite3 as sqlite3  # without the adapters for dates, which take twice as long to load
import errno
import json
import os
import stat
import zlib

from zeroin.digest import digest
from zeroin.errors import StoreError, UsageError
from zeroin.named import NamedTuple
from zeroin.record import place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

VERSION = 1
BUSY_SECONDS = 10.0
CANT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES)
MOST_UNPACKED = 1 << 30  # bytes of one kept value
# Attempts that have names → which those are.
NAMED = {
    "last": "",
    "last-failed": "WHERE signature IS NOT NULL",
    "last-passed": "WHERE outcome='passed'",
}

_SCHEMA = """
CREATE TABLE attempts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    started REAL NOT NULL,
    command TEXT NOT NULL,
    program TEXT NOT NULL,
    cycle TEXT NOT NULL,
    cwd TEXT NOT NULL,
    root TEXT,
    settings TEXT NOT NULL,
    environment TEXT,
    driver TEXT NOT NULL,
    code TEXT,
    base_commit TEXT,
    facts TEXT,
    packages TEXT,
    outcome TEXT,
    exit_code INTEGER,
    loose TEXT,
    signature TEXT,
    strict TEXT,
    headline TEXT,
    seconds REAL,
    cpu_seconds REAL,
    peak_bytes INTEGER,
    evidence TEXT
);
CREATE INDEX attempts_by_signature ON attempts (signature) WHERE signature IS NOT NULL;
CREATE INDEX attempts_by_program ON attempts (program, id);
CREATE TABLE blobs (name TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""


class Attempt(NamedTuple):
    """One attempt. `facts` are known when it has ended: interpreter, modules, code left out.

    `environment`, `packages` and `evidence` are names of blobs: equal ones are kept once.
    """

    id: int
    started: float
    command: list[str]
    program: str
    cycle: str
    cwd: str
    root: str | None
    settings: dict[str, Any]
    environment: str | None
    driver: str
    code: str | None
    base_commit: str | None
    facts: dict[str, Any]
    packages: str | None
    outcome: str | None
    exit_code: int | None
    loose: str | None
    signature: str | None
    strict: str | None
    headline: str | None
    seconds: float | None
    cpu_seconds: float | None
    peak_bytes: int | None
    evidence: str | None


_FIELDS = Attempt._fields
# As JSON, also because a path may hold bytes that are no UTF-8, which SQLite's text can't.
_AS_JSON = ("command", "cwd", "root", "settings", "facts")


_TEXT, _MAYBE = (str,), (str, type(None))
_NUMBER = (int, float, type(None))
# SQLite keeps any value in any column: what a field must be for a row to be whole.
_KINDS: dict[str, tuple[type, ...]] = {
    "id": (int,),
    "started": (int, float),
    "command": (list,),
    "program": _TEXT,
    "cycle": _TEXT,
    "cwd": _TEXT,
    "root": _MAYBE,
    "settings": (dict,),
    "environment": _MAYBE,
    "driver": _TEXT,
    "code": _MAYBE,
    "base_commit": _MAYBE,
    "facts": (dict,),
    "packages": _MAYBE,
    "outcome": _MAYBE,
    "exit_code": (int, type(None)),
    "loose": _MAYBE,
    "signature": _MAYBE,
    "strict": _MAYBE,
    "headline": _MAYBE,
    "seconds": _NUMBER,
    "cpu_seconds": _NUMBER,
    "peak_bytes": (int, type(None)),
    "evidence": _MAYBE,
}


class Store:
    """Reads and writes attempts. `faults` are the damaged parts that were met and left out."""

    def __init__(self, folder: str, *, create: bool = True) -> None:
        self.folder = folder
        self.faults: list[str] = []
        self.is_read_only = False
        path = os.path.join(folder, place.STORE)
        if not create and not os.path.exists(path):
            raise StoreError(
                "nothing has been recorded here yet", hint="record one: zeroin run -- COMMAND"
            )
        try:
            _prepare_folder(folder, create=create)
            self._db = self._connect(path)
        except (sqlite3.Error, OSError) as error:
            reading = None if create else self._connect_to_read(path)
            if reading is None:
                raise _unusable(folder, error) from error
            self._db = reading

    def _connect(self, path: str) -> sqlite3.Connection:
        _make_private(path)
        opened = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            opened.execute("PRAGMA trusted_schema=OFF")
            opened.execute("PRAGMA journal_mode=WAL")
            opened.execute("PRAGMA synchronous=NORMAL")
            self._bring_up_to_date(opened)
        except BaseException:
            opened.close()
            raise
        return opened

    def _connect_to_read(self, path: str) -> sqlite3.Connection | None:
        """Where nothing can be written, not even what SQLite shares among readers; None if not.

        First alone, which keeps that in memory and sees all rows; then as a file that nobody
        changes, without what a killed run left in the write-ahead log.
        """
        if not stat.S_ISREG(os.lstat(path).st_mode):  # SQLite would follow a link
            return None
        name = _quote(os.path.abspath(path))
        for form, pragma in (
            ("mode=rw", "locking_mode=EXCLUSIVE"),
            ("immutable=1", "query_only=1"),
        ):
            opened = None
            try:
                opened = sqlite3.connect(
                    f"file:{name}?{form}", timeout=1.0, isolation_level=None, uri=True
                )
                opened.execute("PRAGMA trusted_schema=OFF")
                opened.execute(f"PRAGMA {pragma}")
                opened.execute("SELECT count(*) FROM attempts").fetchone()
            except sqlite3.Error:
                if opened is not None:
                    opened.close()
                continue
            self.is_read_only = form == "immutable=1"
            return opened
        return None

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _bring_up_to_date(self, opened: sqlite3.Connection) -> None:
        (version,) = opened.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version > VERSION:
            raise StoreError(
                f"the record in {self.folder} was written by a newer zeroin (format {version}, "
                f"this one knows {VERSION})",
                hint="upgrade: uv tool upgrade zeroin (or pip install -U zeroin)",
            )
        opened.execute("BEGIN IMMEDIATE")
        try:
            (version,) = opened.execute("PRAGMA user_version").fetchone()
            if version == 0:  # another run may have made it meanwhile
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        opened.execute(statement)
                opened.execute("INSERT INTO meta VALUES ('salt', ?)", (os.urandom(16).hex(),))
                opened.execute(f"PRAGMA user_version={VERSION}")
            opened.execute("COMMIT")
        except BaseException:
            if opened.in_transaction:
                opened.execute("ROLLBACK")
            raise

    @property
    def salt(self) -> str:
        """What secrets are hashed with, so that "it changed" can be told without keeping it.

        A record that has lost its salt gets a new one: secrets kept before can't be compared then.
        """
        found = self._read("SELECT value FROM meta WHERE name='salt'")
        if found and isinstance(found[0][0], str) and found[0][0]:
            return found[0][0]
        self.faults.append("its salt was lost: secrets of earlier attempts can't be compared")
        new = os.urandom(16).hex()
        if not self.is_read_only:
            self._write("INSERT OR REPLACE INTO meta VALUES ('salt', ?)", (new,))
        return new

    # --- writing ------------------------------------------------------------------------------

    def begin(self, **fields: Any) -> int:
        """Put the row there, before anything runs."""
        names = ", ".join(fields)
        marks = ", ".join("?" * len(fields))
        sql = f"INSERT INTO attempts ({names}) VALUES ({marks})"  # noqa: S608 - our own names
        cursor = self._write(sql, _values(fields))
        return int(cursor.lastrowid or 0)

    def update(self, attempt: int, **fields: Any) -> None:
        """Add what has become known. One statement: all of it or nothing."""
        names = ", ".join(f"{name}=?" for name in fields)
        sql = f"UPDATE attempts SET {names} WHERE id=?"  # noqa: S608 - our own names
        self._write(sql, [*_values(fields), attempt])

    def put(self, value: Any) -> str:
        """Keep any JSON value once; returns its name."""
        data = json.dumps(value, sort_keys=True, ensure_ascii=False).encode(
            "utf-8", "surrogatepass"
        )
        name = digest(data, 16)
        self._write("INSERT OR IGNORE INTO blobs VALUES (?, ?)", (name, zlib.compress(data, 3)))
        return name

    def delete(self, attempts: Sequence[int]) -> None:
        """Forget attempts, and the blobs only they used; also where there is no room left."""
        try:
            self._delete(attempts)
        except sqlite3.Error as error:
            if not _is_full(error) or not self._do_without_log():
                raise _unusable(self.folder, error) from error
            try:
                self._delete(attempts)
            except sqlite3.Error as second:
                raise _unusable(self.folder, second) from second

    def _delete(self, attempts: Sequence[int]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self._db.executemany("DELETE FROM attempts WHERE id=?", [(n,) for n in attempts])
            self._db.execute(
                "DELETE FROM blobs WHERE name NOT IN (SELECT environment FROM attempts WHERE "
                "environment IS NOT NULL UNION SELECT packages FROM attempts WHERE packages IS "
                "NOT NULL UNION SELECT evidence FROM attempts WHERE evidence IS NOT NULL)"
            )
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def _do_without_log(self) -> bool:
        """Keep what can be rolled back in memory, and change the file in place; False if not.

        The next one to open it goes back to the write-ahead log.
        """
        try:
            (mode,) = self._db.execute("PRAGMA journal_mode=MEMORY").fetchone()
            self._db.execute("PRAGMA temp_store=MEMORY")
        except sqlite3.Error:  # another run has it open
            return False
        return str(mode) == "memory"

    def compact(self) -> str:
        """Give freed room back to the file system; says why that could not be, if so."""
        for retry in (False, True):
            try:
                if retry and not self._do_without_log():
                    break
                self._db.execute("VACUUM")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                if not _is_full(error):
                    return f"its database stays as large as it was: {error}"
            else:
                return ""
        return "its database stays as large as it was: there is no room to write it anew"

    def _write(self, sql: str, values: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.Error as error:
            raise _unusable(self.folder, error) from error

    # --- reading ------------------------------------------------------------------------------

    def _read(self, sql: str, values: Iterable[Any] = ()) -> list[Sequence[Any]]:
        try:
            return self._db.execute(sql, tuple(values)).fetchall()
        except sqlite3.Error as error:
            raise _unusable(self.folder, error) from error

    def get(self, name: str | None) -> Any:
        """The table kept under that name; None, and a fault, if it is damaged."""
        rows = self._read("SELECT data FROM blobs WHERE name=?", (name,))
        if not rows:
            return None
        try:
            data = _unpack(rows[0][0], name)
            return json.loads(data.decode("utf-8", "surrogatepass"))
        except (ValueError, TypeError, RecursionError, zlib.error) as error:
            self.faults.append(f"a part of it is damaged and left out: {error}")
            return None

    def attempt(self, number: int) -> Attempt | None:
        """One attempt by its number."""
        return next(iter(self._select("WHERE id=?", (number,))), None)

    def resolve(self, name: str) -> Attempt:
        """The attempt a user means: a number, `last`, `last-failed`, `last-passed`."""
        where = NAMED.get(name)
        if where is not None:
            found = self._select(f"{where} ORDER BY id DESC LIMIT 1")
            if not found:
                raise StoreError(f"there is no {name} attempt yet", hint="see: zeroin log")
            return found[0]
        number = name.lstrip("#")
        if not number.isascii() or not number.isdigit() or len(number) > 15:
            from difflib import get_close_matches

            near = get_close_matches(name, NAMED, 1)
            hint = f"did you mean {near[0]}?" if near else f"a number, {', '.join(NAMED)}"
            raise UsageError(f"{name!r} names no attempt", hint=hint)
        attempt = self.attempt(int(number))
        if attempt is None:
            raise StoreError(f"there is no attempt {number}", hint="see: zeroin log")
        return attempt

    def attempts(
        self,
        *,
        signature: str = "",
        command: str = "",
        since: float = 0.0,
        limit: int = -1,
    ) -> list[Attempt]:
        """The newest first, filtered."""
        if not signature and not command:
            return self._select("WHERE started >= ? ORDER BY id DESC LIMIT ?", (since, limit))
        found = self._select("WHERE started >= ? ORDER BY id DESC", (since,))
        if signature:
            found = [a for a in found if signature.lower() in (a.signature or "").lower()]
        if command:
            found = [a for a in found if command.lower() in " ".join(a.command).lower()]
        return found[:limit] if limit >= 0 else found

    def same_failure(self, signature: str, before: int) -> list[int]:
        """Earlier attempts that failed the same way, the oldest first."""
        rows = self._read(
            "SELECT id FROM attempts WHERE signature=? AND id<? ORDER BY id", (signature, before)
        )
        return [row[0] for row in rows]

    def previous(self, attempt: Attempt) -> Attempt | None:
        """The attempt to compare with: the last one of the same program that ended."""
        found = self._select(
            "WHERE program=? AND id<? AND outcome IS NOT NULL AND outcome != 'unfinished' "
            "ORDER BY id DESC LIMIT 1",
            (attempt.program, attempt.id),
        )
        return found[0] if found else None

    def last_peak(self, cycle: str, program: str, *, passed: bool = True) -> int:
        """Memory of the last attempt (that passed): of this cycle, else of the same program."""
        only = "AND outcome='passed'" if passed else ""
        found = self._select(
            f"WHERE program=? AND peak_bytes > 0 {only} ORDER BY cycle=? DESC, id DESC LIMIT 1",
            (program, cycle),
        )
        return found[0].peak_bytes or 0 if found else 0

    def _select(self, rest: str, values: Iterable[Any] = ()) -> list[Attempt]:
        sql = f"SELECT {', '.join(_FIELDS)} FROM attempts {rest}"  # noqa: S608 - our own names
        found = []
        for row in self._read(sql, values):
            try:
                found.append(_attempt(row))
            except (ValueError, TypeError, RecursionError) as error:
                self.faults.append(f"attempt {row[0]} is damaged and left out: {error}")
        return found


def _prepare_folder(folder: str, *, create: bool) -> None:
    """As `place.prepare`; a record that is only read needs nothing written to its folder."""
    try:
        place.prepare(folder)
    except OSError as error:
        if create or error.errno not in CANT_WRITE:
            raise


def _make_private(path: str) -> None:
    """Make the file for us alone if it is not there; SQLite would follow a link in its place.

    One that is there is not opened: closing it would drop the locks of other connections of ours.
    """
    try:
        info = os.lstat(path)
    except FileNotFoundError:
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:  # another run was quicker
            return
        return
    if not stat.S_ISREG(info.st_mode):
        raise OSError(f"{path} is no file")
    if info.st_mode & 0o077:
        os.chmod(path, 0o600)


def _values(fields: dict[str, Any]) -> list[Any]:
    return [json.dumps(v) if name in _AS_JSON else _plain(v) for name, v in fields.items()]


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _attempt(row: Sequence[Any]) -> Attempt:
    fields = dict(zip(_FIELDS, row, strict=True))
    for name in _AS_JSON:
        fields[name] = json.loads(fields[name]) if fields[name] else {}
    fields["root"] = fields["root"] or None
    for name, kinds in _KINDS.items():
        if not isinstance(fields[name], kinds):
            raise TypeError(f"its {name} is a {type(fields[name]).__name__}")
    if not all(isinstance(word, str) for word in fields["command"]) or not fields["command"]:
        raise TypeError("its command is no list of words")
    return Attempt(**fields)


def _unpack(data: bytes, name: str | None) -> bytes:
    """What was compressed; ValueError if that is not what was kept under this name."""
    unpacking = zlib.decompressobj()
    unpacked = unpacking.decompress(data, MOST_UNPACKED)
    if not unpacking.eof:
        raise ValueError("cut short, or larger than anything that is kept")
    if digest(unpacked, 16) != name:
        raise ValueError("it is not what was kept")
    return unpacked


def _is_full(error: Exception) -> bool:
    """No room for a file that SQLite writes beside the record shows as an I/O error, too."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN)


def _quote(path: str) -> str:
    """A path as a URI has it: SQLite reads `%3f` there as `?`."""
    plain = b"/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-~"
    return "".join(
        chr(one) if one in plain else f"%{one:02x}" for one in path.encode(errors="surrogateescape")
    )


def _has_no_room(folder: str, error: Exception) -> bool:
    """Whether the file system is full, which SQLite calls an I/O error."""
    try:
        return _is_full(error) and os.statvfs(folder).f_bavail == 0
    except OSError:
        return False


def _unusable(folder: str, error: Exception) -> StoreError:
    text = str(error)
    if "full" in text or getattr(error, "errno", None) == 28 or _has_no_room(folder, error):
        return StoreError(
            f"no room left for the record in {folder}", hint="make room: zeroin gc --to 100M"
        )
    if "malformed" in text or "not a database" in text:
        return StoreError(
            f"the record in {folder} is damaged: {text}",
            hint=f"set it aside and start anew: mv {folder} {folder}.damaged",
        )
    return StoreError(f"the record in {folder} can't be used: {text}")
