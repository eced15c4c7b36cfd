"""Which system calls of a process tree failed, about which file, and what that means."""

from zeroin.observe.calls.history import History
from zeroin.observe.calls.parse import Reader
from zeroin.observe.calls.report import Failure, Used

__all__ = ["Failure", "History", "Reader", "Used"]
