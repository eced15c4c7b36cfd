"""What a worker does with commits: be at one, build it, run the command as if it were checked out.

In a namespace of its own the command finds the commit in the very place of the user's repository:
editable installs, the script's folder and absolute paths all lead there.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from zeroin.axes.commits.worktree import Worktree
from zeroin.cycle import Kind
from zeroin.errors import UNTESTABLE, UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import copies
from zeroin.run.apart import View, spawn_apart
from zeroin.run.environment import users
from zeroin.tools.bisect import editable
from zeroin.tools.bisect.judge import place
from zeroin.tools.bisect.viewed import Viewed
from zeroin.tools.provided import names_in
from zeroin.tools.search.quiet_trial import BRIEF
from zeroin.tools.workers import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from zeroin.axes.commits.git import Git
    from zeroin.axes.commits.worktree import Mine
    from zeroin.cycle import Cycle
    from zeroin.run.trial import Trial
    from zeroin.tools.bisect.editable import Editable
    from zeroin.tools.bisect.report import TrialOrder

NOT_FOUND = "No module named "


class Checkout(NamedTuple):
    """What all workers share."""

    repository: Git
    borrowed: Git
    folder: str  # of ours
    mine: Sequence[Mine]
    cycle: Cycle
    environ: Mapping[str, str]
    build: str = ""  # a shell line
    editable: Editable | None = None
    apart: bool = True  # there are namespaces
    needs_path: bool = False  # the commit's packages are found only if they are named
    installed: Sequence[tuple[str, str]] = ()  # modules of the commits, and where else they are
    first: str = ""  # any commit
    stale: frozenset[str] = frozenset()  # compiled parts of the checkout that are older or newer


class Commits:
    """In the process of a worker."""

    def __init__(self, shared: Checkout, slot: int) -> None:
        self._shared = shared
        self._own = os.path.join(shared.folder, str(slot))
        self._tree = Worktree(
            shared.borrowed,
            os.path.join(self._own, "tree"),
            shared.repository,
            shared.mine,
            shared.first,
        )
        os.makedirs(os.path.join(self._own, "scratch"), exist_ok=True)
        self._viewed = Viewed()
        self._needs_path = shared.needs_path and shared.editable is None
        self._installed = dict(shared.installed)
        self._environment = ""  # for what this commit requires

    def tried(self, order: TrialOrder) -> Answer:
        """Run it at that commit."""
        try:
            self._switch(order.name)
            seen = self._run(order)
            if not self._needs_path and self._is_astray(seen):
                self._needs_path = True
                self._installed.update(self._where(seen))
                self._viewed.close()
                seen = self._run(order)
            self._check(seen)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        reason = self._unproven(seen) or self._not_installed(seen)
        return Answer(seen.outcome, reason=reason, pace=self._viewed.pace)

    # --- at the commit ------------------------------------------------------------------------

    def _switch(self, commit: str) -> None:
        build = self._shared.build
        # What a build has made is newer than what it was made of, whenever that is checked out.
        stamped = ".py" if self._shared.editable is None else ""
        self._tree.switch(commit, keep_bytecode=not build, stamped=stamped)
        if not self._shared.apart:
            self._link()
        if self._shared.editable is not None:
            log = os.path.join(self._own, "install.log")
            self._environment = self._shared.editable.made(self._tree, self._seen(), log)
        if build:
            self._build(build)

    def _link(self) -> None:
        """Without namespaces: what is too large to be copied is linked."""
        for path in self._tree.shown:
            target = os.path.join(self._tree.folder, path)
            if os.path.islink(target):
                continue
            if os.path.isdir(target):
                shutil.rmtree(target)
            else:
                os.unlink(target)
            os.symlink(os.path.join(self._shared.repository.folder, path), target)

    def _build(self, line: str) -> None:
        """In the place of the user's repository, as the command will be run."""
        cycle = self._moved(self._given()._replace(command=("/bin/sh", "-c", line)))
        log = os.path.join(self._own, "build.log")
        with open(log, "wb") as file:
            env = users(cycle, self._shared.environ)
            if self._shared.apart:
                pid = spawn_apart(
                    cycle.command, cycle.cwd, env, file.fileno(), file.fileno(), self._seen()
                )
                code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            else:
                done = subprocess.run(
                    cycle.command, cwd=cycle.cwd, env=env, stdout=file, stderr=file, check=False
                )
                code = done.returncode
        if code:
            with open(log, encoding="utf-8", errors="replace") as told:
                lines = told.read().strip().splitlines()
            raise UntestableError(
                f"it does not build: {lines[-1] if lines else f'exit code {code}'}",
                hint="name another commit, or a --build line that builds this one as well",
            )

    # --- the command --------------------------------------------------------------------------

    def _given(self) -> Cycle:
        """With the environment for this commit."""
        cycle = self._shared.cycle
        if not self._environment:
            return cycle
        return editable.active(self._environment, cycle, self._shared.environ)

    def _cycle(self, order: TrialOrder) -> Cycle:
        cycle = self._given()
        env = dict(cycle.env)
        if self._needs_path:
            if os.pathsep in self._root:
                raise UntestableError(
                    f"its packages are not installed, and PYTHONPATH can't name {self._root}",
                    hint="let --editable install them",
                )
            before = users(cycle, self._shared.environ).get("PYTHONPATH", "")
            paths = [os.path.join(self._root, *below) for below in (("src",), ())]
            env["PYTHONPATH"] = os.pathsep.join(filter(None, [*paths, before]))
        return self._moved(cycle._replace(env=env, timeout=order.timeout))

    @property
    def _root(self) -> str:
        return self._shared.repository.folder

    def _moved(self, cycle: Cycle) -> Cycle:
        """Without namespaces: there instead of here."""
        if self._shared.apart:
            return cycle
        return copies.led(cycle, {self._root: self._tree.folder})

    def _seen(self) -> View:
        scratch = os.path.join(self._own, "scratch")
        return View(self._root, scratch, tree=self._tree.folder, mine=self._tree.shown)

    def _run(self, order: TrialOrder) -> Trial:
        cycle = self._cycle(order)
        if not os.path.isdir(cycle.cwd if not self._shared.apart else self._inside(cycle.cwd)):
            raise UntestableError("the folder to run in is not there in this commit")

        view = self._seen() if self._shared.apart else None
        asked = BRIEF._replace(where=tuple(self._names()))
        environ = self._shared.environ
        return self._viewed.run(cycle, environ, view, bound=order.bound, order=asked)

    def _inside(self, path: str) -> str:
        """Where the commit has what will be at this path."""
        if path == self._root or path.startswith(self._root + "/"):
            return self._tree.folder + path[len(self._root) :]
        return path

    # --- whose code was it? -------------------------------------------------------------------

    def _names(self) -> list[str]:
        return names_in(self._tree.folder)

    def _where(self, seen: Trial) -> Iterator[tuple[str, str]]:
        """Modules of the commit's names that were loaded from elsewhere."""
        for name, path in _loaded(seen):
            if not self._is_ours(os.path.realpath(path)):
                yield name, path

    def _is_ours(self, path: str) -> bool:
        """Whether it is the commit's; what is compiled may lie in the commit's environment."""
        root = os.path.realpath(self._root if self._shared.apart else self._tree.folder)
        if path.startswith(root + "/") and "/site-packages/" not in path:
            return True
        own = self._environment and os.path.realpath(self._environment) + "/"
        return bool(own) and path.startswith(own) and path.endswith(editable.COMPILED)

    def _is_astray(self, seen: Trial) -> bool:
        if next(self._where(seen), None) is not None:
            return True
        names = self._names()
        return any(f"{NOT_FOUND}'{name}" in seen.outcome.headline for name in names)

    def _check(self, seen: Trial) -> None:
        for name, path in self._where(seen):
            raise UntestableError(
                f"{name} was imported from {path}, and not from the repository",
                hint="install it as editable, or let --editable do that",
            )
        for name, path in _loaded(seen):
            if os.path.relpath(path, self._root) in self._shared.stale:
                raise UntestableError(
                    f"{name} was imported from {path}, which was compiled for your checkout, and "
                    "its sources differ between the commits",
                    hint="add --editable, or --build with the line that compiles it",
                )

    def _unproven(self, seen: Trial) -> str:
        """Why nobody knows which files it imported, where that may matter."""
        outcome = seen.outcome
        is_python = bool(place(outcome.signature)) or os.path.basename(
            self._shared.cycle.command[0]
        ).startswith("python")
        was_begun = outcome.kind is not Kind.KILLED and outcome.exit_code != UNTESTABLE
        if seen.messages or not is_python or not was_begun or not self._names():
            return ""
        return (
            "no try could tell from where it imported: python -I, -E and -S, or a "
            "PYTHONPATH that the command sets, keep zeroin out; was it this repository?"
        )

    def _not_installed(self, seen: Trial) -> str:
        """Which copy is tried, where another one is installed."""
        for name in sorted({name for name, _ in _loaded(seen)} & self._installed.keys()):
            copy = self._installed[name]
            return f"each try imports {name} as the commit has it, not the installed copy: {copy}"
        return ""

    def close(self) -> None:
        """End what is kept."""
        self._viewed.close()


def _loaded(seen: Trial) -> Iterator[tuple[str, str]]:
    """Modules that processes of the command had, and their files."""
    for message in seen.messages:
        yield from (message.get("where") or {}).items()
