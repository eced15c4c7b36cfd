"""Many edits in a row leave nothing behind: no process, no descriptor, no memory."""

from __future__ import annotations

import os
import time

import support
from looping import Looping

PROGRAM = """\
import time


def prepare():
    state = [list(range(1000)) for _ in range(20)]
    time.sleep(0.06)
    return state


def finish(state):
    return f"edit 0 of {len(state)}"


def main():
    state = prepare()
    print(finish(state))
    if len(state) == 0:
        raise ValueError(state)


main()
"""
EDITS, FIRST_LOOK = 60, 15
MORE = 3  # processes, and descriptors: spares may just be coming or going
MORE_MEMORY = 8 << 20


def _edited(number):
    text = PROGRAM.replace("edit 0 of", f"edit {number} of")
    if number % 10 == 0:  # in what has run: the loop has to go back
        text = text.replace("range(20)", f"range({20 + number})")
    if number % 5 == 0:
        text = text.replace("== 0", "!= 0")
    return text


def _kept(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(word) for word in file.read().split()]


def _look(loop):
    """Processes, descriptors and bytes, once nothing comes or goes any more."""
    pid = loop.process.pid
    before = None
    until = time.monotonic() + 10
    while (now := _kept(pid)) != before and time.monotonic() < until:
        before = now
        time.sleep(0.4)
    with open(f"/proc/{pid}/smaps_rollup") as file:
        pss = next(int(line.split()[1]) * 1024 for line in file if line.startswith("Pss:"))
    return len(now), len(os.listdir(f"/proc/{pid}/fd")), pss


def test_many_edits_leave_nothing_behind(zeroin, project):
    (project / "train.py").write_text(PROGRAM)
    with Looping(zeroin, project, command=[support.base_python(), "train.py"]) as loop:
        loop.line()
        shown = len(loop.shown)
        for number in range(1, EDITS + 1):
            loop.edit("train.py", _edited(number))
            line = loop.line()
            size = 20 + number if number % 10 == 0 else 20
            assert f"edit {number} of {size}\n" in loop.shown[shown:]
            assert line["outcome"] == ("failed" if number % 5 == 0 else "passed")
            shown = len(loop.shown)
            if number == FIRST_LOOK:
                first = _look(loop)
        last = _look(loop)
        assert last[0] <= first[0] + MORE, "processes"
        assert last[1] <= first[1] + MORE, "descriptors of the driver"
        assert last[2] <= first[2] + MORE_MEMORY, "memory of the driver"
        assert loop.quit() == 0


def test_edits_of_one_place_keep_one_snapshot_of_it(zeroin, project, python):
    """Also where the new code takes so long to come in that the next snapshot would be due."""
    many = "".join(f"    x{n % 50} = {n}\n" for n in range(2000))
    text = (
        "from zeroin import checkpoint\n"
        f"def finish(_):\n    text = 'edit 0'\n{many}    return text\n"
        "print(finish(checkpoint()))\n"
    )
    (project / "train.py").write_text(text)
    with Looping(zeroin, project, command=(python, "train.py")) as loop:
        kept = loop.line()["snapshots"]
        saved = []
        for number in range(1, 5):
            loop.edit("train.py", text.replace("edit 0", f"edit {number}"))
            line = loop.line()
            assert (line["mode"], line["resumed_at"]) == ("resumed", "train.py:3")
            assert f"edit {number}\n" in loop.shown
            assert line["snapshots"] <= kept
            saved.append(line["saved_seconds"])
        assert saved == saved[:1] * 4  # no more than it took to come there
