"""Commits that are likely to be the one: those that touch files of which the failure speaks."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zeroin.axes.commits.git import Git

_PATH = re.compile(r"[\w.+-]+(?:/[\w.+-]+)*")
ALIKE = 5  # files that a word may mean: `__init__.py` says nothing
MOST = 50  # files


def touching(git: Git, good: str, bad: str, texts: Iterable[str]) -> set[str]:
    """Those after the good one, up to the bad one; none where git can't tell, which is no harm."""
    changed = git.tells("diff", "--name-only", "--no-renames", "-z", good, bad).split("\0")[:-1]
    files = list(_named(changed, texts))[:MOST]
    if not files:
        return set()
    # An end may be on another branch: what is only before the good one is not asked about.
    words = ("--full-history", f"{good}..{bad}", "--", *(f":(literal,top){one}" for one in files))
    return set(git.tells("rev-list", *words).split())


def _named(files: Sequence[str], texts: Iterable[str]) -> dict[str, None]:
    """The files that are named by their path, the end of it, or as a module."""
    by_end: dict[str, list[str]] = {}
    for file in files:
        parts = file.split("/")
        for at in range(len(parts)):
            by_end.setdefault("/".join(parts[at:]), []).append(file)
    found: dict[str, None] = {}
    for text in texts:
        for word in _PATH.findall(text):
            if "." not in word and "/" not in word:
                continue
            for end in (word.strip("./"), word.replace(".", "/") + ".py"):
                own = by_end.get(end, ())
                found.update(dict.fromkeys(own if len(own) <= ALIKE else ()))
    return found
