"""Side by side with other tools: how quick an edit is, and whether its outcome is a cold run's.

The edits are those of warm_edits.py, each in a project and a session of its own. A cold run
before and after the edit says what is right: what `finish` printed, the exception, and the line
it was raised at. `%autoreload` and jurigged keep the prepared state, and finish again; with
`%autoreload` that is done by hand, and only its own time counts. marimo runs the cells again
that use a module. An edit that jurigged or marimo takes no notice of is finished by hand as
well. Peers are installed with `--peers`, into .cache.
"""

from __future__ import annotations

import functools
import os
import re
import select
import shutil
import signal
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.measure import CommandFailedError
from bench.report import Goal, Row, ms
from bench.warm_edits import EDITS, MAIN, MARK, Edit
from bench.warm_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from bench.scene import Scene

# name → its packages, and a word that shows that they are there.
PEERS = {
    "watchfiles": (["watchfiles"], "watchfiles"),
    "%autoreload 2": (["ipython"], "IPython"),
    "jurigged": (["jurigged"], "jurigged"),
    "marimo": (["marimo"], "marimo"),
    "reloadium": (["reloadium"], "reloadium"),
}
CACHE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".cache")
END = "=== end\n"
LIMIT = 60.0
QUICK = 8


class Tried(NamedTuple):
    """One edit on one tool."""

    printed: str  # after the edit
    seconds: float | None  # None when it was not noticed
    note: str = ""


