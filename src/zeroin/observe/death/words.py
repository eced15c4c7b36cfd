"""Signals and exit codes in words."""

from __future__ import annotations

import signal

SIGNALS = {
    "SIGHUP": "its terminal was closed, or somebody told it to hang up",
    "SIGINT": "Ctrl-C, or somebody interrupted it",
    "SIGQUIT": "Ctrl-\\, or somebody asked it to quit with a core dump",
    "SIGILL": "it came to an instruction that this processor does not know",
    "SIGTRAP": "it came to a breakpoint that nobody was waiting at",
    "SIGABRT": "it gave up by itself (abort)",
    "SIGBUS": "memory that a file or /dev/shm stands behind was not there when it was touched",
    "SIGFPE": "an integer was divided by zero, or overflowed",
    "SIGKILL": "it was killed at once, without a chance to say anything",
    "SIGSEGV": "it touched memory that is not its own",
    "SIGPIPE": "it wrote to somebody who had gone (a pipe or a connection that was closed)",
    "SIGALRM": "its own alarm clock rang, and nobody was there to hear it",
    "SIGTERM": "it was asked to end",
    "SIGSYS": "it made a system call that a filter forbids (seccomp)",
    "SIGXCPU": "it used up the CPU time that it may have (ulimit -t)",
    "SIGXFSZ": "it made a file larger than it may (ulimit -f)",
}
CODES = {
    1: "it ended itself with the usual code for a failure",
    2: "it ended itself: wrong usage, for most programs",
    124: "the usual code for a time-out",
    125: "the usual code for something that could not be tested",
    126: "what a shell gives for a command that can't be executed",
    127: "what a shell gives for a command that was not found",
    255: "it ended itself with -1, as ssh does when the connection fails",
}


def of_signal(name: str) -> str:
    """What a signal means."""
    return SIGNALS.get(name, "a signal that it had no handler for")


def of_code(code: int) -> str:
    """What an exit code means; above 128 it may be a signal that a shell passes on."""
    if code in CODES:
        return CODES[code]
    name = signal_of(code)
    if name:
        return f"what a shell gives for a command that {name} ended"
    return "it ended itself with a code of its own"


def signal_of(code: int) -> str:
    """`SIGKILL` for 137, "" for codes that are none."""
    try:
        return signal.Signals(code - 128).name if 128 < code < 193 else ""
    except ValueError:
        return ""
