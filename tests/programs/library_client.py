"""Stands for `python`: hands what it was started with to `library_server.py`, and waits.

It is started very often, so it imports next to nothing.
"""

import _signal
import _socket
import marshal
import os
import struct
import sys

HEAD = struct.Struct("I")
# What cannot be handled, what is about ourselves, and what stops us is not passed on.
KEPT = {_signal.SIGKILL, _signal.SIGSTOP, _signal.SIGCHLD, _signal.SIGTSTP, _signal.SIGTTIN}
KEPT |= {_signal.SIGTTOU, _signal.SIGCONT, _signal.SIGPIPE, _signal.SIGWINCH}


def open_files():
    """Give the numbers of the files that a program started now would inherit."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.get_inheritable(int(name)):
                found.append(int(name))
        except OSError:  # the folder that was listed
            continue
    return sorted(found)


def send_order(server, path):
    """Send all that a program is started with."""
    numbers = open_files()
    umask = os.umask(0)
    os.umask(umask)
    order = marshal.dumps(
        {
            "words": sys.argv[1:],
            "environment": dict(os.environb),
            "umask": umask,
            "files": numbers,
        }
    )
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    rights = struct.pack(f"{len(numbers) + 1}i", here, *numbers)
    server.connect(path)
    server.sendmsg([HEAD.pack(len(order))], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, rights)])
    server.sendall(order)


def pass_signals(server):
    """From now on, the signals that we get are the program's."""

    def pass_on(number, _):
        server.send(bytes([number]))

    for number in _signal.valid_signals() - KEPT:
        if _signal.getsignal(number) != _signal.SIG_IGN:
            _signal.signal(number, pass_on)


def end_alike(status):
    """End as the program has ended."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        import resource  # noqa: PLC0415 - seldom needed

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if -code != _signal.SIGKILL:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
send_order(server, SOCKET)  # noqa: F821 - a line before this text says it
pass_signals(server)
told = server.recv(HEAD.size)
if not told:
    os._exit(70)  # the server has gone
end_alike(HEAD.unpack(told)[0])