def measure(scene: Scene) -> list[Row]:
    """Every edit on every tool."""
    tools, missing = _tools(scene)
    edits = EDITS[:: len(EDITS) // QUICK] if scene.quick else EDITS
    tried: dict[str, dict[str, Tried]] = {name: {} for name in tools}
    right: dict[str, str] = {}
    cold: list[float] = []
    for number, edit in enumerate(edits):
        folder = _project(scene, f"edit{number}", edit)
        before, _ = _cold(scene, folder)
        after, took = "", 0.0
        for name, tool in tools.items():
            place = _project(scene, f"edit{number}-{re.sub(r'[^a-z]', '', name)}", edit)
            try:
                tried[name][edit.name] = tool(scene, place, edit)
            except (CommandFailedError, OSError, ValueError) as error:
                tried[name][edit.name] = Tried("", None, f"{type(error).__name__}: {error}")
        _apply(folder, edit)
        after, took = _cold(scene, folder)
        if outcome(before) == outcome(after):
            missing.append(f"{edit.name}: left out, a cold run says the same after it")
            continue
        right[edit.name] = after
        cold.append(took)
    rows = [
        Row(
            "a cold run, started by hand",
            f"{ms(min(cold)):>9} ({ms(statistics.median(cold))})",
            f"{len(right)} of {len(right)} right",
            values={"median": statistics.median(cold), "right": len(right), "of": len(right)},
        )
    ]
    rows += [_row(name, tried[name], right) for name in tools]
    return rows + [Row(line) for line in missing]


def outcome(printed: str) -> tuple[str, ...]:
    """What counts: what `finish` printed, the exception and the line it was raised at."""
    text = printed.rpartition(f"{MARK}\n")[2] if MARK in printed else printed
    text = re.sub(r"^\[\d\d:\d\d:\d\d\] .*\n", "", text)  # of watchfiles itself
    trace = text.find("Traceback (most recent call last)")
    if trace < 0:
        return tuple(text.split("\n"))
    text = re.sub(r"\. Did you mean: .*\?$", "", text, flags=re.MULTILINE)  # by who prints it
    lines = re.findall(r'File ".*?(\w+\.py)", line (\d+)', text[trace:])
    last = [line for line in text[trace:].splitlines() if re.match(r"\w*(Error|Exception)\b", line)]
    return (text[:trace], *(lines[-1] if lines else ()), *last[-1:])


def _row(name: str, tried: dict[str, Tried], right: dict[str, str]) -> Row:
    times = [one.seconds for key, one in tried.items() if key in right and one.seconds is not None]
    good = [key for key in right if _is_right(name, tried[key], right[key])]
    wrong = [key for key in right if key not in good]
    whole = len(good) == len(right)
    goals = (Goal("target: all as a cold run", whole),) if name == "zeroin loop" else ()
    notes = [f"{key} ({tried[key].note})" if tried[key].note else key for key in wrong]
    shown = f"; wrong: {', '.join(notes)}" if wrong else ""
    return Row(
        name,
        f"{ms(min(times)):>9} ({ms(statistics.median(times))})" if times else "",
        f"{len(good)} of {len(right)} right; {len(right) - len(times)} not noticed{shown}",
        goals,
        {
            "median": statistics.median(times) if times else None,
            "right": len(good),
            "of": len(right),
            "wrong": wrong,
        },
    )


def _is_right(name: str, one: Tried, right: str) -> bool:
    """Tools that run all of it again have to print all of it again."""
    if name == "zeroin loop" and one.printed != right:
        return False
    return outcome(one.printed) == outcome(right)


# --- projects -------------------------------------------------------------------------------


def _project(scene: Scene, name: str, edit: Edit) -> str:
    folder = os.path.join(scene.make("edits"), name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for file, text in {"main.py": MAIN, **edit.before}.items():
        _write(os.path.join(folder, file), text)
    return folder


def _apply(folder: str, edit: Edit) -> float:
    path = os.path.join(folder, edit.file)
    at = time.perf_counter()
    if edit.after is None:
        os.unlink(path)
    else:
        _write(path, edit.after)
    return at


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def _env(scene: Scene) -> dict[str, str]:
    # Caches are made by the second, and an edit here comes within one.
    return {**scene.env, "PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1"}


# --- the tools ------------------------------------------------------------------------------


def _tools(
    scene: Scene,
) -> tuple[dict[str, Callable[[Scene, str, Edit], Tried]], list[str]]:
    found: dict[str, Callable[[Scene, str, Edit], Tried]] = {"zeroin loop": _looped}
    if not scene.peers:
        return found, [f"{', '.join(PEERS)}: not measured without --peers"]
    missing = []
    makers = {
        "watchfiles": _watched,
        "%autoreload 2": _reloaded,
        "jurigged": functools.partial(_noticed, "warm_jurigged.py", (0.4, 3.0)),
        "marimo": functools.partial(_noticed, "warm_marimo.py", (2.5, 20.0)),
    }
    for name, (packages, module) in PEERS.items():
        if name not in makers:
            missing.append(f"{name}: left out, it can't be driven without an editor")
            continue
        try:
            python = _install(name, packages, module)
        except (OSError, subprocess.SubprocessError) as error:
            missing.append(f"{name}: can't be installed here ({type(error).__name__})")
            continue
        found[name] = makers[name](python)
    return found, missing


def _install(name: str, packages: list[str], module: str) -> str:
    """An environment of its own, kept for the next time."""
    folder = os.path.join(CACHE, "bench-peers", re.sub(r"[^a-z]", "", name))
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        for words in (
            [os.path.realpath(sys.executable), "-m", "venv", "--clear", folder],
            [python, "-m", "pip", "-q", "install", *packages],
            [python, "-c", f"import {module}"],
        ):
            subprocess.run(
                words, check=True, timeout=600, stdin=subprocess.DEVNULL, capture_output=True
            )
        _write(os.path.join(folder, "ready"), "")
    return python


def _cold(scene: Scene, folder: str) -> tuple[str, float]:
    started = time.perf_counter()
    done = subprocess.run(
        [os.path.realpath(scene.python), "main.py"],
        cwd=folder,
        env=_env(scene),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT,
        check=False,
    )
    return done.stdout.replace(folder, "."), time.perf_counter() - started


def _looped(scene: Scene, folder: str, edit: Edit) -> Tried:
    words = [os.path.realpath(scene.python), "main.py"]
    with Loop(scene, folder, words) as loop:
        loop.first()
        time.sleep(0.3)
        started = _apply(folder, edit)
        done = loop.next(started, LIMIT)
    shown = done.shown.replace(folder, ".")
    return Tried(shown, done.seconds, f"{done.line['mode']} {done.line['reason']}".strip())


class _Session:
    """A process that prints END after each outcome."""

    def __init__(self, scene: Scene, folder: str, words: list[str]) -> None:
        self._process = subprocess.Popen(
            words,
            cwd=folder,
            env=_env(scene),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self._process.pid, signal.SIGKILL)  # and what it had started
        except ProcessLookupError:
            pass
        self._process.wait()
        for end in (self._process.stdin, self._process.stdout):
            if end is not None:
                end.close()

    def say(self) -> None:
        """Finish again."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"again\n")
        self._process.stdin.flush()

    def until_end(self, limit: float = LIMIT) -> str | None:
        """What it prints up to the next END; None if that does not come."""
        assert self._process.stdout is not None
        fd, data, until = self._process.stdout.fileno(), b"", time.monotonic() + limit
        while not data.endswith(END.encode()):
            ready, _, _ = select.select([fd], [], [], max(0.0, until - time.monotonic()))
            if not ready:
                return None
            part = os.read(fd, 1 << 16)
            if not part:
                raise CommandFailedError(f"it has ended: {data[-300:]!r}")
            data += part
        return data.decode("utf-8", "replace").removesuffix(END)


def _watched(python: str) -> Callable[[Scene, str, Edit], Tried]:
    """`watchfiles` runs the command anew: cold by construction."""

    def once(scene: Scene, folder: str, edit: Edit) -> Tried:
        plain = os.path.realpath(scene.python)
        line = f"sh -c '{plain} main.py; echo \"{END.strip()}\"'"
        words = [python, "-m", "watchfiles", "--filter", "all", "--verbosity", "warning", line, "."]
        with _Session(scene, folder, words) as session:
            session.until_end()
            time.sleep(0.5)
            started = _apply(folder, edit)
            printed = session.until_end()
            return Tried(printed or "", time.perf_counter() - started if printed else None)

    return once


def _reloaded(python: str) -> Callable[[Scene, str, Edit], Tried]:
    """`%autoreload 2`: the user runs the last cell again."""

    def once(scene: Scene, folder: str, edit: Edit) -> Tried:
        words = [python, scene.program("warm_autoreload.py")]
        with _Session(scene, folder, words) as session:
            session.until_end()
            time.sleep(1.1)  # it goes by the time of files
            _apply(folder, edit)
            started = time.perf_counter()
            session.say()
            printed = session.until_end()
            return Tried(printed or "", time.perf_counter() - started)

    return once


def _noticed(
    driver: str, seconds: tuple[float, float], python: str
) -> Callable[[Scene, str, Edit], Tried]:
    """Tools that see a save themselves; what they take no notice of is finished by hand.

    `seconds`: until it has surely begun to watch, and until it has surely not noticed.
    """
    quiet, patience = seconds

    def once(scene: Scene, folder: str, edit: Edit) -> Tried:
        with _Session(scene, folder, [python, scene.program(driver)]) as session:
            session.until_end()
            while session.until_end(quiet) is not None:  # until it has begun to watch
                pass
            started = _apply(folder, edit)
            printed = session.until_end(patience)
            if printed is not None:
                return Tried(printed, time.perf_counter() - started)
            session.say()
            return Tried(session.until_end() or "", None)

    return once
