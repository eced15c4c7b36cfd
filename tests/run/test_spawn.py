"""Starting a command by hand."""

import os
import time
from pathlib import Path

import pytest

from zeroin.run.spawn import become, find


def _state(pid):
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.parametrize("fails", [False, True], ids=["then go", "then no command"])
def test_what_is_done_meanwhile_comes_before_the_command(tmp_path, fails):
    """A command that kills us at once must find the guard there; a failed guard, no command."""
    begun = tmp_path / "begun"
    words = ("touch", str(begun))

    def meanwhile(pid):
        until = time.monotonic() + 60
        while _state(pid) not in "SZ":  # it waits for us, or has ended
            assert time.monotonic() < until
        assert not begun.exists()
        if fails:
            raise OSError("no guard")

    start = (find(words[0], str(tmp_path), os.environ), words, str(tmp_path), os.environ, 1, 2)
    if fails:
        with pytest.raises(OSError, match="no guard"):
            become(*start, lambda: None, meanwhile)
    else:
        pid, told = become(*start, lambda: None, meanwhile)
        assert (told, os.waitpid(pid, 0)[1]) == ("", 0)
    assert begun.exists() is not fails
