"""`bisect commits`: the commit that broke it, or that repaired it."""

from __future__ import annotations

import contextlib
import os
import time

from zeroin.axes.commits import history
from zeroin.axes.commits.built import is_source
from zeroin.axes.commits.git import GitError, repository
from zeroin.axes.commits.likely import touching
from zeroin.axes.commits.worktree import belongings, borrow
from zeroin.cycle import Verdict
from zeroin.digest import digest
from zeroin.errors import UntestableError
from zeroin.named import NamedTuple
from zeroin.record import place as places
from zeroin.run.apart import View, can_be_apart
from zeroin.run.environment import users
from zeroin.run.interpreter import executable
from zeroin.run.package_cache import EDITABLE, CacheUse, cache_folder
from zeroin.run.uv import Uv
from zeroin.search.graph import Graph
from zeroin.tools import config
from zeroin.tools.bisect.alike import searched_again
from zeroin.tools.bisect.answer import answer, is_out_of_sight
from zeroin.tools.bisect.backwards import walk
from zeroin.tools.bisect.checkout import Checkout, Commits
from zeroin.tools.bisect.editable import COMPILED, Editable
from zeroin.tools.bisect.ordered import FLAKY, Ordered
from zeroin.tools.bisect.row import MORE, Found
from zeroin.tools.bisect.tries import MOST_JOBS, Tries
from zeroin.tools.bisect.whereabouts import Whereabouts
from zeroin.tools.folders import OwnFolder, quick_base

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.axes.commits.git import Git
    from zeroin.axes.commits.history import Commit, Line
    from zeroin.cycle import Cycle
    from zeroin.tools.bisect.report import BisectOptions, BisectReport, Skipped, Teller

PREFIX = "zeroin-bisect-"
NAME = "name a good and a bad commit: zeroin bisect commits GOOD BAD -- ..."
NAMED = 20  # commits that are told with their subjects
MOST = 20_000  # commits, of which all branches are looked at


class CommitOptions(NamedTuple):
    """Which commits."""

    good: str = ""  # "" to look for one, further and further back
    bad: str = "HEAD"
    repo: str = ""
    paths: tuple[str, ...] = ()  # only commits that touch these
    first_parent: bool = False  # a merge is an answer
    build: str = ""
    editable: bool = False  # an environment for what each commit requires
    also: tuple[str, ...] = ()  # requirements beside those


def bisect_commits(
    cycle: Cycle,
    wanted: CommitOptions,
    options: BisectOptions,
    environ: Mapping[str, str],
    teller: Teller,
) -> BisectReport:
    """Find it."""
    one = _Commits(cycle, wanted, options, environ, teller)
    try:
        return one.go()
    finally:
        one.close()


class _Axis:
    noun = "commit"

    def __init__(self, shared: Checkout, key: str, named: Mapping[str, str]) -> None:
        self._shared = shared
        self.key = key
        self._named = named  # by the user

    def label(self, name: str) -> str:
        return self._named.get(name) or name[:10]

    def servant(self, slot: int) -> Commits:
        return Commits(self._shared, slot)


