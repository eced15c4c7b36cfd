"""Limits are tried as root and as a plain user, who is made for the tests and gone after them."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

import support

ENTER = "import sys; sys.path.insert(0, {src!r}); from zeroin.fronts.cli import enter; enter()"


class Someone:
    """Runs zeroin as one user or another, in a home and a project of his own."""

    def __init__(self, base: Path, user: str | None) -> None:
        self.base = base
        self.user = user
        self.entry = pwd.getpwnam(user) if user else None
        self.zeroin = support.Zeroin(base)
        self.env = self.zeroin.env
        self.driver = self.zeroin.driver
        self.project = base / "project"
        self.project.mkdir()
        if user:
            self._move_out_of_our_home()

    def _move_out_of_our_home(self) -> None:
        """Our interpreter may lie in a home that nobody else may look into."""
        python = "/usr/bin/python3"
        if not os.path.exists(python):
            pytest.skip("needs an interpreter that every user may run: apt-get install python3")
        self.driver = [python, "-c", ENTER.format(src=str(support.SRC))]
        support.place_python(support.tools_of(self.base).parent, python)
        spy = Path(sys.executable).parent / "py-spy"
        if spy.exists():
            shutil.copy(spy, support.tools_of(self.base) / "py-spy")
        for path in (self.base, *self.base.rglob("*")):
            self.give(path)

    def give(self, path: Path) -> None:
        """Make it theirs."""
        if self.entry:
            os.chown(path, self.entry.pw_uid, self.entry.pw_gid, follow_symlinks=False)

    def write(self, name: str, text: str) -> Path:
        """Put a file into the project, as theirs."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
        for one in (path, path.parent):
            self.give(one)
        return path

    def folder(self, name: str) -> Path:
        """Make an empty folder of the project."""
        path = self.project / name
        path.mkdir(parents=True)
        self.give(path)
        return path

    def start(self, *args: object, **options: object) -> subprocess.Popen[str]:
        """Begin it, and go on."""
        who = {"user": self.entry.pw_uid, "group": self.entry.pw_gid} if self.entry else {}
        if who:
            who["extra_groups"] = []
        return subprocess.Popen(
            [*self.driver, *map(str, args)],
            cwd=self.project,
            env={**self.env, **options.pop("env", {})},
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            **who,
            **options,
        )

    def __call__(self, *args: object, **options: object) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        with self.start(*args, **options) as process:
            try:
                out, err = process.communicate(timeout=60)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(args, process.returncode, out, err)

    def json(self, *args: object, **options: object) -> dict:
        """Run it, and read its answer."""
        done = self(args[0], "--json", *args[1:], **options)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="session")
def plain_user():
    """A user without any rights, gone at the end."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a user; all other tests are run as the plain user you are")
    if not shutil.which("useradd"):
        pytest.skip("needs useradd: apt-get install passwd")
    name = f"zin{os.getpid()}"
    subprocess.run(["useradd", "--no-create-home", "--no-user-group", name], check=True)
    yield name
    subprocess.run(["userdel", name], check=True, capture_output=True)


@pytest.fixture
def place():
    """A folder below which every user may go, and nothing stays mounted.

    Pytest's own are for root alone.
    """
    folder = Path(tempfile.mkdtemp(prefix="zeroin-test-"))
    folder.chmod(0o755)
    yield folder
    assert str(folder) not in Path("/proc/self/mountinfo").read_text()
    subprocess.run(["chmod", "-R", "u+rwX", str(folder)], check=False)
    shutil.rmtree(folder)


@pytest.fixture(params=["me", "plain user"])
def someone(request, place):
    """Whoever runs the tests, usually root, and a plain user."""
    user = request.getfixturevalue("plain_user") if request.param == "plain user" else None
    return Someone(place, user)


@pytest.fixture
def me(place):
    """Whoever runs the tests."""
    return Someone(place, None)


@pytest.fixture
def nobody(place, plain_user):
    """A plain user."""
    return Someone(place, plain_user)
