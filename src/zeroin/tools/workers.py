"""Processes that run the command again and again, each time otherwise, several at once.

Each is forked from the driver, so it needs nothing loaded, and it ends with it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import traceback
from typing import TYPE_CHECKING, Any, Protocol

from zeroin.emulate import kernel
from zeroin.errors import UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from zeroin.cycle import Outcome

LENGTH = 4  # bytes
PATIENCE = 2.0  # seconds for tidying up
LOOK = 0.01  # seconds between two looks whether it has ended


class Answer(NamedTuple):
    """How it went; `error` if it could not be tried at all."""

    outcome: Outcome | None
    error: str = ""
    hint: str = ""
    resumed: bool = False
    reason: str = ""  # why it was not resumed, or won't be
    about: Any = None  # what else was seen
    pace: Any = None  # how long the command took, and how it was run
    clues: Any = ()  # what it said of its failure, if that was asked for,
    used: Any = ()  # and what it has opened


class Refused(NamedTuple):
    """What a worker can't do its work without is not there: room on a disk, a right."""

    message: str
    hint: str = "the tries need room for their folders; set TMPDIR to a folder that has it"


class Servant(Protocol):
    """What a worker does, in its own process."""

    def tried(self, order: Any) -> Answer:
        """Run the command as the order says."""

    def close(self) -> None:
        """There are no more orders."""


class Worker:
    """The driver's end of one."""

    def __init__(self, make: Callable[[], Servant], others: Sequence[Worker]) -> None:
        self.socket, theirs = socket.socketpair()
        self.is_lost = False  # it was killed by somebody
        driver = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            for one in (self, *others):
                one.socket.close()  # with a copy here, none of them would see its end
            _serve(theirs, make, driver)
        theirs.close()

    def send(self, order: object) -> None:
        """Let it try that; one that has ended before has said why, or is found to be lost."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            _send(self.socket, order)

    def receive(self) -> Answer:
        """What came of it."""
        answer = _receive(self.socket)
        if isinstance(answer, Answer):
            return answer
        if isinstance(answer, Refused):
            raise UntestableError(answer.message, hint=answer.hint)
        if isinstance(answer, str):
            raise RuntimeError(answer)  # noqa: TRY004 - a bug of ours, with its traceback
        self.is_lost = True
        return Answer(None, "a process of ours that ran the command has ended")

    def close(self) -> None:
        """End it, and what it runs; without an order it tidies up first."""
        self.socket.close()
        try:
            _await_end(self.pid, PATIENCE)
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def kill(self) -> None:
        """End it and all that it runs, at once: nobody wants to know any more."""
        end_all([self])


def end_all(workers: Sequence[Worker]) -> None:
    """Several at once: each needs a moment for that."""
    for worker in workers:
        worker.socket.close()  # what it has to say it can't say any more, and ends
        _kill_below(worker.pid)
    for worker in workers:
        while not _has_ended(worker.pid):
            _kill_below(worker.pid)
            _await_end(worker.pid, LOOK)


def _has_ended(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _kill_below(pid: int) -> None:
    for one in tree.descendants(pid):
        try:
            os.kill(one, signal.SIGKILL)
        except ProcessLookupError:
            continue


def _await_end(pid: int, seconds: float) -> None:
    fd = os.pidfd_open(pid)
    try:
        select.select([fd], [], [], seconds)
    finally:
        os.close(fd)


def _send(sock: socket.socket, message: object) -> None:
    body = pickle.dumps(message)
    sock.sendall(len(body).to_bytes(LENGTH, "big") + body)


def _receive(sock: socket.socket) -> object:
    """None at the end, also where the other was killed amidst its words."""
    try:
        with sock.makefile("rb") as file:
            head = file.read(LENGTH)
            body = file.read(int.from_bytes(head, "big")) if len(head) == LENGTH else b""
    except ConnectionResetError:
        return None
    return pickle.loads(body) if body else None  # noqa: S301 - from a process that we forked


# --- its own side -------------------------------------------------------------------------------


def _serve(sock: socket.socket, make: Callable[[], Servant], driver: int) -> None:
    """Until the driver is gone."""
    code = 1
    try:
        os.setsid()  # Ctrl-C is for the driver
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        kernel.die_with_parent(signal.SIGTERM)
        tree.adopt_orphans()  # so that whoever kills us finds all that we have started
        if os.getppid() == driver:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            servant = make()
            while (order := _receive(sock)) is not None:
                signal.signal(signal.SIGTERM, _end_with_all)
                _send(sock, servant.tried(order))
            servant.close()
        code = 0
    except BrokenPipeError:
        pass  # the driver has ended
    except (ZeroinError, OSError) as error:
        with contextlib.suppress(OSError):
            _send(sock, Refused(_in_words(error)))
    except Exception:
        with contextlib.suppress(OSError):
            _send(sock, traceback.format_exc())
    finally:
        _kill_below(os.getpid())  # whatever the command has left behind
        os._exit(code)


def _end_with_all(*_: object) -> None:
    """Not only we: what a build or a command has started would go on, in folders that go."""
    _kill_below(os.getpid())
    os._exit(1)


def _in_words(error: ZeroinError | OSError) -> str:
    if isinstance(error, ZeroinError):
        return error.message
    words = os.strerror(error.errno).lower() if error.errno else str(error)
    return f"{error.filename or 'a folder of ours'}: {words}"
