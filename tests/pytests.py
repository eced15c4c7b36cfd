"""Real pytests to try the plugin in: the newest beside us, 8 and 7 in environments of their own."""

from __future__ import annotations

import fcntl
import functools
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import packages
import support
import warm_libraries

if TYPE_CHECKING:
    from collections.abc import Mapping

# Not loaded where a test does not ask for them: they take longer than most of the tests.
USUAL_PLUGINS = ("asyncio", "hypothesispytest", "pytest_cov", "rerunfailures", "xdist")
PLUGINS = ["pytest-xdist", "pytest-asyncio", "pytest-rerunfailures", "pytest-cov"]
# What is asked for, on which Python: the oldest pytest on the oldest Python.
OTHERS = {"7": ("pytest>=7,<8", "3.9"), "8": ("pytest>=8,<9", "3.13"), "9": ("pytest>=9", "3.12")}
# What pytest imports in each run, with what comes with it.
IMPORTED = (
    *("pytest", "_pytest.main", "_pytest.terminal", "_pytest.junitxml", "_pytest.unittest"),
    *("_pytest.assertion.rewrite", "_pytest.doctest", "_pytest.logging", "_pytest.cacheprovider"),
    *("_pytest.pastebin", "_pytest.stepwise", "_pytest.threadexception", "_pytest.debugging"),
    *("_pytest.unraisableexception", "_pytest.faulthandler", "_pytest.setuponly"),
    *("unittest", "asyncio", "importlib.metadata"),
)


@functools.cache
def interpreter(major: str) -> str:
    """Give a Python that has this pytest and the usual plugins; skip where there is none."""
    wanted, version = OTHERS[major]
    base = support.interpreters().get(version)
    if base is None:
        pytest.skip(f"needs Python {version}")
    if why := packages.lack_of_index():
        pytest.skip(why)
    home = support.ROOT / ".venvs" / f"pytest-{major}"
    home.parent.mkdir(exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "made").exists():
            shutil.rmtree(home, ignore_errors=True)
            env = {**os.environ, **packages.online()}
            packages.make_environment(home, env, wanted, *PLUGINS, python=base)
            (home / "made").touch()
        compile_sources(str(home / "bin" / "python"))
    return str(home / "bin" / "python")


def compile_sources(python: str) -> None:
    """Compile that pytest and our agent once: uv does not, and a `Suite` writes no bytecode."""
    (site,) = Path(python).parent.parent.glob("lib/python*/site-packages")
    words = [python, "-m", "compileall", "-q", site, support.SRC / "zeroin" / "agent"]
    subprocess.run(words, check=False, capture_output=True, timeout=200)


def find_runner(python: str) -> str:
    """Give an executable that is used like this Python, and has imported its pytest already."""
    return str(warm_libraries.start_server(python, IMPORTED).executable)


def installed(folder: Path) -> Path:
    """Make a folder that, on the path, is an installation of zeroin with its entry points."""
    site = folder / "site"
    info = site / "zeroin-0.1.0.dist-info"
    info.mkdir(parents=True)
    (site / "zeroin").symlink_to(support.SRC / "zeroin")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: zeroin\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[pytest11]\nzeroin = zeroin.fronts.pytest_plugin\n")
    return site


class Suite:
    """A user's project with tests, and pytest with zeroin installed beside it."""

    def __init__(self, folder: Path, python: str, *plugins: str) -> None:
        self.folder = folder / "shop"
        self.folder.mkdir()
        (self.folder / "pyproject.toml").write_text("[project]\nname = 'shop'\n")
        self.python = python
        self.runner = python  # another executable that stands for it, such as `find_runner` gives
        self.env = support.clean_environment(folder)
        self.env["PYTHONPATH"] = str(installed(folder))
        self.env["PYTHONDONTWRITEBYTECODE"] = "1"
        self.load_plugins(*plugins)

    def load_plugins(self, *names: str) -> None:
        """Let pytest load these of the usual plugins, and of the others none."""
        others = [name for name in USUAL_PLUGINS if name not in names]
        others += [] if "xdist" in names else ["xdist.looponfail"]
        self.env["PYTEST_ADDOPTS"] = " ".join(f"-p no:{name}" for name in others)

    def write(self, **files: str) -> None:
        """`test_a="..."`: write modules; a double underscore in a name is a folder."""
        for name, text in files.items():
            path = self.folder / (name.replace("__", "/") + ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def __call__(
        self, *args: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run pytest to its end."""
        return subprocess.run(
            [self.runner, "-m", "pytest", "-W", "ignore", *args],
            cwd=cwd or self.folder,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
