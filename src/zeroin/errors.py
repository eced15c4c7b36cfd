"""What can go wrong, each with its exit code and the next command to type.

Every message answers three questions: what happened, what is the likely cause, and what
to type next. `fronts` turns these into text; nobody else prints them.
"""

from __future__ import annotations

OK = 0
NO = 1  # the question was answered, and the answer is no
USAGE = 2
BUG = 3  # ours
HANG = 124  # what timeout(1) uses as well
UNTESTABLE = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127
INTERRUPTED = 130


class ZeroinError(Exception):
    """A failure we understand: said in one line, with the next command."""

    exit_code = NO

    def __init__(self, message: str, *, hint: str = "") -> None:
        """`hint` is what to do next: one line, ideally a command to copy."""
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ZeroinError):
    """The command line asks for something that does not exist or does not fit."""

    exit_code = USAGE


class UntestableError(ZeroinError):
    """The cycle could not be run at all, so it says nothing about the program."""

    exit_code = UNTESTABLE


class CommandNotFoundError(ZeroinError):
    """The user's command can't be started; same codes as a shell would give."""

    exit_code = NOT_FOUND


class StoreError(ZeroinError):
    """The record can't be read or written."""
