"""The shadow: snapshots of the user's code that leave the user's repository alone.

The *shadow* is a git repository of ours, `<store>/code.git`, whose work tree is the user's
project. A *snapshot* is a tree in it: the project's files as they lie on disk, byte for byte,
untracked ones included, ignored ones not. Contents that the user's own repository has already
are *borrowed*: read from there, never written, and so lost if that repository prunes them.
What no snapshot can hold (too large, unreadable, a repository of its own) is *left out*, and
every snapshot says so.

Git does the work, Python decides what goes in. Each snapshot works on a private copy of our
index and renames it into place, so two at once, or one killed half-way, harm nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import subprocess
import time
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Never code, unless the project's own rules say `!name`.
_NEVER_CODE = """\
.git
.zeroin
__pycache__
*.py[cod]
.venv
venv
node_modules
.tox
.nox
.eggs
*.egg-info
.mypy_cache
.ruff_cache
.pytest_cache
.hypothesis
.ipynb_checkpoints
.DS_Store
"""

# Bytes go in and come out as they are: no line endings, no LFS, no keywords, no encodings.
_RAW = "* -text -filter -ident -working-tree-encoding\n"

_SETTINGS = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.quotePath=false",
    "core.protectNTFS=false",  # names that Windows couldn't have are names here
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.looseCompression=1",
    "gc.auto=0",
    "gc.packRefs=false",  # so that `forget` is an unlink
)
_ENVIRONMENT = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_STORE_FAILS = "No space left|quota|permission for adding|Read-only file system"
_GONE = "bad object|unable to read|[Nn]ot a valid|missing|could not get|bad file"
_NOTHING = "1" * 40  # the id of no object: an entry that has it is one git must read again
_CHUNK = 2_000  # paths per `update-index`: those done before a time-out stay done
_GRACE = 7_200.0  # seconds: younger objects may belong to a snapshot under way
_STALE = 3_600.0  # seconds after which a private index has no owner any more


class CodeError(Exception):
    """The code could not be recorded or read; the message says why in one sentence."""


class GitMissingError(CodeError):
    """There is no git to record the code with."""


class TookTooLongError(CodeError):
    """Git was ended at the time-out."""


class Snapshot(NamedTuple):
    """A tree of the shadow, and what is not in it: `data/big.bin (210 MB: over 5 MB)`."""

    tree: str
    left_out: list[str]


class Change(NamedTuple):
    """One file that differs between two trees; line counts are None for binary files.

    `kind` is A (added), M (modified, also in mode or type), D (deleted), R (renamed from `was`).
    Bytes of a name that aren't UTF-8 are surrogates, as everywhere in `os`.
    """

    path: str
    added: int | None
    removed: int | None
    kind: str
    was: str | None = None


class Shadow:
    """The snapshots of one project, kept in `<folder>/code.git`; `include` re-admits ignored files.

    `max_file` and `max_total` are bytes, `max_files` bounds the files the user's git doesn't track.
    """

    def __init__(
        self,
        folder: str,
        root: str,
        *,
        max_file: int = 5_000_000,
        max_total: int = 200_000_000,
        max_files: int = 20_000,
        include: Sequence[str] = (),
    ) -> None:
        self.folder = os.path.join(os.path.realpath(folder), "code.git")
        self.root = os.path.realpath(root)
        self.max_file = max_file
        self.max_total = max_total
        self.max_files = max_files
        self.include = tuple(include)

    def snapshot(self, paths: Sequence[str] | None = None, timeout: float = 5.0) -> Snapshot:
        """Record the project's files, or only `paths` below the root, within `timeout` seconds."""
        self._create()
        with _Taking(self, time.monotonic() + timeout) as taking:
            return taking.everything() if paths is None else taking.only(paths)

    def keep(self, name: str, tree: str) -> None:
        """Protect a snapshot from `gc` under this name, until the name is forgotten."""
        _write(self.folder, self._ref(name), tree + "\n")

    def forget(self, names: Iterable[str]) -> None:
        """Let `gc` have what these names protect."""
        for name in names:
            _unlink(os.path.join(self.folder, self._ref(name)))

    def gc(self, timeout: float = 600.0) -> None:
        """Pack what is kept and give back the space of the rest, but for the last two hours.

        Not `git gc`: that fails for good once a borrowed object is gone. The indexes go first,
        since they may name what goes next; the snapshot that makes one anew also looks again at
        what can still be borrowed.
        """
        if not os.path.isdir(self.folder):
            return
        for name in os.listdir(self.folder):
            if name.startswith("index."):
                _unlink(os.path.join(self.folder, name))
        _drop_stale(self.folder)
        deadline = time.monotonic() + timeout
        # Nothing is borrowed here, so what is marked as missing is what isn't ours.
        args = ("rev-list", "--objects", "--all", "--missing=print")
        listed = _git(self.folder, *args, deadline=deadline).split(b"\n")
        ours = b"\n".join(line for line in listed if not line.startswith(b"?"))
        packs = os.path.join(self.folder, "objects/pack/pack")
        args = ("pack-objects", "--quiet", "--non-empty", packs)
        pack = _git(self.folder, *args, stdin=ours, deadline=deadline).decode().strip()
        _sweep(os.path.join(self.folder, "objects"), f"pack-{pack}.")

    def changes(self, old: str, new: str) -> list[Change]:
        """Say which files differ between two trees, in the order of their names."""
        args = ("-r", "-z", "-M", "--raw", "--numstat", old, new)
        return _parse_changes(self._read("diff-tree", *args))

    def patch(self, old: str, new: str, *, binary: bool = False, paths: Sequence[str] = ()) -> str:
        """Give the difference as `git apply` takes it; what isn't UTF-8 becomes surrogates."""
        how = ("--binary", "--full-index") if binary else ()
        literal = [f":(literal){path}" for path in paths]
        return os.fsdecode(
            self._read("diff-tree", "-r", "-p", "-M", *how, old, new, "--", *literal)
        )

    def read(self, tree: str, path: str) -> bytes:
        """Give one file's content; of a symbolic link, where it points."""
        return self._read("cat-file", "blob", f"{tree}:{path}")

    def files(self, tree: str) -> list[str]:
        """List the paths of a snapshot."""
        return _names(self._read("ls-tree", "-r", "-z", "--name-only", "--full-tree", tree))

    def checkout(self, tree: str, folder: str) -> None:
        """Export a snapshot into a new or empty folder, with modes and symbolic links."""
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder):
            raise CodeError(f"{folder} is not empty: give a new folder for the checkout")
        with _Taking(self, 0.0) as taking:
            self._read("read-tree", tree, index=taking.index)
            self._read("checkout-index", "--all", index=taking.index, work_tree=folder)

    def ignored(self, timeout: float = 5.0) -> list[str]:
        """List the topmost ignored files and folders (`data/`) of the project."""
        self._create()
        with _Taking(self, time.monotonic() + timeout) as taking:
            return taking.ignored()

    def base_commit(self) -> str | None:
        """Name the commit the user's work is based on; None without git or before the first."""
        git = _find(self.root).git
        if not git:
            return None
        try:
            return _git(git, "rev-parse", "--verify", "HEAD^{commit}").decode().strip()
        except CodeError:
            return None

    def _create(self) -> None:
        """Make the repository by hand: `git init` would take longer than the snapshot."""
        if _length(os.path.join(self.folder, "HEAD")) > 0:
            return
        for name in ("", "objects/info", "objects/pack", "refs/attempts", "info"):
            os.makedirs(os.path.join(self.folder, name), mode=0o700, exist_ok=True)
        _write(self.folder, "config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n")
        _write(self.folder, "info/attributes", _RAW)
        _write(self.folder, "HEAD", "ref: refs/heads/none\n")

    def _ref(self, name: str) -> str:
        if not re.fullmatch(r"\w+([.-]\w+)*", name, re.ASCII) or name.endswith(".lock"):
            raise CodeError(f"{name!r} can't name a snapshot: use letters, digits, - and _")
        return os.path.join("refs/attempts", name)

    def _read(self, *args: str, **options: Any) -> bytes:
        """Run git on what is recorded: needs no project, hears no `.gitattributes`."""
        try:
            return _git(self.folder, *args, borrow=_find(self.root).objects, **options)
        except CodeError as error:
            if not re.search(_GONE, str(error)):
                raise
            raise CodeError(
                "part of that code is gone: it was borrowed from the project's own git repository,"
                f" which has moved or dropped it ({error})"
            ) from None


