"""The process that watches a run under limits, and ends and tidies up if the driver is killed.

A copy of the driver: it needs nothing loaded, and it ends with the run. The end of a pipe that only
the driver holds tells it that nobody else will clean up.
"""

from __future__ import annotations

import os
import select
import signal
import time

from zeroin.emulate.folders import remove_empty
from zeroin.emulate.part import Eyes, Part
from zeroin.run import tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.emulate.watch import Watch

MARK = "ZEROIN_LIMITED"  # in the environment of all that runs under limits
DEAF = (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGHUP, signal.SIGTERM)
TELL, END = b"t", b"."  # what the driver says
LONG = 3600.0
PATIENCE = 3.0  # seconds for those that still use a folder to end
ROUNDS = 500  # of killing what is found
ROUND = 0.01  # seconds


class LimitGuard:
    """The driver's end."""

    def __init__(
        self,
        parts: Sequence[Part],
        name: str,
        folders: Sequence[str],
        made: Sequence[str] = (),
        *,
        wait: bool = False,
    ) -> None:
        """`wait`: come back when it is out of reach of what may be sent to our process group."""
        reading, self._writing = os.pipe2(os.O_CLOEXEC)
        self._told, telling = os.pipe2(os.O_CLOEXEC)
        self._looks = any(type(part).watch is not Part.watch for part in parts)
        driver = os.getpid()
        ready, readying = os.pipe2(os.O_CLOEXEC)
        self.pid = os.fork()
        if not self.pid:
            _serve(reading, telling, readying, driver, parts, name, folders, made)
        for end in (reading, telling, readying):
            os.close(end)
        if wait:
            os.read(ready, 1)  # its end
        os.close(ready)

    def _send(self, word: bytes) -> None:
        try:
            os.write(self._writing, word)
        except OSError:  # somebody killed it
            pass

    def told(self) -> Mapping[str, Any]:
        """What each part's watch told, by its number; it stays until all is tidied up."""
        self._send(TELL)
        if not self._looks:
            return {}
        with open(self._told, "rb", closefd=False) as file:
            return _read(file.read())

    def clean_up(self) -> None:
        """Let it remove what there is, as if we had been killed, and wait for its end."""
        os.close(self._writing)
        os.waitpid(self.pid, 0)
        os.close(self._told)

    def close(self) -> None:
        """Wait for its end: there is nothing left that it would have to remove."""
        self._send(END)
        os.close(self._writing)
        os.waitpid(self.pid, 0)
        os.close(self._told)


class Guarded:
    """The variables for a command without limits that shall not outlive its driver either."""

    def __init__(self, env: Mapping[str, str], folders: Sequence[str]) -> None:
        self._env = env
        self._folders = folders
        self._name = f"{os.getpid()}-{os.urandom(6).hex()}"

    def __enter__(self) -> dict[str, str]:
        self._guard = LimitGuard((), self._name, self._folders)
        tree.HELPERS.add(self._guard.pid)
        return {**self._env, MARK: self._name}

    def __exit__(self, *_: object) -> None:
        self._guard.close()
        tree.HELPERS.discard(self._guard.pid)


def _serve(
    reading: int,
    telling: int,
    readying: int,
    driver: int,
    parts: Sequence[Part],
    name: str,
    folders: Sequence[str],
    made: Sequence[str],
) -> None:
    """In the copy; `made` are the folders that go if they are empty."""
    try:
        # First of all: among them are ends of the output.
        _close_all_but(reading, telling, readying)
        for number in DEAF:
            signal.signal(number, signal.SIG_IGN)
        signal.set_wakeup_fd(-1)
        os.setsid()
        os.close(readying)
        tree.HELPERS.add(os.getpid())
        guard = _Guard(driver, parts)
        word = guard.wait(reading)
        if word == TELL:
            _tell(telling, guard.told())
            os.close(telling)
            word = os.read(reading, 1)
        if word != END:
            _end_marked(name)
            for part in parts:
                part.abandon()
            _remove(folders)
            remove_empty(made, PATIENCE)
    finally:
        os._exit(0)


def _tell(telling: int, found: Mapping[str, Any]) -> None:
    """What is loaded for it would cost every run that has nothing to tell."""
    if found:
        import json

        with open(telling, "wb", closefd=False) as file:
            file.write(json.dumps(found).encode())


def _read(text: bytes) -> Mapping[str, Any]:
    if not text:
        return {}
    import json

    found: Mapping[str, Any] = json.loads(text)
    return found


def _remove(folders: Sequence[str]) -> None:
    import shutil

    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


class _Guard:
    def __init__(self, driver: int, parts: Sequence[Part]) -> None:
        from zeroin.run.glance import Glance

        self._watches: dict[str, Watch] = {}
        for number, part in enumerate(parts):
            watch = part.watch()
            if watch is not None:
                self._watches[str(number)] = watch
        self._due = dict.fromkeys(self._watches, 0.0)
        self._errors: dict[str, str] = {}
        self._began = time.monotonic()
        glance = Glance(driver)
        self._eyes = Eyes(
            glance.members, glance.memory, tree.together, tree.ticks, stacks_with_values
        )

    def wait(self, reading: int) -> bytes:
        """Look at each in its time, until the driver has a word for us, or is gone: b""."""
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        while True:
            now = time.monotonic() - self._began
            due = min(self._due.values(), default=now + LONG)
            if poll.poll(max(0.0, due - now) * 1000):
                return os.read(reading, 1)
            now = time.monotonic() - self._began
            for number, at in list(self._due.items()):
                if at <= now:
                    self._look(number, now)

    def _look(self, number: str, now: float) -> None:
        try:
            self._due[number] = now + self._watches[number].look(self._eyes, now)
        except Exception as error:
            # The others go on; the driver tells that this limit was not held.
            self._errors[number] = f"{type(error).__name__}: {error}"
            del self._due[number]

    def told(self) -> dict[str, Any]:
        """What they all have to say."""
        all_told = ((number, dict(watch.told())) for number, watch in self._watches.items())
        told = {number: words for number, words in all_told if words}
        for number, error in self._errors.items():
            told.setdefault(number, {})["error"] = error
        return told


def stacks_with_values(pids: Sequence[int]) -> list[dict[str, Any]]:
    """As the record has them."""
    from zeroin.observe import stacks

    return [stack.told() for stack in stacks.take(pids, values=True)]


def _end_marked(name: str) -> None:
    """All that ran under the limits, wherever it hangs by now."""
    for _ in range(ROUNDS):
        found = _marked(name)
        below = [pid for one in found for pid in tree.descendants(one)]
        if not tree.tell({*found, *below}, signal.SIGKILL):
            return
        time.sleep(ROUND)


def _marked(name: str) -> list[int]:
    wanted = f"{MARK}={name}".encode()
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdecimal() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/environ", "rb") as file:
                    if wanted in file.read().split(b"\0"):
                        found.append(int(entry))
            except OSError:  # it has ended, or is another user's
                continue
    return found


def _close_all_but(*kept: int) -> None:
    """Others must see the end of what the driver holds when the driver ends."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:  # the one that listed them
                continue
