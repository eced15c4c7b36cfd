"""What `watch` remembers: who came and went, peaks, rates, changes, and when to stop."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from zeroin.errors import CommandNotFoundError, UsageError, ZeroinError
from zeroin.tools.watch import Choice, Session
from zeroin.tools.watch.outputs import marked, plain
from zeroin.tools.watch.until import parse

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = """\
import sys
held = bytearray(int(sys.argv[2]))
held[:] = b"x" * len(held)
del held
print("up", flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
"""


class Victim:
    """A program in a process that is no child of ours: those are ours, and never shown."""

    def __init__(self, folder: Path, word: str, size: int = 0, before: str = "") -> None:
        script = folder / "victim.py"
        script.write_text(HOLDS)
        words = f"{before} {sys.executable} {script} {word} {size}"
        self.process = subprocess.Popen(
            ["bash", "-c", f"{words}; exit $?"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.says()

    def says(self) -> str:
        return self.process.stdout.readline()

    def do(self, code: str) -> None:
        self.process.stdin.write(code + "\n")
        self.process.stdin.flush()
        self.says()

    def end(self) -> None:
        self.process.communicate("")


@pytest.fixture
def victim(tmp_path):
    started = []

    def start(*args, **options):
        started.append(Victim(tmp_path, *args, **options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.end()


@contextlib.contextmanager
def session(*whats, command=(), until=None, interval=0.05, others=True, **choice):
    made = Session(
        whats,
        command,
        Choice(**choice),
        os.environ,
        interval=interval,
        until=parse(until) if until else None,
    )
    if others:  # our children stand for somebody else's
        made._ours = OnlyUs()
    try:
        yield made
    finally:
        made.close()


class OnlyUs(set):
    """Nobody but this very process is ours."""

    def __contains__(self, pid):
        return pid == os.getpid()


def look_until(made, met, seconds=30.0):
    """Look until the condition holds of a frame; give that frame."""
    end = time.monotonic() + seconds
    while True:
        made.advance()
        frame = made.look()
        if met(frame):
            return frame
        assert time.monotonic() < end, frame
        time.sleep(0.01)


def test_a_process_that_comes_later_and_ends(victim):
    """Waited for, then followed; after the end its true peak is still known."""
    with session("wanted-word") as made:
        (panel,) = made.look().panels
        assert (panel.waits, panel.message, panel.things) == (True, "waiting for 'wanted-word'", [])
        one = victim("wanted-word", 80_000_000)
        frame = look_until(made, lambda f: f.panels[0].number == 2)
        things = frame.panels[0].things
        python = next(t for t in things if t.name.startswith(sys.executable))
        assert python.memory < 80_000_000 < python.peak  # it was freed before we first looked
        one.end()
        frame = look_until(made, lambda f: f.panels[0].gone == 2)
        (panel,) = frame.panels
        assert (panel.message, panel.things) == ("all have ended", [])
        ended = {thing.pid: thing for thing in panel.ended}
        assert ended[python.pid].peak >= 80_000_000
        assert ended[python.pid].state == "ended"
        (peaks,) = made.summary().peaks
        assert peaks.things[0].pid == python.pid


def test_forgotten_peaks_count_from_now(victim):
    """The kernel's mark is only believed when it rises again."""
    one = victim("forgetful", 80_000_000)
    with session("forgetful") as made:

        def python(frame):
            return next(t for t in frame.panels[0].things if t.name.startswith(sys.executable))

        frame = look_until(made, lambda f: f.panels[0].number == 2)
        assert python(frame).peak > 80_000_000
        made.forget_peaks()
        assert python(made.look()).peak < 60_000_000
        one.do("held = bytearray(100_000_000); held[:] = b'x' * len(held); del held")
        assert python(look_until(made, lambda f: python(f).peak > 90_000_000)).memory < 80_000_000


def test_we_are_not_among_them(victim):
    """Neither we ourselves, nor what we start, nor whoever started us with the word in his line."""
    word = "some-odd-word"
    victim(word, before="exec")
    wrapper = subprocess.Popen(
        ["bash", "-c", f": uvx zeroin watch {word} ; read"], stdin=subprocess.PIPE
    )
    with session(word, command=["sleep", "1000", word], others=False) as made:
        made.advance()
        assert made.look().panels[0].number == 0
    with session(word) as made:
        panel = look_until(made, lambda f: f.panels[0].number).panels[0]
        assert [t.pid for t in panel.things] != [wrapper.pid]
        assert panel.number == 1
    wrapper.communicate(b"\n")


def test_a_tree_has_its_children_below(victim):
    """A number stands for a process with all below it, in order."""
    one = victim("root", before="")
    one.do("import subprocess; kid = subprocess.Popen(['sleep', '1000'])")
    with session(str(one.process.pid), tree=True) as made:
        wanted = [(0, "bash"), (1, os.path.basename(sys.executable)), (2, "sleep")]

        def shown(frame):
            things = frame.panels[0].things
            return [(one.depth, os.path.basename(one.name.split()[0])) for one in things]

        look_until(made, lambda f: shown(f) == wanted)  # a moment before it is "[sleep]"
        one.do("late = subprocess.Popen(['sleep', '2000'])")
        look_until(made, lambda f: f.panels[0].number == 4)
        one.do("kid.kill(); late.kill(); kid.wait(); late.wait()")
        frame = look_until(made, lambda f: f.panels[0].number == 2)
        assert frame.panels[0].gone == 2


def test_trees_on_demand(victim):
    """What is below comes and goes with them."""
    one = victim("zw-leafy", before="exec")
    one.do("import subprocess; kid = subprocess.Popen(['sleep', '1000'])")
    with session("zw-leafy") as made:
        look_until(made, lambda f: f.panels[0].number == 1)
        made.choose(tree=True)
        assert [t.depth for t in made.look().panels[0].things] == [0, 1]
        made.choose(tree=False)
        (panel,) = made.look().panels
        assert ([t.depth for t in panel.things], panel.gone) == ([0], 0)
    one.do("kid.kill(); kid.wait()")


def test_of_many_the_largest_are_listed(victim):
    """With the sum and the number of all."""
    shell = subprocess.Popen(
        ["bash", "-c", "for i in {1..60}; do sleep 31415 & done; read; kill $(jobs -p)"],
        stdin=subprocess.PIPE,
    )
    with session("sleep 31415", top=5) as made:
        panel = look_until(made, lambda f: f.panels[0].number == 61).panels[0]
        assert len(panel.things) == 5
        sizes = [t.memory for t in panel.things]
        assert sizes == sorted(sizes, reverse=True)
        assert panel.total.memory > sum(sizes)
        assert panel.total.threads == 61
    shell.communicate(b"\n")


def test_rates_of_processor_and_files(victim, tmp_path):
    """Of the time between two looks."""
    one = victim("zw-busy", before="exec")
    with session("zw-busy") as made:
        look_until(made, lambda f: f.panels[0].number == 1)
        one.do("import time; f = open('/dev/null', 'wb', 0); end = time.process_time() + 0.3")
        one.do("[f.write(bytes(10**6)) for _ in range(50)]")
        one.do("while time.process_time() < end: pass")
        (thing,) = made.look().panels[0].things
        assert thing.cpu > 0
        assert thing.write > 0


def test_pss_counts_shared_pages_once(victim):
    """A forked family: the sum of RSS counts its pages in each."""
    one = victim("zw-family", before="exec")
    one.do("held = bytearray(60_000_000); held[:] = b'x' * len(held)")
    one.do("import os, time; kids = [os.fork() or time.sleep(1000) for _ in range(3)]")
    with session("zw-family", pss=True) as made:
        total = look_until(made, lambda f: f.panels[0].number == 4).panels[0].total
        assert total.memory > 200_000_000 > 130_000_000 > total.pss > 60_000_000
        assert total.peak < 130_000_000  # of PSS alone, also before all were counted
    one.do("[os.kill(kid, 9) for kid in kids]; [os.waitpid(kid, 0) for kid in kids]")


def test_a_disk_that_fills(tmp_path):
    """Used, free, its rate; and the file that grows."""
    growing = tmp_path / "deep" / "log.bin"
    growing.parent.mkdir()
    with session(f"disk:{tmp_path}", "memory") as made, growing.open("wb", 0) as file:

        def met(frame):
            file.write(os.urandom(300_000))
            return len(frame.panels[0].things) > 1

        disk, named, *_ = look_until(made, met).panels[0].things
        space = os.statvfs(tmp_path)
        assert disk.total == space.f_blocks * space.f_frsize
        assert abs(disk.free - space.f_bavail * space.f_frsize) < 500_000_000
        assert named.name == "deep/log.bin"
        assert named.rate > 0


def test_a_command_and_what_it_changes(tmp_path):
    """Its output, with what is new marked; its exit code; its time."""
    script = tmp_path / "says.sh"
    state = tmp_path / "state"
    state.write_text("12")
    script.write_text(f"echo same; echo value $(cat {state}); test $(cat {state}) = 12")
    with session(command=["sh", str(script)]) as made:
        (panel,) = look_until(made, lambda f: f.panels[0].things).panels
        assert [line.text for line in panel.lines] == ["same", "value 12"]
        assert (panel.changed, panel.things[0].exit_code) == (False, 0)
        (tmp_path / "new").write_text("13")
        (tmp_path / "new").rename(state)  # at once: no run may see it empty
        (panel,) = look_until(made, lambda f: f.panels[0].changed).panels
        assert [line.text for line in panel.lines] == ["same", "value 13"]
        assert panel.lines[1].marks == [False] * 7 + [True]
        assert not any(panel.lines[0].marks)
        assert panel.things[0].exit_code == 1
    (peaks,) = made.summary().peaks
    assert (peaks.changes, peaks.failures >= 1, peaks.runs >= 2) == (1, True, True)


def test_a_command_that_leaves_something_behind_ends_all_the_same(tmp_path):
    """What it started holds its output open; and one that hangs is ended with its children."""
    with session(command=["sleep 1000 & echo $!; echo up"]) as made:
        panel = look_until(made, lambda f: f.panels[0].things).panels[0]
        assert panel.lines[1].text == "up"
    os.kill(int(panel.lines[0].text), 9)
    with session(command=["sh", "-c", "sleep 1001; true"]) as made:
        look_until(made, lambda f: made.commands[0].repeated.running_for)


def test_a_command_that_never_stops_printing_is_ended():
    """After a megabyte; what it does not print any more is shown while it runs."""
    with session(command=["yes"]) as made:
        panel = look_until(made, lambda f: f.panels[0].things).panels[0]
        assert "more than 1 MB of output" in panel.message
        assert panel.lines[0].text == "y"
    with session(command=["sh", "-c", "echo first; sleep 1000"]) as made:
        panel = look_until(made, lambda f: f.panels[0].lines).panels[0]
        assert ([line.text for line in panel.lines], panel.things) == (["first"], [])


def test_escapes_and_progress_bars_in_a_commands_output():
    """Colours are dropped; of a line that was written over, the last version counts."""
    assert (
        plain("\x1b[31mred\x1b[0m\r\n10 %\r20 %\r\n\ttab\x1b]0;title\x07\n")
        == "red\n20 %\n        tab"
    )


def test_marks_follow_lines_that_move():
    """A line that was inserted marks itself, not all below it."""
    lines = marked("a\nb\nc", "a\nnew\nb\nc")
    assert [(line.text, any(line.marks)) for line in lines] == [
        ("a", False),
        ("new", True),
        ("b", False),
        ("c", False),
    ]


def test_a_log_that_grows_is_emptied_and_replaced(tmp_path):
    """It need not be there; only what is added counts as new."""
    log = tmp_path / "train.log"
    with session(f"file:{log}") as made:
        assert made.look().panels[0].message == "waiting for it"
        log.write_text("old 1\nold 2\n")
        (panel,) = made.look().panels
        assert [(x.text, any(x.marks)) for x in panel.lines] == [("old 1", False), ("old 2", False)]
        with log.open("a") as file:
            file.write("step 3\nhal")
        (panel,) = made.look().panels
        assert [(x.text, any(x.marks)) for x in panel.lines[2:]] == [
            ("step 3", True),
            ("hal", False),
        ]
        log.write_text("anew\n")
        assert made.look().panels[0].lines[-1].text == "anew"
        log.unlink()
        assert made.look().panels[0].message == "waiting for it"


def test_until_they_have_gone(victim):
    """Not before they have been there."""
    with session("brief-one", until="brief-one gone") as made:
        assert not made.look().reached
        one = victim("brief-one")
        assert not look_until(made, lambda f: f.panels[0].number).reached
        one.end()
        look_until(made, lambda f: f.reached)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("memory used > 1M", True),
        ("memory free < 1K", False),
        ("zw-hungry memory > 50M", True),
        ("zw-hungry memory < 50M", False),
        ("zw-hungry there", True),
    ],
)
def test_until_a_measure(victim, condition, holds):
    """Of what is watched, or of what the condition adds."""
    one = victim("zw-hungry")
    one.do("held = bytearray(60_000_000); held[:] = b'x' * len(held)")
    with session("zw-hungry", until=condition) as made:
        frame = look_until(made, lambda f: f.panels[0].number)
        assert frame.reached == holds


@pytest.mark.parametrize(
    "text", ["", "x", "train.py memory", "train.py memory = 3", "x memory > many", "x cpu > y"]
)
def test_conditions_that_are_none(text):
    """With how to write them."""
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert caught.value.hint


def test_what_can_not_be_watched(tmp_path):
    """Each with the next thing to type."""
    for what in ("99999999", f"disk:{tmp_path}/none", "", "file:", f"file:{tmp_path}", "name:"):
        with pytest.raises(ZeroinError) as caught, session(what):
            pass
        assert caught.value.hint
    with pytest.raises(CommandNotFoundError), session(command=["no-such-command"]):
        pass
    with pytest.raises(UsageError), session("cpu", until="fails"):
        pass
    with pytest.raises(UsageError), session("cpu", until="cpu gone"):
        pass