class _Place(NamedTuple):
    """Where the code lies: git's work tree, the root inside it ("" or "sub/"), the user's git.

    `git` has the user's index, `common` the rest (they differ in a linked worktree); `objects` is
    what we can borrow from.
    """

    top: str
    prefix: str = ""
    git: str = ""
    common: str = ""
    objects: str = ""


class _Taking:
    """One snapshot under way: its private index, its deadline, what it had to leave out."""

    def __init__(self, shadow: Shadow, deadline: float) -> None:
        self.shadow = shadow
        self.deadline = deadline
        self.place = _Place(shadow.root)
        self.index = os.path.join(shadow.folder, f"work.{os.getpid()}.{os.urandom(4).hex()}")
        self.left_out: list[str] = []
        self.tree = ""  # of the index we start from; "" if that is new or was cut short
        self.borrowed = 0  # entries of it that came from the user's index
        self.bytes = 0  # read from files the user's git doesn't track

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _unlink(self.index)
        _unlink(self.index + ".lock")

    def only(self, paths: Sequence[str]) -> Snapshot:
        """Record these files alone; the project's index and ignore rules play no part."""
        inside = []
        for path in paths:
            folder, name = os.path.split(os.path.join(self.shadow.root, path))
            seen = os.path.relpath(os.path.join(os.path.realpath(folder), name), self.shadow.root)
            if seen.startswith("../"):
                self._leave_out(path, f"not below {self.shadow.root}")
            else:
                inside.append(seen)
        self._add(self._admit(inside))
        return Snapshot(self._git("write-tree").decode().strip(), self.left_out)

    def everything(self) -> Snapshot:
        """Record the project: what changed since the last snapshot goes in, the rest is there."""
        shared = self._begin()
        changed, new = self._list_anew()
        drop = [path for path in changed if self._weigh(path) is None]
        add = sorted(set(changed) - set(drop)) + self._admit(new)
        if self.tree and not add and not drop:
            return Snapshot(self.tree, self.left_out)
        self.tree = ""
        try:
            self._remove(drop)
            for start in range(0, len(add), _CHUNK):
                self._add(add[start : start + _CHUNK])
            self.tree = self._write_tree()
        finally:  # also when time is up: the next snapshot goes on from here
            self._publish(shared)
        return Snapshot(self.tree, self.left_out)

    def ignored(self) -> list[str]:
        """List what the rules keep out, folders as a whole."""
        self._begin()
        return _names(self._git("ls-files", "-z", "-o", "-i", "--directory", "--exclude-standard"))

    def _begin(self) -> str:
        """Start from the index of the last snapshot, or seed one; give the path it is shared at."""
        self.place = self._find_place()
        rules = self._write_rules()
        facts = repr((self.place, _made(self.place), self.shadow.include, rules))
        # The name says under which facts an index was made, so none is taken for another.
        shared = os.path.join(self.shadow.folder, f"index.{zlib.crc32(facts.encode()):08x}")
        try:
            found = _copy(shared, self.index)
            self.tree, of_index, borrowed, size = _text(shared + ".tree").split(" ")
            self.borrowed, self.bytes = int(borrowed), int(size)
        except (OSError, ValueError):
            found, of_index = "", "none"
        if found != of_index:  # two at once: what is said is of the other's index
            self._seed()
        return shared

    def _find_place(self) -> _Place:
        """Find the user's repository; one that ignores our root as a whole is none of ours."""
        found = _find(self.shadow.root)
        if found.prefix:
            self.place = found
            with contextlib.suppress(CodeError):  # it is not ignored
                self._git("check-ignore", "-q", ".")
                return _Place(self.shadow.root)
        return found

    def _write_rules(self) -> str:
        """Put the ignore rules where git looks for them: ours, and the user's private ones."""
        rules = [_NEVER_CODE]
        with os.scandir(self.shadow.root) as entries:
            environments = sorted(entry.name for entry in entries if _is_environment(entry))
        rules += [f"/{self.place.prefix}{_escaped(name)}/\n" for name in environments]
        store = os.path.relpath(os.path.dirname(self.shadow.folder), self.place.top)
        if not store.startswith(".."):
            rules.append(f"/{_escaped(store)}/\n")
        with contextlib.suppress(OSError):
            if self.place.git:
                rules.append(_text(os.path.join(self.place.common, "info/exclude")) + "\n")
        text = "".join(rules)
        with contextlib.suppress(OSError):
            if _text(os.path.join(self.shadow.folder, "info/exclude")) == text:
                return text
        _write(self.shadow.folder, "info/exclude", text)
        return text

    def _seed(self) -> None:
        """Start from the user's index, whose stat cache says which files need not be read."""
        self.tree, self.borrowed, self.bytes = "", 0, 0
        _unlink(self.index)
        _drop_stale(self.shadow.folder)
        if not self.place.objects:
            return
        try:
            _copy(os.path.join(self.place.git, "index"), self.index)
            for name in os.listdir(self.place.git):
                if name.startswith("sharedindex."):  # the other half of a split index
                    half = os.path.join(self.place.git, name)
                    _copy(half, os.path.join(self.shadow.folder, name))
            listed = self._git("ls-files", "-v", "-s", "-z", cwd=self.place.top)
        except TookTooLongError:
            raise
        except (OSError, CodeError):  # there is none yet, or it is not for us (or SHA-256) to read
            _unlink(self.index)
            return
        doubts = self._doubts([line for line in listed.split(b"\0") if line])
        self._git("update-index", "-z", "--index-info", stdin=doubts)
        self.borrowed = _count(self.index)

    def _doubts(self, lines: list[bytes]) -> bytes:
        """Pick the entries of the user's index we can't believe, as `--index-info` reads them.

        An entry is sound if its blob is there and as long as the file is: LFS, CRLF and encryption
        filters make them differ, a prune or a partial clone makes the blob vanish. Entries marked
        assume-unchanged or skip-worktree, or in conflict, say nothing about the file. What lies
        outside the root goes.
        """
        doubts = []
        blobs = b"\n".join(line.split(b" ", 3)[2] for line in lines)
        args = ("cat-file", "--batch-check=%(objectsize)")
        sizes = self._git(*args, stdin=blobs, borrow=self.place.objects).splitlines()
        for line, size in zip(lines, sizes, strict=True):
            about, path = line.split(b"\t", 1)
            tag, mode, _ = about.split(b" ", 2)
            inside = path.startswith(os.fsencode(self.place.prefix))
            if inside and tag == b"H":
                full = os.path.join(self.place.top, os.fsdecode(path))
                if mode == b"160000" or size == b"%d" % _length(full):
                    continue
            doubts += [b"0 %s\t%s\0" % (_NOTHING.encode(), path)]
            doubts += [b"%s %s\t%s\0" % (mode, _NOTHING.encode(), path)] if inside else []
        return b"".join(doubts)

    def _list_anew(self) -> tuple[list[str], list[str]]:
        """List after a new start, if our index is broken or holds what may be ignored by now."""
        try:
            changed, new = self._list()
            if not (self.tree and any(path.endswith(".gitignore") for path in changed + new)):
                return changed, new
        except TookTooLongError:
            raise
        except CodeError:
            pass
        self._seed()
        return self._list()

    def _list(self) -> tuple[list[str], list[str]]:
        """List the files of our index that changed or are gone, and the files it doesn't know."""
        args = ("ls-files", "-t", "-z", "-m", "-d", "-o", "--exclude-standard")
        lines = _names(self._git(*args))
        changed = dict.fromkeys(line[2:] for line in lines if line[0] != "?")
        new = dict.fromkeys(line[2:] for line in lines if line[0] == "?")
        if self.shadow.include:
            wanted = [f":(glob){pattern}" for pattern in self.shadow.include]
            new |= dict.fromkeys(_names(self._git("ls-files", "-z", "-o", "--", *wanted)))
        return list(changed), list(new)

    def _admit(self, new: list[str]) -> list[str]:
        """Choose among files the user's git doesn't track: within bounds, code before data.

        Too many files of one kind in one folder go first, together, then the largest files: so the
        choice stays the same from one snapshot to the next, and a new script finds room.
        """
        kinds: dict[str, list[str]] = {}
        for path in new:
            kind = os.path.join(os.path.dirname(path), "*" + os.path.splitext(path)[1])
            kinds.setdefault(kind, []).append(path)
        room = self.shadow.max_files - (_count(self.index) - self.borrowed)
        chosen: dict[str, int] = {}
        for kind, paths in sorted(kinds.items(), key=lambda item: len(item[1])):
            if len(paths) > room:
                bound = f"over {self.shadow.max_files:,} in all"
                self._leave_out(kind, f"{len(paths):,} files: {bound}")
                continue
            room -= len(paths)
            weights = ((path, self._weigh(path)) for path in paths)
            chosen |= {path: weight for path, weight in weights if weight is not None}
        return self._fit(chosen)

    def _fit(self, weights: dict[str, int]) -> list[str]:
        """Leave the largest files out until the rest fits into `max_total`."""
        room = self.shadow.max_total - self.bytes
        chosen = []
        for path, weight in sorted(weights.items(), key=lambda item: item[1]):
            if weight > room:
                self._leave_out(
                    path, f"{_size(weight)}: over {_size(self.shadow.max_total)} in all"
                )
                continue
            room -= weight
            chosen.append(path)
        self.bytes = self.shadow.max_total - room
        return chosen

    def _weigh(self, path: str) -> int | None:
        """Give a file's size, or None, and say why, if it has to be left out.

        What is gone weighs nothing: git takes it out of the index by itself.
        """
        full = os.path.join(self.shadow.root, path)
        try:
            info = os.lstat(full)
            reason = self._refusal(path, info)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            reason = str(error.strerror)
        if not reason:
            return info.st_size
        self._leave_out(path, reason)
        return None

    def _refusal(self, path: str, info: os.stat_result) -> str:
        """Say why a snapshot can't hold this, "" if it can."""
        if path.endswith("/"):
            return "a repository of its own"
        if stat.S_ISLNK(info.st_mode) or stat.S_ISDIR(info.st_mode):
            return ""
        if not stat.S_ISREG(info.st_mode):
            return "not a file"
        if info.st_size > self.shadow.max_file:
            return f"{_size(info.st_size)}: over {_size(self.shadow.max_file)}"
        return "" if os.access(os.path.join(self.shadow.root, path), os.R_OK) else "not readable"

    def _leave_out(self, path: str, reason: str) -> None:
        shown = path.encode("utf-8", "backslashreplace").decode()
        self.left_out.append(f"{shown} ({reason})")

    def _add(self, paths: list[str]) -> None:
        """Bring the index up to date with these files; the ones git can't take are left out."""
        if not paths:
            return
        try:
            args = ("update-index", "-z", "--add", "--remove", "--replace", "--stdin")
            self._git(*args, stdin=_lines(paths))
        except TookTooLongError:
            raise
        except CodeError as error:
            if re.search(_STORE_FAILS, str(error)):
                raise
            if len(paths) == 1:
                self._remove(paths)
                self._leave_out(paths[0], str(error))
                return
            # One bad path fails the call as a whole and leaves the index as it was: halve.
            self._add(paths[: len(paths) // 2])
            self._add(paths[len(paths) // 2 :])

    def _remove(self, paths: list[str]) -> None:
        if paths:
            self._git("update-index", "-z", "--force-remove", "--stdin", stdin=_lines(paths))

    def _write_tree(self) -> str:
        """Write the trees. Blobs are not looked for: the borrowed ones are elsewhere."""
        # Git can't give the tree of a prefix without files; all there is then is the empty tree.
        prefix = self.place.prefix if _count(self.index) else ""
        where = [f"--prefix={prefix}"] if prefix else []
        return self._git("write-tree", "--missing-ok", *where).decode().strip()

    def _publish(self, shared: str) -> None:
        with contextlib.suppress(OSError):  # an index lost costs time, nothing else
            identity = _identity(os.stat(self.index))
            os.replace(self.index, shared)
            about = f"{self.tree} {identity} {self.borrowed} {self.bytes}"
            _write(self.shadow.folder, os.path.basename(shared) + ".tree", about)

    def _git(self, *args: str, cwd: str = "", borrow: str = "", stdin: bytes = b"") -> bytes:
        """Run git on the project. Without `borrow`, or it would touch the user's objects' times."""
        return _git(
            self.shadow.folder,
            *args,
            index=self.index,
            work_tree=self.place.top,
            cwd=cwd or self.shadow.root,
            borrow=borrow,
            stdin=stdin,
            deadline=self.deadline,
        )


def _git(
    folder: str,
    *args: str,
    index: str = "",
    work_tree: str = "",
    cwd: str = "",
    borrow: str = "",
    stdin: bytes = b"",
    deadline: float | None = None,
) -> bytes:
    """Run git in a repository, deaf to the variables of the user's shell and to most settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= _ENVIRONMENT | {"GIT_DIR": folder}
    env |= {"GIT_INDEX_FILE": index} if index else {}
    env |= {"GIT_WORK_TREE": work_tree} if work_tree else {}
    if borrow:  # quoted, or a colon would split it
        quoted = borrow.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = f'"{quoted}"'
    settings = [part for setting in _SETTINGS for part in ("-c", setting)]
    where = cwd or work_tree or folder
    try:
        done = subprocess.run(
            ["git", *settings, *args],
            env=env,
            cwd=where,
            input=stdin,
            capture_output=True,
            timeout=None if deadline is None else max(0.0, deadline - time.monotonic()),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TookTooLongError(
            f"git {args[0]} did not finish in time: ignore large folders in .gitignore"
        ) from None
    except FileNotFoundError:
        if os.path.isdir(where):
            raise GitMissingError("git is not installed, so the code can't be recorded") from None
        raise CodeError(f"the folder {where} is gone") from None
    if done.returncode:
        said = "; ".join(done.stderr.decode("utf-8", "replace").split("\n")).strip("; ")
        raise CodeError(f"git {args[0]} failed: {said or done.returncode}")
    return done.stdout


def _find(root: str) -> _Place:
    """Walk up to the user's repository, as git does."""
    top = root
    while True:
        git = _git_folder(os.path.join(top, ".git"))
        if git:
            break
        if top == os.path.dirname(top):
            return _Place(root)
        top = os.path.dirname(top)
    common = git
    with contextlib.suppress(OSError):  # a linked worktree
        common = os.path.normpath(os.path.join(git, _text(os.path.join(git, "commondir")).strip()))
    prefix = "" if top == root else os.path.relpath(root, top) + "/"
    objects = os.path.join(common, "objects")
    return _Place(top, prefix, git, common, objects if os.path.isdir(objects) else "")


def _made(place: _Place) -> str:
    """Tell a repository from another made at the same path later (its inodes may be the same)."""
    with contextlib.suppress(OSError):
        return _identity(os.stat(os.path.join(place.common, "config"))) if place.common else ""
    return ""


def _git_folder(path: str) -> str:
    """Give the folder behind a `.git`, which may be a file that names it; "" if it is none."""
    with contextlib.suppress(OSError):
        line = _text(path)
        path = os.path.join(os.path.dirname(path), line.removeprefix("gitdir: ").strip())
    path = os.path.normpath(path)
    return path if os.path.exists(os.path.join(path, "HEAD")) else ""


def _parse_changes(output: bytes) -> list[Change]:
    """Read `--raw --numstat -z`: first what happened to each path, then the lines it took."""
    fields = iter(_names(output))
    kinds: dict[str, tuple[str, str | None]] = {}
    changes = []
    for field in fields:
        if field.startswith(":"):
            kind, path = field.rsplit(" ", 1)[1][0], next(fields)
            was = path if kind == "R" else None
            kinds[next(fields) if was else path] = ("M" if kind == "T" else kind, was)
            continue
        added, removed, path = field.split("\t", 2)
        if not path:  # a rename: the old name, then the new one
            path = (next(fields), next(fields))[1]
        kind, was = kinds[path]
        binary = added == "-"
        plus, minus = (None, None) if binary else (int(added), int(removed))
        changes.append(Change(path, plus, minus, kind, was))
    return sorted(changes)


def _names(output: bytes) -> list[str]:
    return [os.fsdecode(name) for name in output.split(b"\0")[:-1]]


def _lines(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


def _count(index: str) -> int:
    """Read the number of entries off an index's head."""
    try:
        with open(index, "rb") as file:
            return int.from_bytes(file.read(12)[8:], "big")
    except FileNotFoundError:
        return 0


def _length(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return -1


def _is_environment(entry: os.DirEntry[str]) -> bool:
    """Ask whether a folder is a Python environment, whatever its name."""
    return entry.is_dir(follow_symlinks=False) and (
        os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))
        or os.path.exists(os.path.join(entry.path, "conda-meta"))
    )


def _escaped(name: str) -> str:
    return re.sub(r"([\\*?\[\] ])", r"\\\1", name).replace("\n", "?")


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"


def _identity(info: os.stat_result) -> str:
    return f"{info.st_ino}:{info.st_mtime_ns}"


def _copy(source: str, target: str) -> str:
    """Copy an index with its time, by which git knows the files too young to trust."""
    with open(source, "rb") as reader, open(target, "wb") as writer:
        info = os.fstat(reader.fileno())
        writer.write(reader.read())
    os.utime(target, ns=(info.st_atime_ns, info.st_mtime_ns))
    return _identity(info)


def _text(path: str) -> str:
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def _write(folder: str, name: str, text: str) -> None:
    """Write a file at once: whoever looks sees the old one or the new one."""
    passing = os.path.join(folder, f"work.{os.getpid()}.{os.urandom(4).hex()}")
    with open(passing, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.replace(passing, os.path.join(folder, name))


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _drop_stale(folder: str) -> None:
    """Clear away what snapshots that were killed have left."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if name.startswith(("work.", "sharedindex.")):
            with contextlib.suppress(OSError):
                if os.lstat(path).st_ctime < time.time() - _STALE:
                    os.unlink(path)


def _sweep(objects: str, kept: str) -> None:
    """Delete objects and packs older than the grace period, but for the pack that was just made.

    Git makes an object or pack young again when it meets it on writing the same content.
    """
    oldest = time.time() - _GRACE
    for base, _, names in os.walk(objects):
        for name in sorted(names):
            path = os.path.join(base, name)
            stem, dot, _ = path.rpartition(".")
            with contextlib.suppress(FileNotFoundError):
                if name.startswith(kept) or os.lstat(path).st_mtime > oldest:
                    continue
                if dot and os.lstat(stem + ".pack").st_mtime > oldest:
                    continue
            _unlink(path)
