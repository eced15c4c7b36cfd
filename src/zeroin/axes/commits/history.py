"""From one commit to another in a line, along first parents; and into what a merge brought in."""

from __future__ import annotations

import re

from zeroin.axes.commits.git import GitError
from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.axes.commits.git import Git

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([ T].*)?|.+ ago|yesterday|last .+")
_PULL = re.compile(r"\(#(\d+)\)|pull request #(\d+)|PR[ -]#?(\d+)|See merge request \S*!(\d+)")
_FIELDS = "%H%x00%h%x00%P%x00%an <%ae>%x00%aI%x00%s%x00%b"
# Where a host has pull requests and commits, if not where GitHub has them.
_PAGES = {"gitlab": ("-/merge_requests", "-/commit"), "bitbucket": ("pull-requests", "commits")}
_REMOTE = re.compile(
    r"(?:https?://(?:[^@/]+@)?|ssh://(?:[^@/]+@)?|[^@/:]+@)([^/:]+)[:/](.+?)(?:\.git)?/?"
)


class Commit(NamedTuple):
    """What is told of one."""

    sha: str
    short: str
    parents: tuple[str, ...]
    author: str
    date: str
    subject: str
    pull_request: str  # its number, if the message has one

    @property
    def is_merge(self) -> bool:
        """Whether it has brought in others."""
        return len(self.parents) > 1


class Line(NamedTuple):
    """Commits in order: the first one is the good end, the last one the bad."""

    commits: tuple[str, ...]
    note: str = ""


def resolve(git: Git, name: str, near: str = "HEAD") -> str:
    """The commit that a word means: what git knows, a date, or a released version `==1.2`."""
    if name.startswith("=="):
        return _release(git, name[2:])
    found = git.tells("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    if found:
        return found
    if _DATE.fullmatch(name):
        found = git.tells("rev-list", "-1", "--first-parent", f"--before={name}", near)
        if found:
            return found
        raise UsageError(f"{name}: there is no commit that is so old", hint=depth_hint(git))
    raise UsageError(f"{name}: no such commit", hint=depth_hint(git) or "see: git log --oneline")


def depth_hint(git: Git) -> str:
    """What to do where older commits are missing."""
    if git.tells("rev-parse", "--is-shallow-repository") == "true":
        return "this clone is shallow: git fetch --unshallow"
    return ""


def _release(git: Git, version: str) -> str:
    """By the tag that names it in one of the usual ways."""
    tags = git("tag", "--list").split()
    wanted = re.compile(
        rf"(?:.*[-_/@])?(?:v|rel|release|version)?[-_.]?{re.escape(version)}(?:\.0)*"
    )
    found = [tag for tag in tags if wanted.fullmatch(tag)]
    found.sort(key=lambda tag: (tag not in (version, f"v{version}"), len(tag)))
    if not found:
        near = f"there are {', '.join(tags[-3:])}, ..." if tags else "there are no tags here"
        raise UsageError(f"=={version}: no tag is named so", hint=f"{near}; git fetch --tags")
    return git("rev-parse", f"{found[0]}^{{commit}}").strip()


def line(git: Git, good: str, bad: str, paths: Sequence[str] = ()) -> Line:
    """From good to bad along first parents; with paths, only what touches them between."""
    if good == bad:
        raise UsageError("good and bad are the same commit")
    base = git.tells("merge-base", good, bad)
    if not base:
        raise UsageError(
            "the two commits have no history in common",
            hint=depth_hint(git) or "name two commits of one branch",
        )
    if base == bad:
        raise UsageError(
            "the bad commit is older than the good one",
            hint="swap them; to find what repaired it, give the same order with --fixed",
        )
    note = "" if base == good else f"good is on another branch: begun where it left, at {base[:10]}"
    told = git("rev-list", "--first-parent", "--reverse", "--parents", f"{base}..{bad}")
    rows = [row.split() for row in told.splitlines()]
    first = [row[0] for row in rows]
    if rows and base not in rows[0][1:2]:
        note = note or "good came in by a merge: what else that brought in is one step"
    between = first[:-1]
    if paths:
        touched = set(git("rev-list", "--first-parent", f"{base}..{bad}", "--", *paths).split())
        if not touched:
            raise UsageError(
                f"no commit between the two touches {', '.join(paths)}",
                hint="name what exists in one of them, or leave --path out",
            )
        between = [one for one in between if one in touched]
    return Line((base, *between, bad), note)


class Branches(NamedTuple):
    """All commits between two, parents before children; the first one is the good end."""

    commits: tuple[str, ...]
    parents: tuple[tuple[int, ...], ...]  # by their places


def branches(git: Git, base: str, bad: str) -> Branches:
    """From where good and bad have parted, with all that was merged meanwhile."""
    told = git("rev-list", "--topo-order", "--reverse", "--parents", f"{base}..{bad}")
    rows = [line.split() for line in told.splitlines()]
    places = {base: 0, **{row[0]: number for number, row in enumerate(rows, 1)}}
    parents = [tuple(places[one] for one in row[1:] if one in places) for row in rows]
    return Branches(tuple(places), ((), *parents))


def inside(git: Git, merge: Commit) -> Line | None:
    """What a merge brought in, from where it left to its own end; None for an octopus."""
    if len(merge.parents) != 2:
        return None
    base = git.tells("merge-base", *merge.parents)
    if not base or base == merge.parents[1]:
        return None
    return line(git, base, merge.parents[1])


def older(git: Git, bad: str) -> list[str]:
    """Commits before a bad one, along first parents, the newest first."""
    return git("rev-list", "--first-parent", bad).split()[1:]


def read(git: Git, sha: str) -> Commit:
    """What there is to tell of one."""
    told = git("show", "--no-patch", f"--format={_FIELDS}", sha).rstrip("\n").split("\0")
    full, short, parents, author, date, subject, body = told
    pull = _PULL.search(subject) or _PULL.search(body)
    number = next(filter(None, pull.groups()), "") if pull else ""
    return Commit(full, short, tuple(parents.split()), author, date, subject, number)


def files(git: Git, commit: Commit) -> list[tuple[str, int, int]]:
    """What it changed: the path, lines that came, lines that went."""
    base = commit.parents[:1] or ["4b825dc642cb6eb9a060e54bf8d69288fbee4904"]
    told = git("diff-tree", "-r", "--numstat", "-z", "--no-renames", base[0], commit.sha)
    found = []
    for one in filter(None, told.split("\0")):
        came, went, path = one.split("\t", 2)
        found.append((path, _number(came), _number(went)))
    return found


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0  # "-" for what is no text


def link(git: Git, commit: Commit) -> str:
    """Where to read about it: its pull request, or itself; "" without a remote that has pages."""
    name = git.tells("config", "--get", "branch.main.remote") or "origin"
    url = git.tells("remote", "get-url", name)
    found = _REMOTE.fullmatch(url)
    if found is None:
        return ""
    base = f"https://{found[1]}/{found[2]}"
    requests, commits = next(
        (pages for host, pages in _PAGES.items() if host in found[1]), ("pull", "commit")
    )
    if commit.pull_request:
        return f"{base}/{requests}/{commit.pull_request}"
    return f"{base}/{commits}/{commit.sha}"


def check_complete(git: Git, bad: str) -> None:
    """A clone that has not all objects can't be gone through."""
    try:
        git("cat-file", "-e", f"{bad}^{{tree}}")
    except GitError as error:
        raise UsageError(f"objects are missing: {error.message}", hint="git fetch") from None
