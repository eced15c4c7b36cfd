"""What the tests stand on: the interpreters here, a clean environment, a terminal, `needs`."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import glob
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pexpect
import pytest

import run_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Self, TypeVar

    Found = TypeVar("Found")

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
IN_CI = os.environ.get("CI") == "true"

OLDEST_AGENT = (3, 9)
OLDEST_DRIVER = (3, 11)
NEWEST = (3, 14)  # up to here, what isn't on the machine is named in the header


def find_once(name: str, find: Callable[[], Found]) -> Found:
    """Look once a session: the workers of pytest-xdist inherit what their parent found."""
    variable = f"ZEROIN_TEST_FOUND_{name.upper()}"
    if variable not in os.environ:
        os.environ[variable] = json.dumps(find())
    return json.loads(os.environ[variable])


# --- interpreters ----------------------------------------------------------------


@functools.cache
def interpreters() -> dict[str, str]:
    """Every CPython from 3.9 on that really starts here, one a minor version, oldest first."""
    return find_once("pythons", _find_interpreters)


def chosen_versions() -> list[str]:
    """Name the interpreters of this run, oldest first: all, or our own, the oldest, the newest."""
    found = list(interpreters())
    own = f"3.{sys.version_info[1]}"
    return found if run_size.FULL else [v for v in found if v in (found[0], own, found[-1])]


def drivers() -> dict[str, str]:
    """Give the interpreters that the driver runs on."""
    return {v: path for v, path in interpreters().items() if as_numbers(v) >= OLDEST_DRIVER}


def as_numbers(version: str) -> tuple[int, ...]:
    """Make "3.11" comparable."""
    return tuple(int(part) for part in version.split("."))


def not_here(found: Mapping[str, str], oldest: tuple[int, int]) -> list[str]:
    """Name the minor versions that this machine lacks."""
    minors = range(oldest[1], NEWEST[1] + 1)
    return [f"3.{minor}" for minor in minors if f"3.{minor}" not in found]


def _find_interpreters() -> dict[str, str]:
    candidates = list(dict.fromkeys(_candidates()))
    with ThreadPoolExecutor(8) as pool:
        answers = list(zip(candidates, pool.map(_version_of, candidates), strict=True))
    best: dict[str, tuple[tuple[int, ...], str]] = {}
    for path, version in answers:
        minor = f"{version[0]}.{version[1]}" if version else ""
        if version and version[:2] >= OLDEST_AGENT and best.get(minor, ((), ""))[0] < version:
            best[minor] = (version, path)
    best[f"3.{sys.version_info[1]}"] = (sys.version_info[:3], bare_python())
    return {minor: best[minor][1] for minor in sorted(best, key=as_numbers)}


def _candidates() -> Iterator[str]:
    roots = [os.environ.get("PYENV_ROOT"), os.path.expanduser("~/.pyenv")]
    for root in filter(None, roots):
        yield from glob.glob(f"{root}/versions/3.*/bin/python3")
    yield from glob.glob(os.path.expanduser("~/.local/share/uv/python/cpython-3.*/bin/python3"))
    for folder in plain_path().split(os.pathsep):
        names = (name for name in _list(folder) if re.fullmatch(r"python3\.\d+", name))
        yield from (os.path.join(folder, name) for name in names)


def _list(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _version_of(python: str) -> tuple[int, ...] | None:
    """Ask an interpreter what it is; None for PyPy, for a broken one, for one not ours to run."""
    ask = "import sys; print(*sys.version_info[:3], sys.implementation.name)"
    try:
        command = [python, "-I", "-c", ask]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
        *numbers, name = answer.stdout.split()
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return tuple(map(int, numbers)) if name == "cpython" else None


def base_python() -> str:
    """Give the interpreter below our own virtual environment: nothing of ours is in it."""
    return os.path.realpath(sys.executable)


def bare_python() -> str:
    """Make an environment on our own interpreter that nothing is installed in; its Python."""
    home = ROOT / ".venvs" / "bare"
    python = home / "bin" / "python"
    if not (home / "pyvenv.cfg").exists() or python.resolve() != Path(base_python()):
        place_python(home, base_python())
    return str(python)


def old_pythons() -> list[str]:
    """Give the interpreters of pyenv that are too old for the agent."""
    root = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    versions = os.path.join(root, "versions")
    names = os.listdir(versions) if os.path.isdir(versions) else []
    return [
        os.path.join(versions, n, "bin", "python")
        for n in sorted(names)
        if n.startswith(("2.", "3.6", "3.7", "3.8"))
    ]


def driver_command(version: str) -> list[str]:
    """Give the words that run zeroin on an interpreter; what comes next is zeroin's own.

    Another interpreter than ours gets an environment with only a path to src and
    py-spy beside it, as an install would: PYTHONPATH would leak into the user's program.
    """
    if as_numbers(version) == sys.version_info[:2]:
        return [sys.executable, "-m", "zeroin"]
    home = ROOT / ".venvs" / f"driver-{version}"
    python = home / "bin" / "python"
    home.parent.mkdir(exist_ok=True)
    with (home.parent / f"driver-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_driver(home, drivers()[version]):
            _make_driver(home, drivers()[version])
    return [str(python), "-m", "zeroin"]


def bare_driver() -> list[str]:
    """Give the words that run zeroin on another Python than ours, that has no Zstandard."""
    others = [v for v in drivers() if sys.version_info[:2] != as_numbers(v) < (3, 14)]
    return driver_command(others[-1]) if others else pytest.skip("needs a second Python")


def _is_driver(home: Path, base: str) -> bool:
    try:
        return (home / "made-from").read_text() == f"{base} {SRC}"
    except OSError:
        return False


def _make_driver(home: Path, base: str) -> None:
    shutil.rmtree(home, ignore_errors=True)
    subprocess.run([base, "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "zeroin.pth").write_text(f"{SRC}\n")
    spy = Path(sys.executable).parent / "py-spy"
    if spy.exists():
        (home / "bin" / "py-spy").symlink_to(spy)
    (home / "made-from").write_text(f"{base} {SRC}")


# --- another user -----------------------------------------------------------------


NOBODY = 65534


class PlainUser:
    """Runs zeroin without root's rights, in a folder of its own: `plain("doctor")`."""

    def __init__(self, base: Path, python: str) -> None:
        self.base = base  # below no folder that is closed to others, as those of pytest are
        self.python = python
        self.project = base / "project"
        self.project.mkdir()
        base.chmod(0o755)

    def __call__(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run it in the project, all of which is the user's."""
        env = {"HOME": str(self.base), "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"}
        env |= {"PYTHONPATH": str(SRC), "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": "/tmp"}
        env |= {TEST_ID: os.environ[TEST_ID]} if TEST_ID in os.environ else {}
        return subprocess.run(
            [self.python, "-m", "zeroin", *args],
            cwd=self.project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            **as_nobody(),
        )

    def own(self, group: Mapping[str, int] | None = None) -> None:
        """Give the user all files; some to another group."""
        for path in (self.base, *self.base.rglob("*")):
            if os.geteuid() == 0:
                os.chown(path, NOBODY, (group or {}).get(path.name, NOBODY))


class Somebody:
    """A user with a project of his own, `somebody("log")`, who may or may not be root."""

    def __init__(
        self,
        base: Path,
        words: Sequence[str],
        env: Mapping[str, str],
        identity: Mapping[str, Any],
    ) -> None:
        self.base = base
        self.words = [*words]
        self.env = {**env, "TMPDIR": str(base / "tmp")}
        self.identity = {**identity}
        self.project = base / "project"

    def prepare(self) -> None:
        """Make the project, and a folder for temporary files that can be looked into."""
        make_project(self.project, self.env)
        (self.base / "tmp").mkdir()
        self.own()

    def own(self) -> None:
        """Give the user all that is his."""
        if self.identity:
            for path in (self.base, *self.base.rglob("*")):
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    def start(
        self, *args: str | Path, before: Sequence[str] = (), **how: Any
    ) -> subprocess.Popen[str]:
        """Start zeroin in the project; `before` are words that come before it, of a shell say."""
        options: dict[str, Any] = {
            "cwd": self.project,
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "text": True,
            "errors": "surrogateescape",
            **self.identity,
            **how,
        }
        options["env"] = {**self.env, **how.get("env", {})}
        return subprocess.Popen([*before, *self.words, *map(str, args)], **options)

    def __call__(
        self, *args: str | Path, before: Sequence[str] = (), timeout: float = 60, **how: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        process = self.start(*args, before=before, **how)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def as_nobody() -> dict[str, Any]:
    """What `subprocess` takes to leave root's rights behind; nothing if there are none."""
    return {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}


def plain_python() -> str | None:
    """Give an interpreter for the driver that any user may run, with our sources; None if none."""
    ask = f"import sys; sys.path.insert(0, {str(SRC)!r}); import zeroin.fronts.cli, tomllib"
    for path in (*drivers().values(), "/usr/bin/python3"):
        with contextlib.suppress(OSError):
            done = subprocess.run(
                [path, "-c", ask], check=False, capture_output=True, cwd="/", **as_nobody()
            )
            if done.returncode == 0:
                return path
    return None


# --- what a test needs besides Python ---------------------------------------------


def needs(*things: str) -> pytest.MarkDecorator:
    """Mark a test that needs commands or Debian packages: skipped without, failed in CI."""
    return pytest.mark.needs(*things)


@functools.cache
def packages() -> dict[str, str]:
    """Read which command or file shows that a Debian package is there."""
    lines = (ROOT / "scripts" / "debian-packages.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return {package: sign for package, sign in rows}  # noqa: C416 - the rows are lists


def lack(thing: str) -> str | None:
    """Say why a command or a package can't be used here; None if it can."""
    sign = packages().get(thing, thing)
    if os.path.exists(sign) if sign.startswith("/") else shutil.which(sign):
        return None
    package = next((p for p, s in packages().items() if thing in (p, s)), thing)
    return f"needs {thing}: apt-get install {package}"


LIBRARIES = ["ipdb", "numpy", "pandas", "pydantic", "pytest", "requests", "uvloop", "xdist"]
LIBRARIES += ["torch"] if run_size.FULL else []


def libs_python() -> str:
    """Give the interpreter that has the real libraries, whether it is there or not."""
    default = ROOT / ".venvs" / ("heavy" if run_size.FULL else "libs") / "bin" / "python"
    return os.environ.get("ZEROIN_TEST_LIBS") or str(default)


@functools.cache
def lack_of_libs() -> str | None:
    """Say why the environment with the real libraries can't be used; None if it can."""
    return find_once("libs", _find_lack_of_libs)


def _find_lack_of_libs() -> str | None:
    ask = f"from importlib.util import find_spec as f; print(*[n for n in {LIBRARIES} if not f(n)])"
    try:
        command = [libs_python(), "-I", "-c", ask]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        return f"needs the libraries of scripts/*libs.txt: make setup ({type(error).__name__})"
    missing = answer.stdout.strip()
    return f"needs {missing}, which {libs_python()} lacks: make setup" if missing else None


# --- a clean environment ------------------------------------------------------------

INHERITED = ("LANG", "LD_LIBRARY_PATH", "LOGNAME", "SHELL", "TMPDIR", "TZ", "USER")


def plain_path() -> str:
    """Give PATH without pyenv's shims and without our own environment."""
    ours = os.path.dirname(sys.executable)
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    kept = [f for f in folders if f and f != ours and os.path.basename(f) != "shims"]
    return os.pathsep.join(dict.fromkeys(kept))


def place_python(home: Path, python: str) -> None:
    """Make `bin/python` and `bin/python3` in an environment that nothing is installed in.

    What is installed beside the interpreter itself is not the user's, and some of it takes longer
    to start than the interpreter: whatever `.pth` files of site-packages import.
    """
    (home / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("python", "python3"):
        (home / "bin" / name).unlink(missing_ok=True)
        (home / "bin" / name).symlink_to(python)
    base = os.path.dirname(os.path.realpath(python))
    (home / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")


def tools_of(base: Path) -> Path:
    """Give the folder with the `python` of a user's environment below `base`."""
    return base / "users-python" / "bin"


def clean_environment(base: Path) -> dict[str, str]:
    """Make a user's environment below `base`: own home, plain `python`, nothing of ours."""
    tools = tools_of(base)
    if not (tools / "python").exists():
        place_python(tools.parent, base_python())
    env = {name: os.environ[name] for name in INHERITED if name in os.environ}
    env.setdefault("LANG", "C.UTF-8")
    env["PATH"] = f"{tools}{os.pathsep}{plain_path()}"
    env["TERM"] = "xterm-256color"
    homes = {
        "HOME": "home",
        "XDG_CACHE_HOME": "home/.cache",
        "XDG_CONFIG_HOME": "home/.config",
        "XDG_RUNTIME_DIR": "runtime",
        "XDG_STATE_HOME": "home/.local/state",
    }
    for name, below in homes.items():
        folder = base / below
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        env[name] = str(folder)
    if TEST_ID in os.environ:
        env[TEST_ID] = os.environ[TEST_ID]
    return env


class Zeroin:
    """Runs zeroin as a user would, in a clean environment: `zeroin("run", "--", "true")`."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.driver = driver_command(f"3.{sys.version_info[1]}")

    @property
    def env(self) -> dict[str, str]:
        """The environment of a run to which nothing is added."""
        return clean_environment(self.base)

    def __call__(
        self,
        *args: str | Path,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        input: str | None = None,  # noqa: A002 - subprocess's own word
        timeout: float = 60,
        driver: Sequence[str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end; `env` is added to the clean environment."""
        return subprocess.run(
            [*(driver or self.driver), *map(str, args)],
            cwd=cwd or self.base,
            env=self.env | dict(env or {}),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout,
            check=False,
        )


def make_project(folder: Path, env: Mapping[str, str]) -> Path:
    """Make a git repository with a commit of all files, in which the user can commit."""
    has_files = folder.is_dir() and any(folder.iterdir())
    shutil.copytree(_project_pattern(), folder, dirs_exist_ok=True)
    if has_files:
        _git(folder, env, "add", "-A")
        _git(folder, env, "commit", "-q", "--amend", "-m", "first")
    else:  # the copy is a file that the index has not seen: to some commands it is a changed one
        _git(folder, env, "update-index", "-q", "--refresh")
    return folder


@functools.cache
def _project_pattern() -> str:
    """Make the repository that all projects of this process are copies of."""
    folder = tempfile.mkdtemp(prefix="zeroin-project-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    env = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
    Path(folder, "train.py").write_text("print('training')\n")
    _git(folder, env, "-c", "init.defaultBranch=main", "init", "-q", "--template=")
    with open(f"{folder}/.git/config", "a") as config:
        config.write("[user]\n\tname = A Tester\n\temail = tester@example.invalid\n")
    _git(folder, env, "add", "-A")
    _git(folder, env, "commit", "-q", "-m", "first")
    for name in ("hooks", "info"):
        os.mkdir(f"{folder}/.git/{name}")
    return folder


def _git(folder: str | Path, env: Mapping[str, str], *words: str) -> None:
    plain = {**env, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *words], cwd=folder, env=plain, check=True, capture_output=True)


# --- a terminal -----------------------------------------------------------------------


class Terminal:
    """A command in a real terminal of its own, with somebody typing."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | str | None = None,
        env: Mapping[str, str] | None = None,
        rows: int = 24,
        cols: int = 80,
        timeout: float = 30,
    ) -> None:
        program, *args = map(str, command)
        self._seen = _Seen()
        with warnings.catch_warnings():
            # From 3.12 on, forkpty warns when there are threads; pytest-xdist has one.
            warnings.simplefilter("ignore", DeprecationWarning)
            self.process = pexpect.spawn(
                program,
                args,
                cwd=str(cwd) if cwd else None,
                env=dict(env) if env is not None else os.environ.copy(),
                dimensions=(rows, cols),
                timeout=timeout,
                encoding="utf-8",
                codec_errors="replace",
            )
        self.process.delaybeforesend = None
        self.process.delayafterclose = self.process.delayafterterminate = 0.01
        self.process.ptyproc.delayafterclose = self.process.ptyproc.delayafterterminate = 0.01
        self.process.logfile_read = self._seen

    @property
    def text(self) -> str:
        """Everything the terminal has shown that was read so far."""
        return "".join(self._seen.parts)

    @property
    def before(self) -> str:
        """What came before the last thing expected."""
        return self.process.before or ""

    def expect(self, wanted: str | re.Pattern[str], timeout: float = -1) -> str:
        """Wait until a text, or a match of a compiled pattern, is shown; give what was shown."""
        wait = self.process.expect_exact if isinstance(wanted, str) else self.process.expect
        try:
            wait(wanted, timeout=timeout)
        except (pexpect.TIMEOUT, pexpect.EOF) as error:
            what = type(error).__name__
            raise AssertionError(
                f"{what} while waiting for {wanted!r}; shown:\n{self.text}"
            ) from None
        return str(self.process.after)

    def send(self, text: str) -> None:
        r"""Type; Enter is "\r", Ctrl-C "\x03", Ctrl-Z "\x1a"."""
        self.process.send(text)

    def line(self, text: str) -> None:
        """Type a line and Enter."""
        self.send(f"{text}\r")

    def resize(self, rows: int, cols: int) -> None:
        """Change the window's size, as a user dragging its corner does."""
        self.process.setwinsize(rows, cols)

    def wait(self, timeout: float = -1) -> int:
        """Read to the end; the exit code, or minus the signal's number."""
        try:
            self.process.expect(pexpect.EOF, timeout=timeout)
        except pexpect.TIMEOUT:
            raise AssertionError(f"still running; shown:\n{self.text}") from None
        self.process.wait()
        status = self.process.exitstatus
        return -self.process.signalstatus if status is None else status

    def close(self) -> None:
        """End the command, if it hasn't ended, and the terminal."""
        self.process.close(force=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Seen:
    """The file that pexpect wants for what it reads."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def write(self, text: str) -> None:
        self.parts.append(text)

    def flush(self) -> None:
        pass


# --- what a test left running ------------------------------------------------------------

TEST_ID = "ZEROIN_TEST_ID"
PATIENCE = 2.0  # seconds that what a test has started may take to end after it
# What lives as long as the test process: not the test's doing.
HELPERS = (
    b"multiprocessing.resource_tracker",
    b"multiprocessing.forkserver",
    b"library_server.py",  # tests/warm_libraries.py
)


def processes() -> set[int]:
    """List the processes that there are."""
    return {int(name) for name in os.listdir("/proc") if name.isdecimal()}


def wait_for_end(process: subprocess.Popen[Any], timeout: float) -> int:
    """Wait for a child; at once when it ends, where `Popen.wait` would look each 50 ms."""
    if process.poll() is not None:
        return int(process.returncode)
    ended = os.pidfd_open(process.pid)
    try:
        select.select([ended], [], [], timeout)
    finally:
        os.close(ended)
    return process.wait(0)


def children() -> set[int]:
    """List our own children, those that didn't exec and so carry no mark included."""
    found: set[int] = set()
    for task in glob.glob("/proc/self/task/*/children"):
        with contextlib.suppress(OSError):
            found.update(map(int, Path(task).read_text().split()))
    return found


def parent_of(pid: int) -> int:
    """Give the parent of a process; 0 when it is gone."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def marked(mark: str, among: set[int] | None = None) -> set[int]:
    """Pick the processes that inherited this test's mark, wherever they hang by now."""
    wanted = f"{TEST_ID}={mark}".encode()
    found = set()
    for pid in processes() if among is None else among:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
            if wanted in file.read().split(b"\0"):
                found.add(pid)
    return found


def left_running(mark: str, before: set[int], patience: float | None = None) -> dict[int, str]:
    """Give what the test left behind, after what was ending anyway has had time to."""
    until = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        new = processes() - before - {os.getpid()}
        pids = marked(mark, new) | (children() & new)
        left = {pid: line for pid in pids if (line := _command_line(pid)) is not None}
        if not left or time.monotonic() > until:
            return left
        time.sleep(0.02)


def _command_line(pid: int) -> str | None:
    try:
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return None
    if any(helper in line for helper in HELPERS):
        return None
    shown = line.replace(b"\0", b" ").decode(errors="replace").strip()
    return f"{shown or '?'} (zombie, never waited for)" if state == "Z" else shown or "?"


def end(pids: Mapping[int, str]) -> None:
    """Kill what a test left, so that it doesn't hurt the next one."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
