"""The socket of the agents is the program's as well: whatever it writes there, the run goes on."""

from __future__ import annotations

import random
import socket
import threading
from pathlib import Path

import pytest

import support
from zeroin.run import inbox as inboxes
from zeroin.run.inbox import Inbox
from zeroin.run.messages import SHAPES, is_message

RUBBISH = support.ROOT / "tests/programs/rubbish.py"


@pytest.mark.parametrize("seed", range(3))
def test_rubbish_in_every_kind_of_message(somebody, seed):
    """Bytes, lengths and types at random, pipes for files: the command's own exit code, no bug."""
    (somebody.project / "rubbish.py").write_text(RUBBISH.read_text())
    done = somebody("run", "--", "python", "rubbish.py", str(seed), "300")
    assert (done.returncode, done.stdout) == (7, "sent\n"), done.stderr
    assert "made no sense and were left out" in done.stderr
    assert "Traceback" not in done.stderr
    for words in (("show",), ("show", "--json"), ("log", "--json"), ("why",)):
        assert somebody(*words).returncode == 0


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--at", "rubbish.py:30", "peek=FOLDER"),
        ("limit", "files=500"),
        ("loop", "--once"),
        ("which", "json.dumps"),
        ("shapes", "rubbish.py"),
        ("leak",),
        ("files",),
        ("nan",),
        ("stacks", "--after", "5s"),
    ],
    ids=lambda words: words[0],
)
def test_rubbish_under_other_verbs(project, zeroin, words):
    """None of them ends with a bug of ours, or hangs at a pipe."""
    (project / "rubbish.py").write_text(RUBBISH.read_text())
    done = zeroin(*words, "--", "python", "rubbish.py", "1", "200", cwd=project, timeout=120)
    assert "bug in zeroin" not in done.stderr, done.stderr
    assert done.returncode != 3


def test_real_messages_fit():
    """What agents send is let through; each kind without its keys is not, unless it has none."""
    assert is_message({"kind": "start", "pid": 1, "python": {"version": "3", "executable": ""}})
    for kind, shape in SHAPES.items():
        needed = [key for key in shape if not key.endswith("?")]
        assert is_message({"kind": kind, "pid": 1}) == (not needed)
        assert not is_message({"kind": kind, "pid": True, **dict.fromkeys(needed)})


def test_numbers_of_a_training_fit():
    """The scale of a GradScaler is larger than any size, and a rank is told as text."""
    end = {"kind": "nan-end", "pid": 1, "library": "torch", "steps": 3, "scales": [8.5e37]}
    assert is_message(end)
    place = {"file": "train.py", "line": 1, "name": "f"}
    first = {"kind": "op", "operation": "div", "phase": "forward", "what": "NaN", "cause": ""}
    first |= {"frames": [place], "inputs": [], "outputs": [], "forward": None}
    found = {"kind": "nan", "pid": 1, "time": 1.0, "what": "NaN", "how": "step", "first": first}
    found |= {"became": None, "affected": [], "affected_count": 0, "weights": []}
    assert is_message({**found, "optimizers": [], "steps": 1, "rank": "1", "final": True})
    assert not is_message({**end, "steps": 1 << 70})


def test_memory_is_bounded(monkeypatch, tmp_path):
    """Senders that never end: neither their number nor what they send grows without a bound."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setattr(inboxes, "MOST_OPEN", 8)
    monkeypatch.setattr(inboxes, "MOST_WAITING", 1 << 16)
    inbox = Inbox()
    lines = []
    try:
        for _ in range(20):
            line = socket.socket(socket.AF_UNIX)
            line.connect(str(Path(inbox.folder) / "agent"))
            lines.append(line)
            assert inbox.accept() is not None
        assert len(inbox._partial) <= 8
        newest = list(inbox._partial)[-1]
        sender = threading.Thread(target=_flood, args=(lines[-1],))
        sender.start()
        while inbox.owns(newest):
            inbox.read(newest)
        lines[-1].close()
        sender.join()
        assert inbox.dropped >= 12
    finally:
        for line in lines:
            line.close()
        inbox.close()


def _flood(line: socket.socket) -> None:
    try:
        while True:
            line.sendall(random.Random(1).randbytes(1 << 14))
    except OSError:
        return
