"""The ways a command's output takes: a pseudo-terminal where we are on one, else pipes.

Only the output passes through us. The command keeps our standard input, our process group
and our controlling terminal, so that Ctrl-C, Ctrl-Z, background jobs and password prompts behave
as without us (see docs/decisions). After `kill -9` of us its next print fails. A program that
changes modes on its output's terminal (curses does) changes our pseudo-terminal; `mirror` carries
that over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.run.express import Express

PIPE = 1 << 20  # bytes a pipe holds; what a plain user may ask for
CHUNK = 1 << 20


class Wire:
    """One stream of output, from where the command writes it to where it is shown."""

    def __init__(self, stream: str, source: int, inner: int, target: int) -> None:
        self.stream = stream
        self.source = source
        self.inner = inner  # the command's end; closed here once it has started
        self.target = _own_description(target)
        self.waiting = memoryview(b"")  # what the target could not take yet
        self.mirror: Mirror | None = None
        self.express: Express | None = None
        self.lately = 0  # bytes since someone last looked

    def read(self) -> bytes:
        """The next piece, b"" at the end."""
        try:
            data = os.read(self.source, CHUNK)
        except OSError as error:
            if error.errno == errno.EIO:  # how a pseudo-terminal says "end"
                return b""
            raise
        if self.mirror is not None:
            data = self.mirror.follow(data)
        return data

    def show(self, data: bytes | memoryview) -> bool:
        """Pass on; False when the target can't take more now."""
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self.target, view) :]
            except BlockingIOError:
                self.waiting = view
                return False
        self.waiting = memoryview(b"")
        return True

    @property
    def is_pipes(self) -> bool:
        """Whether both ends are pipes, so that pages can be handed on."""
        ends = (self.source, self.target)
        return all(stat.S_ISFIFO(os.fstat(fd).st_mode) for fd in ends)

    def give_up(self) -> None:
        """Let go of both ends: there will be no command."""
        os.close(self.source)
        os.close(self.inner)

    def close(self) -> None:
        """Let go of our end: a command that still writes gets SIGPIPE, as it would."""
        os.close(self.source)


def lay(out: int, err: int) -> list[Wire]:
    """Make the wires for a command whose output is to appear on `out` and `err`."""
    terminals = [fd for fd in (out, err) if os.isatty(fd)]
    if len(terminals) == 2:
        return [_terminal("tty", out)]
    wires: list[Wire] = []
    try:
        for stream, fd in (("out", out), ("err", err)):
            wires.append(_terminal(stream, fd) if fd in terminals else _pipe(stream, fd))
    except OSError:  # too many files are open
        for wire in wires:
            wire.give_up()
        raise
    return wires


def inner_ends(wires: Sequence[Wire]) -> tuple[int, int]:
    """What becomes the command's stdout and stderr."""
    return wires[0].inner, wires[-1].inner


def _pipe(stream: str, target: int) -> Wire:
    source, inner = os.pipe()
    widen(source)
    if stat.S_ISFIFO(os.fstat(target).st_mode):
        widen(target)
    return Wire(stream, source, inner, target)


def widen(fd: int) -> None:
    """A pipe that holds more wakes its two ends less often."""
    try:
        fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE)
    except (OSError, AttributeError):  # the user's pipes hold too much already
        pass


def _terminal(stream: str, target: int) -> Wire:
    import termios

    source, inner = os.openpty()
    termios.tcsetattr(inner, termios.TCSANOW, termios.tcgetattr(target))
    wire = Wire(stream, source, inner, target)
    wire.mirror = Mirror(source, target)
    wire.mirror.resize()
    return wire


def _own_description(fd: int) -> int:
    """Open a pipe or terminal anew, so that it can be non-blocking for us alone.

    The flag belongs to the open file, which we share with the shell and its other commands.
    """
    mode = os.fstat(fd).st_mode
    if not (stat.S_ISFIFO(mode) or os.isatty(fd)):
        return fd
    try:
        return os.open(
            f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        )
    except OSError:
        return fd


class Mirror:
    """Keeps the real terminal and the command's pseudo-terminal alike."""

    def __init__(self, master: int, terminal: int) -> None:
        import termios

        self.termios = termios
        self.master = master
        self.terminal = terminal
        self.plain = termios.tcgetattr(terminal)
        self.seen = termios.tcgetattr(master)

    def follow(self, data: bytes) -> bytes:
        """Carry a change of modes over, and undo what the inner terminal did to newlines.

        The real terminal turns a newline into carriage return and newline once more.
        """
        modes = self.termios.tcgetattr(self.master)
        if modes != self.seen:
            self.seen = modes
            self._set(modes)
        if modes[1] & self.termios.OPOST and modes[1] & self.termios.ONLCR:
            return data.replace(b"\r\n", b"\n")
        return data

    def begin_anew(self) -> None:
        """The real terminal has been in other hands since."""
        self.plain = self.termios.tcgetattr(self.terminal)
        self.resize()

    def resize(self) -> None:
        """Tell the command's terminal how large ours is."""
        size = fcntl.ioctl(self.terminal, self.termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(self.master, self.termios.TIOCSWINSZ, size)

    def restore(self) -> None:
        """Leave the terminal as it was found, whatever the command died of."""
        if self.termios.tcgetattr(self.terminal) != self.plain:
            self._set(self.plain)

    def _set(self, modes: list[object]) -> None:
        import signal

        # A background job that sets modes would be stopped for it.
        old = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTOU])
        try:
            self.termios.tcsetattr(self.terminal, self.termios.TCSADRAIN, modes)  # type: ignore[arg-type]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, old)