class _Commits:
    def __init__(
        self,
        cycle: Cycle,
        wanted: CommitOptions,
        options: BisectOptions,
        environ: Mapping[str, str],
        teller: Teller,
    ) -> None:
        self.wanted = wanted
        self.options = options
        self.teller = teller
        self.notes: list[str] = []
        self._command = cycle.command
        self._commits: dict[str, Commit] = {}
        self._pull_request = ""  # of the merge by which it came
        self.began = time.monotonic()
        self.git = repository(wanted.repo or cycle.cwd)
        self.bad = history.resolve(self.git, wanted.bad)
        self.good = history.resolve(self.git, wanted.good, self.bad) if wanted.good else ""
        history.check_complete(self.git, self.bad)
        # What can't be is said before anything is made.
        self.line = self._line() if self.good else None
        self._own = OwnFolder(PREFIX, self._base())
        self.folder = self._own.path
        self.tries: Tries | None = None
        self._cache: CacheUse | None = None
        try:
            with contextlib.closing(Whereabouts(self.git.folder, cycle, environ)) as where:
                shared = self._shared(cycle, environ)
                elsewhere = where.elsewhere()
        except (GitError, OSError) as error:
            self.close()
            raise UntestableError(
                f"the folders of the tries can't be made: {error}",
                hint="they need some room; set TMPDIR to a folder that has it",
            ) from None
        except BaseException:
            self.close()
            raise
        installed = [(name, path) for name, path in elsewhere.items() if path != "/"]
        shared = shared._replace(needs_path=bool(elsewhere), installed=installed)
        key = digest(
            repr(
                (
                    cycle.key(),
                    self.git.folder,
                    options.question,
                    wanted[5:],
                )
            )
        )
        named = {self.bad: wanted.bad, self.good: wanted.good}
        kept = os.path.join(places.find(cycle.cwd, environ).folder, "bisect", key)
        self.tries = Tries(_Axis(shared, key, named), options, teller, kept, cycle.timeout)

    def _base(self) -> str:
        """In memory, if that is little; how much is built or fetched by a filter nobody knows."""
        wanted = self.wanted
        lines = self.git("ls-tree", "-r", "-l", self.bad).splitlines()
        listed = [line.partition("\t")[0].split() for line in lines]  # mode, kind, name, size
        attributes = ("--", ".gitattributes", "**/.gitattributes")
        is_more = any(kind == "commit" for _, kind, _, _ in listed)  # of a submodule
        is_more = is_more or self.git.has("grep", "-q", "filter=", self.bad, *attributes)
        if wanted.build or wanted.editable or is_more:
            return ""
        return quick_base(MOST_JOBS * sum(int(size) for _, _, _, size in listed))

    def _shared(self, cycle: Cycle, environ: Mapping[str, str]) -> Checkout:
        git = self.git
        borrowed = borrow(git, os.path.join(self.folder, "git"))
        named = [path for word in cycle.command if (path := _inside(git, cycle.cwd, word))]
        changed = git("diff", "--name-only", "--no-renames", "-z", "HEAD").split("\0")[:-1]
        builds = bool(self.wanted.build) or self.wanted.editable
        mine = belongings(git, named, changed, builds=builds)
        left = [path for path in changed if path not in named]
        if left:
            more = f" and {len(left) - 1} more" if len(left) > 1 else ""
            self.notes.append(f"changes that are not committed are in no try: {left[0]}{more}")
        shared = Checkout(git, borrowed, self.folder, mine, cycle, environ, self.wanted.build)
        compiled = frozenset(one.path for one in mine if one.path.endswith(COMPILED))
        if compiled and self._is_recompiled():
            shared = shared._replace(stale=compiled)
        shared = shared._replace(first=self.bad)
        reason = self._cannot_be_apart()
        if reason:
            self.notes.append(
                f"the tries ran in folders of their own, without namespaces: {reason}"
            )
            shared = shared._replace(apart=False)
            if self.wanted.editable:
                raise UntestableError(
                    f"--editable needs namespaces, and there are none: {reason}",
                    hint="let the kernel have user namespaces",
                )
        if self.wanted.editable:
            shared = shared._replace(editable=self._editable(cycle, environ))
        return shared

    def _editable(self, cycle: Cycle, environ: Mapping[str, str]) -> Editable:
        settings = config.load(self.git.folder, environ, self.notes.append)
        self._cache = CacheUse(environ, settings.cache_max)
        cache = os.path.join(cache_folder(environ), EDITABLE)
        env = users(cycle, environ)
        # The command itself may be one that only these environments have.
        python = executable(cycle.command, cycle.cwd, env)
        builds = not self.wanted.build
        return Editable(Uv(env, self.git.folder), python, cache, self.wanted.also, builds)

    def _is_recompiled(self) -> bool:
        """Whether what is compiled differs between the commits, or is not known to be the same."""
        if self.good:
            told = self.git("diff", "--name-only", "--no-renames", "-z", self.good, self.bad)
        else:
            told = self.git("ls-tree", "-r", "--name-only", "-z", self.bad)
        return any(map(is_source, told.split("\0")))

    def _cannot_be_apart(self) -> str:
        probe, scratch = (os.path.join(self.folder, name) for name in ("probe", "scratch"))
        for path in (probe, scratch):
            os.mkdir(path)
        return can_be_apart(View(self.git.folder, scratch, tree=probe))

    def close(self) -> None:
        """Leave nothing behind."""
        if self.tries is not None:
            self.tries.close()
        if self._cache is not None:
            self._cache.close()
        self._own.close()

    # --- searching ----------------------------------------------------------------------------

    def go(self) -> BisectReport:
        """The first bad commit; and where that is a merge, the one in it."""
        tries = self.tries
        if tries is None:
            raise ValueError("there is nothing to search with")
        try:
            if not self.good:
                lost = self._walk_back(tries)
                if lost is not None:
                    return self._report(lost, [])
            line = self.line or self._line()
            if line.note:
                self.notes.append(line.note)
            found, skipped = self._searched(tries, line.commits)
            if found.verdict == "range":
                again = lambda: self._searched(tries, line.commits)[0]  # noqa: E731 - said once
                left = found.candidates
                found, alike = searched_again(tries, left, found, self.options, again)
                skipped = [one for one in skipped if one.name not in alike]
            if found.verdict == "found" and self.wanted.paths:
                found = self._by_itself(tries, found)
        except KeyboardInterrupt:
            return self._report(Found("interrupted"), [])
        if not found.given_up:
            tries.memory.forget()
        if is_out_of_sight(tries, found, self.options):
            between = history.branches(self.git, self.good, found.bad).commits[1:]
            found = found._replace(verdict="range", candidates=tuple(between), confirmed=False)
        return self._report(found, skipped)

    def _searched(self, tries: Tries, line: Sequence[str]) -> tuple[Found, list[Skipped]]:
        answered = self._among_branches(tries, line)
        if answered is not None:
            return answered
        search = Ordered(tries, line, self.options, self._is_an_end, likely=self._likely)
        found, skipped = search.find(), search.skipped()
        if found.verdict == "found" and not self.wanted.first_parent:
            found, skipped = self._into_merges(tries, found, skipped)
        return found, skipped

    def _likely(self, said: Sequence[str]) -> set[str]:
        """Commits that touch what the command or the failure names."""
        return touching(self.git, self.good, self.bad, (*self._command, *said))

    def _by_itself(self, tries: Tries, found: Found) -> Found:
        """With --path commits were left out: the one right before the answer has to work."""
        before = self._read(found.bad).parents[0]
        if before == found.good:
            return found
        tries.run([before] * (not tries.is_known(before)))
        if tries.verdict(before) is Verdict.PASSED:
            return found._replace(good=before)
        short, how = before[:10], tries.why(before) or "it works"
        return Found(
            "not-reproduced",
            why=f"what broke it does not touch {', '.join(self.wanted.paths)}: "
            f"{short}, right before {found.bad[:10]}, fails as well: {how}",
            hint="leave --path out",
        )

    def _line(self) -> Line:
        return history.line(self.git, self.good, self.bad, self.wanted.paths)

    def _among_branches(
        self, tries: Tries, line: Sequence[str]
    ) -> tuple[Found, list[Skipped]] | None:
        """All commits at once, merged ones too; None where it takes a line."""
        if self.wanted.first_parent or self.wanted.paths:
            return None
        all_of_them = history.branches(self.git, line[0], self.bad)
        if len(all_of_them.commits) > MOST:
            return None
        graph = Graph.of(all_of_them.parents)
        commits = all_of_them.commits
        search = Ordered(tries, commits, self.options, graph=graph, likely=self._likely)
        found = search.find()
        if found.verdict == FLAKY:
            return None
        if found.verdict == "found":
            if self._read(found.bad).is_merge:
                self.notes.append("neither side of this merge fails alone")
            if found.bad not in line:
                places = {name: at for at, name in enumerate(all_of_them.commits)}
                has_it = (one for one in line if graph.before[places[one]] >> places[found.bad] & 1)
                self._came_by(self._read(next(has_it)))
        return found, search.skipped()

    def _came_by(self, merge: Commit) -> None:
        self.notes.append(f"it came in by the merge {merge.short} {merge.subject!r}")
        self._pull_request = self._pull_request or merge.pull_request

    def _read(self, sha: str) -> Commit:
        if sha not in self._commits:
            self._commits[sha] = history.read(self.git, sha)
        return self._commits[sha]

    def _walk_back(self, tries: Tries) -> Found | None:
        """Further and further back, until it works; or fails, where a repair is looked for."""
        fixed = self.options.fixed
        for number in range(max(MORE, self.options.repeat) + 1):
            tries.run([self.bad], cold=number > 0)
            if self.bad in tries.reasons or tries.outcomes[self.bad][-1].failed is not fixed:
                break
        if self.bad in tries.reasons:
            raise UntestableError(
                f"{self.bad[:10]} can't be tested: {tries.why(self.bad)}",
                hint=tries.hints.get(self.bad) or NAME,
            )
        baseline = tries.outcomes[self.bad][-1]
        if baseline.failed is fixed:
            how = f"fails: {baseline.headline}" if fixed else "works"
            return Found(
                "not-reproduced",
                why=f"{self.bad[:10]} {how}, {tries.runs(self.bad)} runs",
                hint=NAME,
            )
        walked = walk(tries, [self.bad, *history.older(self.git, self.bad)], fixed=fixed)
        if walked.good:
            self.good, self.bad = walked.good, walked.bad
            return None
        what = "works in all commits" if fixed else "works in no commit"
        told = f": {baseline.headline}" if baseline.headline else ""
        return Found(
            "not-reproduced",
            why=f"it {what}, of those that were tried back to the first{told}",
            hint=history.depth_hint(self.git)
            or "name a good commit: zeroin bisect commits GOOD -- ...",
        )

    def _into_merges(
        self, tries: Tries, found: Found, skipped: list[Skipped]
    ) -> tuple[Found, list[Skipped]]:
        """What came in by a merge is looked into, if its end fails by itself."""
        while True:
            merge = self._read(found.bad)
            inner = history.inside(self.git, merge) if merge.is_merge else None
            if inner is None:
                return found, skipped
            search = Ordered(tries, inner.commits, self.options, self._is_an_end)
            deeper = search.find()
            if deeper.verdict == "not-reproduced":
                why = f"neither side of this merge fails alone: {deeper.why}"
                self.notes.append(why)
                again = Ordered(tries, (found.good, found.bad), self.options).find()
                return _both_sure(found, again), skipped
            self._came_by(merge)
            found, skipped = _both_sure(found, deeper), [*skipped, *search.skipped()]
            if found.verdict != "found":
                return found, skipped

    def _is_an_end(self, sha: str) -> bool:
        """Or something to be looked into."""
        if self.wanted.first_parent:
            return True
        commit = self._read(sha)
        return not commit.is_merge or history.inside(self.git, commit) is None

    # --- the answer ---------------------------------------------------------------------------

    def _report(self, found: Found, skipped: Sequence[Skipped]) -> BisectReport:
        tries = self.tries
        about: dict[str, Any] = {}
        if found.verdict in ("found", "range"):
            about = {"commit": self._told(self._read(found.bad))}
        if tries is None:
            raise ValueError("there is nothing to tell")
        about["log"] = self._log(tries, found)
        named = [*found.candidates[:NAMED], *(one.name for one in skipped[:NAMED])]
        about["subjects"] = {sha: self._read(sha).subject for sha in named}
        notes = [*self.notes, *tries.notes]
        return answer("commits", tries, found, skipped, self.options, self.began, about, notes)

    def _told(self, commit: Commit) -> dict[str, Any]:
        if not commit.pull_request:
            commit = commit._replace(pull_request=self._pull_request)
        files = history.files(self.git, commit)
        return {
            **commit._asdict(),
            "parents": list(commit.parents),
            "link": history.link(self.git, commit),
            "files": [{"path": path, "added": more, "removed": less} for path, more, less in files],
        }

    def _log(self, tries: Tries, found: Found) -> str:
        """What `git bisect replay` goes through in the same way."""
        new, old = ("fixed", "broken") if self.options.fixed else ("bad", "good")
        terms = f" --term-new={new} --term-old={old}" if self.options.fixed else ""
        words = {Verdict.SAME: new, Verdict.PASSED: old, Verdict.OTHER: "skip"}
        told = {name: tries.verdict(name) for name in (*tries.outcomes, *tries.reasons)}
        # Of several that are bad, git takes the last one that it is told.
        order = (Verdict.SAME, Verdict.PASSED, Verdict.OTHER, None)
        names = sorted(told, key=lambda name: (order.index(told[name]), name == found.bad))
        lines = [f"git bisect start{terms}"]
        for name in names:
            verdict = told[name]
            if verdict is not None:
                lines.append(f"git bisect {words[verdict]} {name}")
        if found.verdict == "found":
            lines.append(f"# first {new} commit: {found.bad}")
        return "\n".join(lines) + "\n"


def _both_sure(found: Found, deeper: Found) -> Found:
    """What was found in what was found is right only if both are."""
    return deeper._replace(confidence=found.confidence * deeper.confidence)


def _inside(git: Git, cwd: str, word: str) -> str:
    """The path of a file below the top that a word of the command names; "" for others."""
    full = os.path.join(cwd, word.partition("::")[0])
    if not word or word.startswith("-") or not os.path.isfile(full):
        return ""
    path = os.path.relpath(os.path.realpath(full), os.path.realpath(git.folder))
    return "" if path.startswith("..") else path
