"""Fixtures for every room, and what a session must have found before it starts."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))
import support
from zeroin.run import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENOUGH = 3  # interpreters for the driver, and for the agent, that CI must have
LIMIT = 300  # seconds that a test may take: it hangs if it takes them
MEMORY = "/dev/shm"
ROOM = 4 << 30  # bytes that must be free there
_numbers = itertools.count()
pytest_plugins = ["left_out", "warm_libraries", "where_time_goes"]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register `needs`; in CI, refuse to pass on a machine that can't test everything."""
    config.addinivalue_line("markers", "needs(*things): commands or Debian packages it runs")
    config.addinivalue_line("markers", "limit(seconds): when it counts as hanging (300)")
    _hear_signals()
    _keep_folders_in_memory()
    lacks = _lacks()
    if support.IN_CI and lacks and not hasattr(config, "workerinput"):
        raise pytest.UsageError("with CI=true nothing may be missing:\n  " + "\n  ".join(lacks))


def _keep_folders_in_memory() -> None:
    """Let pytest make the folders of tests where no write waits for a disk, if there is room.

    Thousands of repositories and records are made and thrown away. On a disk each of them waits
    for its writes, and behind those of everybody else.
    """
    if os.path.ismount(MEMORY) and os.access(MEMORY, os.W_OK):
        told = os.statvfs(MEMORY)
        if told.f_bavail * told.f_frsize >= ROOM:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", MEMORY)


def _hear_signals() -> None:
    """Undo what a background job or nohup inherits: our children would be deaf to Ctrl-C."""
    handlers = {
        signal.SIGINT: signal.default_int_handler,
        signal.SIGQUIT: signal.SIG_DFL,
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGTERM: signal.SIG_DFL,
    }
    for number, handler in handlers.items():
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


def _lacks() -> list[str]:
    lacks = [
        f"the {name} needs {ENOUGH} CPythons, found {len(found)}: {' '.join(found)}"
        for name, found in (("agent", support.interpreters()), ("driver", support.drivers()))
        if len(found) < ENOUGH
    ]
    lacks += filter(None, map(support.lack, support.packages()))
    lacks += filter(None, [support.lack_of_libs()])
    return lacks


def pytest_report_header() -> list[str]:
    """Name the interpreters that the suite runs on, and what it does without."""
    lines = []
    rooms = (
        ("agent", support.interpreters(), support.OLDEST_AGENT),
        ("driver", support.drivers(), support.OLDEST_DRIVER),
    )
    for name, found, oldest in rooms:
        missing = support.not_here(found, oldest)
        absent = f"; not on this machine: {', '.join(missing)}" if missing else ""
        lines.append(f"{name} on: {', '.join(found)}{absent}")
    lacks = [lack for package in support.packages() if (lack := support.lack(package))]
    lacks += filter(None, [support.lack_of_libs()])
    return lines + [f"skipped: what {lack}" for lack in lacks]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what this machine can't run, saying why; in CI that is a failure."""
    for mark in item.iter_markers("needs"):
        for reason in filter(None, map(support.lack, mark.args)):
            _do_without(reason)


def _do_without(reason: str) -> None:
    if support.IN_CI:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


# A busy machine is no reason to fail: nothing here is about how quick it is.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.fixture(autouse=True, scope="session")
def state_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what records in the tests' own process note out of the home of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(autouse=True)
def ends_in_time(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that hangs, so that one hang doesn't cost the whole run."""
    mark = request.node.get_closest_marker("limit")
    seconds = mark.args[0] if mark else LIMIT

    def stop(*_: object) -> None:
        pytest.fail(f"still running after {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, 10)  # again, should somebody swallow the first
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def nothing_left_running(
    monkeypatch: pytest.MonkeyPatch,
    ends_in_time: None,
) -> Iterator[None]:
    """Fail a test that leaves a process behind: the product's users would have it, too."""
    mark = f"{os.getpid()}-{next(_numbers)}"
    monkeypatch.setenv(support.TEST_ID, mark)
    before = support.processes()
    yield
    if tree.adopts_orphans():  # and so would every later test, whose orphans nobody waits for
        tree.release_orphans()
        pytest.fail("the test's own process still adopts orphans", pytrace=False)
    left = support.left_running(mark, before)
    if left:
        support.end(left)
        listed = "\n".join(f"  {pid}: {line}" for pid, line in left.items())
        pytest.fail(f"left running:\n{listed}", pytrace=False)


@pytest.fixture(params=support.interpreters())
def python(request: pytest.FixtureRequest) -> str:
    """Give every CPython from 3.9 on in turn, for what runs inside a user's program."""
    return support.interpreters()[request.param]


@pytest.fixture(params=support.drivers())
def driver(request: pytest.FixtureRequest) -> list[str]:
    """Give the words that run zeroin, on every interpreter the driver supports in turn."""
    return support.driver_command(request.param)


@pytest.fixture
def libs() -> str:
    """Give the interpreter that has numpy, pandas, torch and the rest of scripts/libs.txt."""
    if reason := support.lack_of_libs():
        _do_without(reason)
    return support.libs_python()


@pytest.fixture
def zeroin(tmp_path: Path) -> support.Zeroin:
    """Run zeroin as a user with a home of his own would: `zeroin("log", cwd=project)`."""
    return support.Zeroin(tmp_path)


@pytest.fixture
def plain() -> Iterator[support.PlainUser]:
    """Run zeroin as somebody who is not root, in a folder that is his: `plain("log")`."""
    python = support.plain_python()
    if python is None:
        pytest.skip("needs a Python that other users may run")
    with tempfile.TemporaryDirectory(prefix="zeroin-plain-", dir="/tmp") as folder:
        yield support.PlainUser(Path(folder), python)


@pytest.fixture
def project(tmp_path: Path, zeroin: support.Zeroin) -> Path:
    """Make a user's project: a git repository with a train.py and a first commit."""
    return support.make_project(tmp_path / "project", zeroin.env)


@pytest.fixture
def terminal() -> Iterator[Callable[..., support.Terminal]]:
    """Open real terminals, `terminal(command, rows=…, cols=…)`, and close them at the end."""
    opened: list[support.Terminal] = []

    def open_one(*args: object, **options: object) -> support.Terminal:
        opened.append(support.Terminal(*args, **options))  # type: ignore[arg-type]
        return opened[-1]

    yield open_one
    for one in opened:
        one.close()


@pytest.fixture(params=["ourselves", "plain"])
def somebody(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[support.Somebody]:
    """Run zeroin in a small project, as whoever runs the tests and then as a plain user."""
    if request.param == "ourselves":
        words = support.driver_command(f"3.{sys.version_info[1]}")
        one = support.Somebody(tmp_path, words, support.clean_environment(tmp_path), {})
        one.prepare()
        yield one
        return
    python = support.plain_python()
    if python is None:
        pytest.skip("needs a Python that other users may run")
    with tempfile.TemporaryDirectory(prefix="zeroin-plain-", dir="/tmp") as folder:
        base = Path(folder)
        base.chmod(0o755)
        env = support.clean_environment(base) | {"PATH": f"{base}/users-python/bin:/usr/bin:/bin"}
        env |= {"PYTHONPATH": str(support.SRC), "PYTHONDONTWRITEBYTECODE": "1"}
        support.place_python(base / "users-python", python)
        one = support.Somebody(base, [python, "-m", "zeroin"], env, support.as_nobody())
        one.prepare()
        yield one
