"""The SQLite store: one row an attempt, there before the command starts.

Write-ahead logging lets several runs write at once, and a `kill -9` at any moment leaves
whole rows only: an attempt without an outcome is one whose recorder died, or still runs.
"""

from __future__ import annotations

import _sqlite3 as sqlite3  # without the adapters for dates, which take twice as long to load
import json
import os
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


class Store:
    """Reads and writes attempts."""

    def __init__(self, folder: str, *, create: bool = True) -> None:
        self.folder = folder
        path = os.path.join(folder, "store.db")
        if not create and not os.path.exists(path):
            raise StoreError(
                "nothing has been recorded here yet", hint="record one: zeroin run -- COMMAND"
            )
        try:
            place.prepare(folder)
            self._db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
            os.chmod(path, 0o600)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._bring_up_to_date()
        except (sqlite3.Error, OSError) as error:
            raise _unusable(folder, error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _bring_up_to_date(self) -> None:
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        if version == VERSION:
            return
        if version > VERSION:
            raise StoreError(
                f"the record in {self.folder} was written by a newer zeroin (format {version}, "
                f"this one knows {VERSION})",
                hint="upgrade: uv tool upgrade zeroin (or pip install -U zeroin)",
            )
        self._db.execute("BEGIN IMMEDIATE")
        try:
            (version,) = self._db.execute("PRAGMA user_version").fetchone()
            if version == 0:  # another run may have made it meanwhile
                for statement in _SCHEMA.split(";\n"):
                    if statement.strip():
                        self._db.execute(statement)
                self._db.execute("INSERT INTO meta VALUES ('salt', ?)", (os.urandom(16).hex(),))
                self._db.execute(f"PRAGMA user_version={VERSION}")
        finally:
            self._db.execute("COMMIT")

    @property
    def salt(self) -> str:
        """What secrets are hashed with, so that "it changed" can be told without keeping it."""
        (salt,) = self._db.execute("SELECT value FROM meta WHERE name='salt'").fetchone()
        return str(salt)

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
        """Forget attempts, and the blobs only they used."""
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
            self._db.execute("ROLLBACK")
            raise

    def compact(self) -> None:
        """Give freed room back to the file system."""
        self._db.execute("VACUUM")
        self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _write(self, sql: str, values: Sequence[Any]) -> sqlite3.Cursor:
        try:
            return self._db.execute(sql, values)
        except sqlite3.Error as error:
            raise _unusable(self.folder, error) from error

    # --- reading ------------------------------------------------------------------------------

    def get(self, name: str | None) -> Any:
        """The value kept under that name."""
        row = self._db.execute("SELECT data FROM blobs WHERE name=?", (name,)).fetchone()
        return json.loads(zlib.decompress(row[0]).decode("utf-8", "surrogatepass")) if row else None

    def attempt(self, number: int) -> Attempt | None:
        """One attempt by its number."""
        return next(iter(self._select("WHERE id=?", (number,))), None)

    def resolve(self, name: str) -> Attempt:
        """The attempt a user means: a number, `last`, `last-failed`, `last-passed`."""
        where = {
            "last": "",
            "last-failed": "WHERE signature IS NOT NULL",
            "last-passed": "WHERE outcome='passed'",
        }.get(name)
        if where is not None:
            found = self._select(f"{where} ORDER BY id DESC LIMIT 1")
            if not found:
                raise StoreError(f"there is no {name} attempt yet", hint="see: zeroin log")
            return found[0]
        number = name.lstrip("#")
        if not number.isascii() or not number.isdigit() or len(number) > 15:
            raise UsageError(
                f"{name!r} names no attempt", hint="a number, last, last-failed or last-passed"
            )
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
        rows = self._db.execute(
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
        try:
            return [_attempt(row) for row in self._db.execute(sql, tuple(values))]
        except sqlite3.Error as error:
            raise _unusable(self.folder, error) from error
        except ValueError as error:
            raise _unusable(self.folder, ValueError(f"malformed row: {error}")) from error


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
    return Attempt(**fields)


def _unusable(folder: str, error: Exception) -> StoreError:
    text = str(error)
    if "full" in text or getattr(error, "errno", None) == 28:
        return StoreError(
            f"no room left for the record in {folder}", hint="make room: zeroin gc --to 100M"
        )
    if "malformed" in text or "not a database" in text:
        return StoreError(
            f"the record in {folder} is damaged: {text}",
            hint=f"set it aside and start anew: mv {folder} {folder}.damaged",
        )
    return StoreError(f"the record in {folder} can't be used: {text}")
