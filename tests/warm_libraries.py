"""A `python` that has imported torch already: it runs a program in a fork of one that has.

    command = [warm_torch, "-c", "import torch; ..."]

To import torch takes two seconds of processor time. The executables of these fixtures are used
like the interpreter of the fixture `libs`, and have the same libraries; all programs that one of
them runs are forked from one process, which is started once in each process of pytest, when the
first test needs it, and ends with it.
It has working folder, environment, open files, umask, signals and exit code of a process of its
own, and `sitecustomize` is run, so the agent gets in. What is different: libraries are there
before the agent is, the program is no child of who started it, limits of resources are not its
own, and its frames have one frame of `site-packages` below them. So what is claimed about imports,
memory, process trees or starts is tested with the plain `libs`.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

import support

PROGRAMS = Path(__file__).with_name("programs")
PATIENCE = 100  # seconds in which a loaded machine must have imported all of it
# A fork of a process takes the longer the more it has loaded: each has what its programs need.
TABLES = ("numpy", "pyarrow.parquet", "pyarrow.dataset", "pyarrow.feather", "PIL.Image")
TORCH = ("numpy", "torch", "torch._dynamo", "torch.utils.data", "safetensors.torch")


class LibraryServer:
    """The process that has imported the libraries, and the executable that stands for it."""

    def __init__(self, python: str, libraries: tuple[str, ...]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zeroin-libs-"))
        self.executable = self.folder / "bin" / "python"
        socket = self.folder / "socket"
        program = self._place_server()
        self._place_client(python, socket)
        left_out = (support.TEST_ID, "PYTHONPATH", "PYTHONHOME", "PYTHONUNBUFFERED")
        self.process = subprocess.Popen(
            [python, program, socket, *libraries],
            env={name: value for name, value in os.environ.items() if name not in left_out},
            stdin=subprocess.PIPE,  # it ends with us
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        if self.process.stdout.readline() != b"ready\n":
            self.close()
            shutil.rmtree(self.folder)
            pytest.fail(f"{python} can't import {', '.join(libraries)}", pytrace=False)

    def _place_server(self) -> Path:
        """Where no code is taken for the user's."""
        folder = self.folder / "site-packages"
        folder.mkdir()
        program = folder / "library_server.py"
        program.write_text((PROGRAMS / "library_server.py").read_text())
        return program

    def _place_client(self, python: str, socket: Path) -> None:
        self.executable.parent.mkdir()
        text = (PROGRAMS / "library_client.py").read_text()
        self.executable.write_text(f"#!{python} -IS\nSOCKET = {str(socket)!r}\n{text}")
        self.executable.chmod(0o755)

    def close(self) -> None:
        """End it, and what it runs."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


@functools.cache
def start_server(python: str, libraries: tuple[str, ...]) -> LibraryServer:
    """Start it once in this process of pytest."""
    server = LibraryServer(python, libraries)
    atexit.register(server.close)
    return server


def find_executable(libraries: tuple[str, ...]) -> str:
    """Start it if nobody has, and give the path that stands for it."""
    if reason := support.lack_of_libs():
        pytest.skip(reason)
    return str(start_server(support.libs_python(), libraries).executable)


@pytest.fixture(scope="session")
def warm_torch() -> str:
    """Give an executable that is used like the interpreter of `libs`: torch is imported."""
    return find_executable(TORCH)


@pytest.fixture(scope="session")
def warm_tables() -> str:
    """Give an executable that is used like the interpreter of `libs`: pyarrow is imported."""
    return find_executable(TABLES)


@pytest.fixture(scope="session")
def warm_python(request: pytest.FixtureRequest) -> str:
    """Give the executable for a row of a table, which names libraries, or () for a plain one.

    It is started before the test, as the fixture's scope is the session.
    """
    return find_executable(request.param) if request.param else support.libs_python()
