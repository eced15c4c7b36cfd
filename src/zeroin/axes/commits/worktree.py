"""A folder that can be at any commit, without a trace in the user's repository."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil

from zeroin.axes.commits.git import Git
from zeroin.axes.commits.stamps import LONG_AGO, stamp
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

SMALL = 1 << 20  # bytes of a file that is copied; a larger one is shown where it is
# A file's times are ours to set (`stamps`), and the index is as simple as it can be.
OWN_SETTINGS = """\
[core]
	bare = true
	trustctime = false
	splitIndex = false
	untrackedCache = false
[feature]
	manyFiles = false
[index]
	version = 2
	skipHash = false
	sparse = false
"""
_NEVER = frozenset((".git", ".zeroin", "__pycache__"))
_BUILT = re.compile(r".*\.(so|pyd|dylib|o|a)|(.*/)?build")


class Mine(NamedTuple):
    """Something of the user's checkout that is no part of a commit, and should be there in all."""

    path: str  # below the top
    wins: bool = False  # also over what the commit has there


def borrow(git: Git, folder: str) -> Git:
    """A repository of our own with all that the user's has, which costs nothing."""
    git("init", "--quiet", "--bare", folder)
    theirs = _common_folder(git)
    with open(os.path.join(folder, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
        file.write(os.path.join(theirs, "objects") + "\n")
    if os.path.exists(os.path.join(theirs, "shallow")):
        shutil.copy(os.path.join(theirs, "shallow"), folder)
    refs = git("for-each-ref", "--format=%(objectname) %(refname)", "refs/tags", "refs/remotes")
    with open(os.path.join(folder, "packed-refs"), "w", encoding="utf-8") as file:
        file.write(refs)
    settings, added = os.path.join(theirs, "config"), OWN_SETTINGS
    if not git.tells("config", "--file", settings, "core.worktree"):
        # Filters, line ends, attributes: files come out as they do for the user.
        quoted = settings.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        added = f'[include]\n\tpath = "{quoted}"\n{added}'
    own = os.path.join(folder, "config")
    with open(own, "a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(added)
    return Git(folder)


def _common_folder(git: Git) -> str:
    usual = os.path.join(git.folder, ".git")
    if os.path.isdir(usual) and not os.path.exists(os.path.join(usual, "commondir")):
        return usual
    return os.path.join(git.folder, git("rev-parse", "--git-common-dir").strip())


def belongings(
    git: Git, named: Sequence[str], changed: Sequence[str], *, builds: bool
) -> list[Mine]:
    """What is in the checkout and in no commit: scripts, data, environments.

    `named` are paths of files that the command names: as they are now, whatever the commit has, if
    they are `changed` since. What has been compiled goes if it `builds` its own.
    """
    found = []
    for path in git("ls-files", "--others", "--directory", "-z").split("\0"):
        path = path.rstrip("/")  # noqa: PLW2901 - how git marks a folder
        if not path or _NEVER & set(path.split("/")) or path.endswith((".pyc", ".pyo")):
            continue
        if not (builds and _BUILT.fullmatch(path)):
            found.append(Mine(path, path in named))
    found += [Mine(path, wins=True) for path in changed if path in named]
    known = {one.path for one in found}
    return [*found, *(Mine(path) for path in named if path not in known)]


def _admin(folder: str) -> str:
    """Where git keeps what it knows of a worktree; "" if it is none, or was never finished."""
    try:
        with open(os.path.join(folder, ".git"), encoding="utf-8", errors="surrogateescape") as file:
            found = file.read().removeprefix("gitdir:").strip()
    except OSError:
        return ""
    found = os.path.join(folder, found)
    return found if os.path.exists(os.path.join(found, "HEAD")) else ""


class Worktree:
    """One folder, at one commit after the other."""

    def __init__(
        self, borrowed: Git, folder: str, original: Git, mine: Sequence[Mine], commit: str
    ) -> None:
        self.folder = folder
        self.at = "unknown" if _admin(folder) else ""
        self.shown: tuple[str, ...] = ()  # of what is the user's, what is too large to be copied
        self._git = Git(folder)
        self._borrowed = borrowed
        self._original = original
        self._mine = mine
        self._known = _admin(folder) or self._make(commit)

    def _make(self, commit: str) -> str:
        """Whoever had it before may have been killed while it was at work here, or made it."""
        shutil.rmtree(self.folder, ignore_errors=True)
        words = ("--quiet", "--force", "--force", "--detach", "--no-checkout", self.folder, commit)
        with _alone(self._borrowed.folder):
            self._borrowed("worktree", "add", *words)
        self.at = ""
        return _admin(self.folder)

    def files(self) -> dict[str, str]:
        """The commit's files, and the names of their contents."""
        listed = self._git("ls-files", "--stage", "-z").split("\0")[:-1]
        told = (entry.partition("\t") for entry in listed)
        return {path: about.split()[1] for about, _, path in told}

    def others(self) -> set[str]:
        """What is there beside the commit's files."""
        return set(self._git("ls-files", "--others", "-z").split("\0")[:-1])

    def switch(self, commit: str, *, keep_bytecode: bool = True, stamped: str = ".py") -> None:
        """Be as that commit is; nothing is left of what was run before.

        Files whose names end so get times that go by what is in them.
        """
        if not _admin(self.folder):  # a git that was killed has tidied up behind itself, late
            self._known = self._make(commit)
        for name in os.listdir(self._known):  # of its index, its HEAD: git was killed here
            if name.endswith(".lock"):
                os.unlink(os.path.join(self._known, name))
        keep = [f"--exclude={_literal(path)}" for path in self.shown]
        if keep_bytecode:
            keep.append("--exclude=__pycache__")
        if self.at:
            self._git("clean", "-ffdxq", *keep)
        self._git("checkout", "--quiet", "--force", "--detach", commit)
        self._submodules()
        if keep_bytecode:
            self._stamp(stamped)
        self.at = commit
        root = self._original.folder
        self.shown = tuple(
            one.path for one in self._mine if bring(one, root, self.folder, self.shown)
        )

    def _stamp(self, ending: str) -> None:
        """Bytecode goes by a file's time, in seconds: the same text gets the same one, always."""
        if stamp(self.folder, os.path.join(self._known, "index"), ending):
            return
        for entry in self._git("ls-files", "--stage", "-z", "--", f"*{ending}").split("\0"):
            about, _, path = entry.partition("\t")
            seconds = LONG_AGO + int(about.split()[1][:7], 16) if path else 0
            with contextlib.suppress(OSError):  # left out of the checkout
                if path and int(os.lstat(os.path.join(self.folder, path)).st_mtime) != seconds:
                    when = (seconds, seconds)
                    os.utime(os.path.join(self.folder, path), when, follow_symlinks=False)
        self._git.has("update-index", "-q", "--refresh")

    def _submodules(self) -> None:
        modules = os.path.join(_common_folder(self._original), "modules")
        _update_submodules(self.folder, modules)


def _update_submodules(folder: str, modules: str) -> None:
    """Fill submodules from the user's own copies of them, so that no network is needed.

    Only those: what a commit's `.gitmodules` says of others may be any folder of this machine.
    """
    listed = os.path.join(folder, ".gitmodules")
    if not os.path.isfile(listed) or os.path.islink(listed):
        return
    git = Git(folder)
    told = git.tells("config", "--file", listed, "-z", "--get-regexp", r"\.path$")
    for entry in filter(None, told.split("\0")):
        key, _, path = entry.partition("\n")
        name = key.removeprefix("submodule.").removesuffix(".path")
        own = os.path.normpath(os.path.join(modules, name))
        if not own.startswith(modules + os.sep) or not os.path.isdir(own):
            continue  # those that the user has not got are not needed
        local = ("-c", f"submodule.{name}.url={own}")
        git(*local, "submodule", "--quiet", "update", "--init", "--force", "--", path)
        below = os.path.join(folder, path)
        Git(below)("clean", "-ffdxq")  # bytecode as well: their files have the time of now
        _update_submodules(below, os.path.join(own, "modules"))


def bring(one: Mine, root: str, folder: str, shown: Collection[str] = ()) -> bool:
    """Put it where the folder has nothing; True if there is only a place for it."""
    source, target = os.path.join(root, one.path), os.path.join(folder, one.path)
    there = os.path.lexists(target) and one.path not in shown
    if not os.path.lexists(source) or (there and not one.wins):
        return False
    os.makedirs(os.path.dirname(target), exist_ok=True)
    if os.path.isdir(source) and not os.path.islink(source):
        os.makedirs(target, exist_ok=True)
        return True
    if os.path.islink(source) or os.path.getsize(source) <= SMALL:
        if there:
            os.unlink(target)
        shutil.copy2(source, target, follow_symlinks=False)
        return False
    if not there:
        with open(target, "ab"):
            pass
    return True


@contextlib.contextmanager
def _alone(folder: str) -> Iterator[None]:
    """Two that are added to a repository at once get in each other's way."""
    with open(os.path.join(folder, "zeroin.lock"), "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _literal(path: str) -> str:
    """As a pattern that means just this."""
    return "/" + re.sub(r"([\\*?\[\]!#])", r"\\\1", path)
