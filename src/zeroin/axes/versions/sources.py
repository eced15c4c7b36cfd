"""From a release to the repository that it was made from, by what its metadata say."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from zeroin.axes.commits import history
from zeroin.axes.commits.git import Git, GitError
from zeroin.errors import UntestableError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What labels of addresses promise, most promising first.
_LABELS = ("repository", "source", "code", "git", "home", "")
_BELOW = re.compile(
    r"/(?:-/)?(?:tree|blob|issues|pulls|wiki|releases|discussions|actions)(?:/.*)?$"
)
_PARTS = 2  # an owner and a name


def addresses(project_urls: Iterable[str], home_page: Iterable[str]) -> list[str]:
    """Where the repository may be, most likely first."""
    told = [*(line.partition(",") for line in project_urls)]
    pairs = [(label.strip().lower(), url.strip()) for label, _, url in told]
    pairs += [("home", url) for url in home_page]
    found: dict[str, int] = {}
    for label, url in pairs:
        rank = next(number for number, word in enumerate(_LABELS) if word in label)
        plain = _BELOW.sub("", url.partition("#")[0]).rstrip("/")
        parts = urlsplit(plain)
        is_repository = len(parts.path.strip("/").split("/")) >= _PARTS
        if parts.scheme in ("http", "https", "git", "ssh", "file") and is_repository:
            found[plain] = min(rank, found.get(plain, rank))
    return sorted(found, key=lambda url: found[url])


def clone(urls: Iterable[str], folder: str, above: str, versions: Iterable[str]) -> Git:
    """A copy of the first repository that has a tag for each of the versions."""
    problems = []
    for url in urls:
        git = Git(above)
        try:
            tags = set(_tags(git("ls-remote", "--tags", "--refs", "--", url)))
        except GitError as error:
            problems.append(error.message)
            continue
        if not tags:
            problems.append(f"{url} has no tags")
            continue
        git("clone", "--quiet", "--no-checkout", "--", url, folder)
        copy = Git(folder)
        try:
            for version in versions:
                history.resolve(copy, f"=={version}")
        except UsageError as error:
            raise UntestableError(f"{url}: {error.message}") from None
        copy("checkout", "--quiet", "HEAD")
        return copy
    why = "; ".join(problems) or "its metadata name no repository"
    raise UntestableError(f"no repository with the tags of its releases: {why}")


def _tags(told: str) -> Iterator[str]:
    for line in told.splitlines():
        yield line.rpartition("refs/tags/")[2]
