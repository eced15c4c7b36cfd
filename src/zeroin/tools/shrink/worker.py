"""A process that runs the command with one payload after the other, each time in a fresh view.

It is forked from the driver, so it needs nothing loaded, and it ends with it.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from zeroin.cycle import Kind, Outcome
from zeroin.errors import ZeroinError
from zeroin.run import copies, environment
from zeroin.run.apart import PARENT_DEATH, View
from zeroin.run.execute import Ended, Run
from zeroin.tools.recorder import Recorder
from zeroin.tools.run import Options, execute, outcome_of, stacks_of
from zeroin.tools.shrink.warm import Warm, starting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.cycle import Cycle
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

LENGTH = 4  # bytes


class Order(NamedTuple):
    """One try."""

    command: tuple[str, ...]
    env: Mapping[str, str | None]
    timeout: float | None
    warm: bool = False  # from where the payload is first used, if that can be


class Answer(NamedTuple):
    """How it went; `error` if it could not be tried at all."""

    outcome: Outcome | None
    error: str = ""
    hint: str = ""
    resumed: bool = False
    reason: str = ""  # why it was not resumed, or won't be


class Worker:
    """The driver's end of one."""

    def __init__(
        self,
        cycle: Cycle,
        environ: Mapping[str, str],
        view: View,
        folder: str,
        others: Sequence[Worker],
    ) -> None:
        self.folder = folder  # where the payload is put
        self.socket, theirs = socket.socketpair()
        driver = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            for one in (self, *others):
                one.socket.close()  # with a copy here, none of them would see its end
            _serve(theirs, cycle, environ, view, driver)
        theirs.close()

    def send(self, order: Order) -> None:
        """Let it try what is in its folder."""
        _send(self.socket, order)

    def receive(self) -> Answer:
        """What came of it."""
        answer = _receive(self.socket)
        if isinstance(answer, Answer):
            return answer
        return Answer(None, "a process of ours that ran the command has ended")

    def close(self) -> None:
        """End it, and what it runs."""
        self.socket.close()
        try:
            os.kill(self.pid, signal.SIGTERM)
            os.waitpid(self.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def _send(sock: socket.socket, message: object) -> None:
    body = pickle.dumps(message)
    sock.sendall(len(body).to_bytes(LENGTH, "big") + body)


def _receive(sock: socket.socket) -> object:
    """None at the end."""
    with sock.makefile("rb") as file:
        head = file.read(LENGTH)
        body = file.read(int.from_bytes(head, "big")) if len(head) == LENGTH else b""
    return pickle.loads(body) if body else None  # noqa: S301 - from a process that we forked


# --- its own side -------------------------------------------------------------------------------


def _serve(
    sock: socket.socket, cycle: Cycle, environ: Mapping[str, str], view: View, driver: int
) -> None:
    """Until the driver is gone."""
    code = 1
    try:
        os.setsid()  # Ctrl-C is for the driver
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(PARENT_DEATH, signal.SIGTERM)
        if os.getppid() == driver:
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, 0)
            own = _Own(cycle, environ, view, nothing)
            while isinstance(order := _receive(sock), Order):
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                _send(sock, own.tried(order))
            own.close()
        code = 0
    except OSError:
        pass  # the driver has ended
    finally:
        os._exit(code)


class _Own:
    """What a worker has."""

    def __init__(self, cycle: Cycle, environ: Mapping[str, str], view: View, nothing: int) -> None:
        self._cycle = cycle
        self._environ = environ
        self._view = view
        self._nothing = nothing
        self._warm: Warm | None = None

    def tried(self, order: Order) -> Answer:
        """Run it once."""
        cycle = self._cycle._replace(command=order.command, env=order.env, timeout=order.timeout)
        if self._view.copied:
            cycle = copies.made(self._view, cycle)
        if order.warm and self._warm is None:
            self._warm = Warm(self._view)
        warm = self._warm if order.warm else None
        recorder = Recorder(cycle, self._environ, keep=False)
        env = environment.users(cycle, self._environ)

        def conduct(keeper: Keeper, inbox: Inbox | None, env: dict[str, str]) -> Ended:
            run = Run(keeper, inbox, cycle.timeout)
            how: dict[str, Any] = {
                "targets": (self._nothing, self._nothing),
                "take_stacks": lambda: stacks_of(inbox),
            }
            seen = self._seen(inbox)
            if self._view.copied:
                return run.execute(cycle.command, cycle.cwd, env, **how)
            if warm is not None and inbox is not None:
                return warm.execute(run, cycle, env, inbox, seen, how)
            return run.execute(
                cycle.command, cycle.cwd, env, start=starting(cycle, env, seen), **how
            )

        try:
            seen = execute(cycle, env, Options(brief=True, record=False, conduct=conduct), recorder)
            outcome = outcome_of(cycle, env, seen, recorder)
        except ZeroinError as error:
            return Answer(None, error.message, error.hint)
        if seen.ended.interrupted:
            outcome = outcome._replace(kind=Kind.UNFINISHED)
        if warm is None:
            return Answer(outcome)
        return Answer(outcome, "", "", warm.resumed, warm.reason)

    def _seen(self, inbox: Inbox | None) -> View:
        shared = [inbox.folder] if inbox is not None else []
        if self._warm is not None:
            shared.append(self._warm.engine.folder)
        return self._view._replace(as_is=(*self._view.as_is, *shared))

    def close(self) -> None:
        """End what is kept."""
        if self._warm is not None:
            self._warm.engine.close()
