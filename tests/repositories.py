"""Repositories to search in, made in no time."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

GOOD = "def add(x):\n    return x + 1\n"
BAD = "def add(x):\n    return x / 0\n"  # as long as the good one


class Repository:
    """A repository that is written by `git fast-import`."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self.folder = folder
        self.env = env
        folder.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "A. Author")
        self.git("config", "user.email", "author@example.org")

    def git(self, *words: str, stdin: bytes = b"") -> str:
        """Run git there."""
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self.env, input=stdin, capture_output=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def commits(self, *texts: dict[str, str | None] | str, branch: str = "main") -> list[str]:
        """One commit for each: the files that it changes; the last one is checked out."""
        orders = []
        for number, files in enumerate(texts, 1):
            told = files if isinstance(files, dict) else {"src/pkg/core.py": files}
            message = told.pop("message", None) or f"Change number {number}"
            head = f"commit refs/heads/{branch}\ncommitter A. Author <author@example.org> "
            head += (
                f"{1_600_000_000 + 3600 * number} +0000\ndata {len(message.encode())}\n{message}\n"
            )
            orders.append(head)
            if number == 1 and self.has(branch):
                orders.append(f"from refs/heads/{branch}^0\n")
            elif number == 1:
                told.setdefault("src/pkg/__init__.py", "")
                told.setdefault("number.txt", "0\n")
            for path, text in told.items():
                if text is None:
                    orders.append(f"D {path}\n")
                else:
                    orders.append(f"M 644 inline {path}\ndata {len(text.encode())}\n{text}\n")
        self.git("fast-import", "--quiet", "--force", stdin="".join(orders).encode())
        if branch == "main":
            self.git("reset", "-q", "--hard", "main")
        return self.git("log", "--reverse", "--format=%H", branch).split()[-len(texts) :]

    def has(self, branch: str) -> bool:
        """Whether there is such a branch."""
        done = subprocess.run(
            ["git", "rev-parse", "-q", "--verify", branch], cwd=self.folder, env=self.env,
            capture_output=True, check=False,
        )  # fmt: skip
        return done.returncode == 0

    def write(self, name: str, text: str) -> Path:
        """A file that is not committed."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def state(self) -> tuple[str, ...]:
        """All of it that a user would see."""
        return (
            self.git("status", "--porcelain=v2", "--branch", "--ignored"),
            self.git("worktree", "list"),
            self.git("for-each-ref"),
            self.git("stash", "list"),
            self.git("ls-files", "--stage"),
        )
