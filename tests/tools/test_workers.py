"""Worker processes of a search: what becomes of one that has ended before it is asked."""

import os

import pytest

from zeroin.errors import UntestableError
from zeroin.tools.workers import Worker


class Unable:
    """A servant that can't begin."""

    def __init__(self):
        raise OSError(28, os.strerror(28))


def test_a_worker_that_could_not_begin_says_why():
    """Also where it has ended before anything was sent to it: a broken pipe is not the end."""
    worker = Worker(Unable, [])
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)  # it is over by now
    worker.send("anything")
    with pytest.raises(UntestableError, match="no space left on device"):
        worker.receive()
    worker.close()


class Dying:
    """A servant whose process ends as soon as it is made."""

    def __init__(self):
        os._exit(7)


def test_a_worker_that_was_killed_is_found_to_be_lost():
    """What was sent to it is answered by that."""
    worker = Worker(Dying, [])
    os.waitid(os.P_PID, worker.pid, os.WEXITED | os.WNOWAIT)
    worker.send("anything")
    answer = worker.receive()
    assert (answer.outcome, worker.is_lost) == (None, True)
    assert answer.error == "a process of ours that ran the command has ended"
    worker.close()
