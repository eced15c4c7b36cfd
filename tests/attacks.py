"""A repository that attacks whoever visits its clone with zeroin; all of it is made by real git.

Each attack leaves a trace outside of the clone if it succeeds: a file that is *executed* or
*written*, one that is gone or of another mode, or the words of a private file in the record.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from zeroin.record.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

PRIVATE = "the-words-of-a-private-file"
EMPTY = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # a tree of nothing: git knows it by itself
MISSING = "1234567890123456789012345678901234567890"  # an object that no repository has


class Victim(NamedTuple):
    """What lies around the clone and must stay as it is."""

    base: Path  # has all of it: files of the user, the clone and what it was cloned from
    clone: Path
    traces: Path  # of what was executed or written

    def state(self) -> dict[str, tuple[int, int, bytes]]:
        """Kind and mode, owner and content of everything outside of the clone."""
        found = {}
        for path in sorted(self.base.rglob("*")):
            if self.clone == path or self.clone in path.parents:
                continue
            info = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(info.st_mode) else b""
            found[str(path)] = (info.st_mode, info.st_uid, content)
        return found


def run_git(folder: Path, *args: str, env: Mapping[str, str]) -> str:
    """Run git as its user would, who has a name."""
    who = ["-c", "user.name=Mallory", "-c", "user.email=mallory@example.invalid"]
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, env=dict(env), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def make_victim(base: Path) -> Victim:
    """Files of a user beside the place of the clone."""
    for name in ("private/keys.txt", "sibling/src/module.py", "traces/readme"):
        path = base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{PRIVATE}\n")
    (base / "private/keys.txt").chmod(0o640)
    return Victim(base, base / "work" / "clone", base / "traces")


def clone_attacks(base: Path, env: Mapping[str, str]) -> Victim:
    """Make the repository and clone it beside the files of its victim."""
    victim = make_victim(base)
    upstream = base / "upstream"
    upstream.mkdir()
    run_git(upstream, "init", "-q", "-b", "main", env=env)
    write_project(upstream, victim)
    write_attacks(upstream / ".zeroin", victim)
    run_git(upstream, "add", "-A", "-f", env=env)
    run_git(upstream, "commit", "-q", "-m", "A useful project", env=env)
    (upstream / "train.py").write_text("x = {}\nprint(x['y'])\n")
    run_git(upstream, "commit", "-q", "-a", "-m", "It breaks", env=env)
    victim.clone.parent.mkdir()
    run_git(base, "clone", "-q", str(upstream), str(victim.clone), env=env)
    return victim


def write_project(folder: Path, victim: Victim) -> None:
    """Write what looks like a project; its settings and attributes are attacks."""
    (folder / "train.py").write_text("print('training')\n")
    (folder / "data.txt").write_text("".join(f"{n}\n" for n in range(40)))
    (folder / "fails.py").write_text(
        "import sys\nif '7\\n' in open(sys.argv[1]).readlines():\n    raise ValueError('seven')\n"
    )
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    (folder / "link-out").symlink_to(victim.base / "private")
    (folder / "keys-link.txt").symlink_to(victim.base / "private/keys.txt")
    for name in ("data.tiny.txt", "data.min.txt"):  # what `tiny` and `shrink` would write
        (folder / name).symlink_to(victim.base / "private/keys.txt")
    (folder / "pyproject.toml").write_text(
        "[tool.zeroin]\nstore_max = '1k'\ncache_max = '1'\noutput_max = '1000G'\n"
        f"include = ['../../private/*', '{victim.base}/private/*', 'link-out/*']\n"
    )


def evil_config(victim: Victim) -> str:
    """Settings of a repository that run commands at the first occasion."""
    touch = f"sh -c 'echo >> {victim.traces}/executed-%s' --"
    return (
        "[core]\n\trepositoryformatversion = 1\n\tbare = false\n"
        f'\tfsmonitor = "{touch % "fsmonitor"}"\n\tsshCommand = "{touch % "ssh"}"\n'
        f'\thooksPath = "{victim.clone}/hooks"\n\talternateRefsCommand = "{touch % "refs"}"\n'
        f'\tpager = "{touch % "pager"}"\n\tattributesFile = "{victim.clone}/.gitattributes"\n'
        "[extensions]\n\tpartialClone = evil\n"
        '[protocol]\n\tallow = always\n[protocol "ext"]\n\tallow = always\n'
        f'[remote "evil"]\n\turl = "{victim.base}/upstream"\n\tpromisor = true\n'
        f'\tuploadpack = "{touch % "uploadpack"}"\n\tpartialCloneFilter = blob:none\n'
        f'[filter "x"]\n\tclean = "{touch % "clean"}; cat"\n\tsmudge = "{touch % "smudge"}; cat"\n'
        f'[diff "x"]\n\tcommand = "{touch % "diff"}"\n\ttextconv = "{touch % "textconv"}"\n'
        f'[diff]\n\texternal = "{touch % "external"}"\n'
    )


def write_attacks(store: Path, victim: Victim) -> None:
    """Write a record as zeroin would, with a trap in each of its parts."""
    write_database(store, victim)
    write_repository(store / "code.git", victim)
    outside = os.path.relpath(victim.base, victim.clone / ".zeroin")
    (store / "config.toml").write_text("store_max = '1k'\ncode = true\n")
    (store / "restore").symlink_to(outside)
    for number in range(1, 60):
        (store / "attempts" / str(number)).mkdir(parents=True)
        for name in ("0", "0.times", "a", "log"):
            (store / "attempts" / str(number) / name).symlink_to(victim.base / "private/keys.txt")
    (store / "attempts" / "60").symlink_to(victim.base / "sibling")
    for name in ("bisect", "shrink", "elsewhere"):
        (store / name).symlink_to(victim.base / "sibling")


def write_database(store: Path, victim: Victim) -> None:
    """Attempts whose code is an option of git, or is nowhere but at the promised remote."""
    made = Store(str(store))
    base = {"program": "train.py", "cycle": "c", "settings": {}, "driver": "1"}
    base |= {"cwd": str(victim.clone), "root": str(victim.clone), "started": 1.0}
    trees = [f"--output={victim.traces}/written", MISSING, EMPTY]
    for number in range(49):
        attempt = made.begin(
            **base, command=["sh", "-c", f"echo >> {victim.traces}/executed-again"]
        )
        made.update(
            attempt, outcome="failed", signature="E at train.py", headline="E", exit_code=1,
            code=trees[number % 3], base_commit=trees[number % 3], environment=made.put({}),
        )  # fmt: skip
    made.compact()
    made.close()
    db = sqlite3.connect(store / "store.db")
    db.execute("PRAGMA journal_mode=DELETE")
    db.close()
    (store / ".gitignore").write_text("")


@contextlib.contextmanager
def connect(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of a record, to be changed as nobody should."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        yield db
    finally:
        db.close()


def write_repository(folder: Path, victim: Victim) -> None:
    """The shadow's repository with settings that run commands."""
    for name in ("objects/info", "objects/pack", "refs/attempts", "info"):
        (folder / name).mkdir(parents=True)
    (folder / "objects/pack/readme").write_text("")
    (folder / "refs/attempts/1").write_text(f"{EMPTY}\n")
    (folder / "config").write_text(evil_config(victim))
    (folder / "HEAD").write_text("ref: refs/heads/none\n")
    (folder / "info/attributes").write_text("* filter=x diff=x\n")
    (folder / "objects/info/alternates").write_text(f"{victim.base}/upstream/.git/objects\n")


def texts_below(*folders: Path) -> bytes:
    """All that is in the files of some folders, links not followed; SQLite's as they are."""
    paths = [path for folder in folders for path in folder.rglob("*")]
    return b"\n".join(one.read_bytes() for one in paths if stat.S_ISREG(one.lstat().st_mode))
