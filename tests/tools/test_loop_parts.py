"""What is a save, what is the same as a cold run, and what did a program use?"""

import os
import pty
import select
import sys
import termios
import threading
import time

import pytest

import support
from zeroin.cycle import Cycle, Kind, Outcome
from zeroin.cycle.signature import of_words
from zeroin.fronts import loop_text
from zeroin.fronts.words import Paint
from zeroin.run.aside import Aside
from zeroin.run.watch import Watch
from zeroin.tools.loop import attempt, saves, verify
from zeroin.tools.loop.hidden import Hidden
from zeroin.tools.loop.report import Iteration

# --- saves ------------------------------------------------------------------------------------


@pytest.fixture
def following(tmp_path):
    """Follows `code.py` and `data`; call it after each thing that happened to them."""
    watch = Watch()
    (tmp_path / "code.py").write_text("x = 1\n")
    (tmp_path / "data").write_text("1")
    one = saves.Saves(watch)
    one.python = support.base_python()
    one.follow(map(str, tmp_path.iterdir()), [str(tmp_path / "code.py")])
    yield one
    watch.close()


def decided(one, *, at_last=False):
    """The names that count now; with `at_last`, once there is nothing half done."""
    one.touch(one.watch.read())
    found = one.decided()
    while at_last and one.due() is not None:
        select.select([], [], [], one.due())
        found = one.decided()
    return [os.path.basename(path) for path in found]


def test_a_whole_file_counts_at_once(following, tmp_path):
    """And only once."""
    (tmp_path / "code.py").write_text("x = 2\n")
    (tmp_path / "data").write_text("2")
    assert decided(following) == ["code.py", "data"]
    following.accept()
    assert decided(following, at_last=True) == []


def test_the_same_again_does_not_count(following, tmp_path):
    """Nor what was changed and changed back before anyone looked."""
    (tmp_path / "code.py").write_text("x = 1\n")
    os.utime(tmp_path / "data")
    (tmp_path / "data").write_text("2")
    (tmp_path / "data").write_text("1")
    assert decided(following, at_last=True) == []


@pytest.mark.parametrize("half", [None, "", "x = (\n"])
def test_what_looks_half_done_gets_a_moment(following, tmp_path, half):
    """No file, an empty one, code that does not parse; then the rest comes."""
    file = tmp_path / "code.py"
    file.unlink()
    if half is not None:
        file.write_text(half)
    assert decided(following) == []
    assert following.due() <= saves.MOMENT
    file.write_text("x = 2\n")
    assert decided(following) == ["code.py"]
    assert following.broken == {}


@pytest.mark.parametrize("half", [None, "", "x = (\n"])
def test_what_stays_half_done_counts_as_it_is(following, tmp_path, half):
    """After a moment; code that does not parse is known to be broken."""
    file = tmp_path / "code.py"
    file.unlink()
    if half is not None:
        file.write_text(half)
    began = time.monotonic()
    assert decided(following, at_last=True) == ["code.py"]
    assert time.monotonic() - began >= saves.MOMENT * 0.9
    assert list(following.broken) == ([str(file)] if half else [])


def test_one_that_is_half_done_holds_the_others_up(following, tmp_path):
    """A checkout is one change, not several."""
    (tmp_path / "data").write_text("2")
    (tmp_path / "code.py").unlink()
    assert decided(following) == []
    (tmp_path / "code.py").write_text("x = 2\n")
    assert decided(following) == ["code.py", "data"]


def test_mended_code_is_not_broken(following, tmp_path):
    """Also when it is what it was before it broke."""
    file = tmp_path / "code.py"
    file.write_text("x = (\n")
    assert decided(following, at_last=True) == ["code.py"]
    following.accept()
    file.write_text("x = 1\n")
    assert decided(following) == ["code.py"]
    assert following.broken == {}


def test_data_is_not_parsed(following, tmp_path):
    """A .py file that was only read may hold anything."""
    (tmp_path / "read.py").write_text("x = 1\n")
    following.follow(map(str, tmp_path.iterdir()), [])
    (tmp_path / "read.py").write_text("x = (\n")
    assert decided(following) == ["read.py"]


def test_what_the_program_wrote_is_settled(following, tmp_path):
    """It is the state in which the next save finds it."""
    (tmp_path / "data").write_text("2")
    following.touch(following.watch.read())
    following.settle([str(tmp_path / "data")])
    assert decided(following, at_last=True) == []
    (tmp_path / "data").write_text("1")
    assert decided(following) == ["data"]


def test_code_that_was_saved_while_nobody_watched(following, tmp_path):
    """Newer than the run that used it: the run may have read the old one."""
    new = tmp_path / "new.py"
    new.write_text("x = 1\n")
    began = new.stat().st_mtime_ns
    following.follow([str(new)], [str(new)], began)
    assert decided(following) == []
    following.follow([], [])
    following.follow([str(new)], [str(new)], began - 1)
    assert decided(following) == ["new.py"]


def test_what_is_not_followed_any_more_is_forgotten(following, tmp_path):
    """A save of a file that the last run did not use changes nothing."""
    (tmp_path / "data").write_text("2")
    following.touch(following.watch.read())
    following.follow([str(tmp_path / "code.py")], [str(tmp_path / "code.py")])
    assert decided(following, at_last=True) == []


def test_looking_at_all_finds_what_nobody_told(following, tmp_path):
    """Where the kernel is silent."""
    (tmp_path / "data").write_text("2")
    following.watch.read()
    following.touch_all()
    assert [os.path.basename(p) for p in following.decided()] == ["data"]


def test_the_check_speaks_for_each_interpreter(python, tmp_path):
    """What it says is what that interpreter prints, line by line; valid code is fine."""
    file = tmp_path / "bad.py"
    file.write_text("x = 1\nif x = 1:\n    pass\n")
    assert not saves.parses(str(file))
    found = saves.ask(str(file), python)
    shown = support.subprocess.run(
        [python, str(file)], capture_output=True, text=True, check=False
    ).stderr
    assert (found.text, found.line, found.type) == (shown, 2, "SyntaxError")
    file.write_text("x = 1\n")
    assert saves.ask(str(file), python) is None


@pytest.mark.parametrize("newer", [True, False])
def test_the_program_s_own_grammar_decides(following, tmp_path, newer):
    """What ours refuses and it takes simply runs: at once if it is known to know more."""
    fake = tmp_path / "python"
    fake.write_text("#!/bin/sh\n")  # finds nothing wrong with anything
    fake.chmod(0o755)
    following.python, following.newer = str(fake), newer
    (tmp_path / "code.py").write_text("syntax of tomorrow\n")
    assert decided(following, at_last=not newer) == ["code.py"]
    assert following.broken == {}


@pytest.mark.parametrize("python", ["", "/no/such/python"])
def test_without_its_interpreter_nothing_is_broken(following, tmp_path, python):
    """Nobody can say so."""
    following.python = python
    (tmp_path / "code.py").write_text("x = (\n")
    assert decided(following, at_last=True) == ["code.py"]
    assert following.broken == {}


@pytest.mark.parametrize("data", [b"x = 1\0\n", b"# coding: latin-1\nx = '\xe9'\n", b"\xff\xfe"])
def test_any_bytes_can_be_looked_at(tmp_path, data):
    """What they are, the program's own interpreter says."""
    file = tmp_path / "f.py"
    file.write_bytes(data)
    done = support.subprocess.run(
        [support.base_python(), str(file)], capture_output=True, check=False
    )
    assert saves.parses(str(file)) == (done.returncode == 0) or b"\0" in data
    assert (saves.ask(str(file), support.base_python()) is None) == (done.returncode == 0)


# --- verifying --------------------------------------------------------------------------------


def taken(text, *, code=0, message=""):
    kind = Kind.FAILED if code else Kind.PASSED
    signature = of_words("ValueError", message=message) if code else None
    outcome = Outcome(kind, code, signature, f"ValueError: {message}" if code else "")
    return verify.Taken(outcome, {"out": text.encode()})


def test_the_same_is_the_same():
    """With one cold run."""
    assert verify.compare(taken("a\nb\n"), [taken("a\nb\n")]) == (True, "")


@pytest.mark.parametrize(
    ("ours", "cold", "says"),
    [
        (taken("a 1\n"), taken("a 2\n"), "line 1 of the output, resumed: 'a 1'; cold: 'a 2'"),
        (taken("a\n"), taken("a\nb\n"), "resumed: 1 lines; cold: 2 lines"),
        (
            taken("a"),
            taken("a", code=1, message="m"),
            "resumed: passed; cold: ValueError: m (exit 1)",
        ),
        (
            taken("", code=1, message="m"),
            taken("", code=2, message="m"),
            "cold: ValueError: m (exit 2)",
        ),
        (
            taken("", code=1, message="m"),
            taken("", code=1, message="n"),
            "cold: ValueError: n (exit 1)",
        ),
    ],
)
def test_every_difference_counts(ours, cold, says):
    """A number, a line, the ending, the code, the failure: if two cold runs agree."""
    found = verify.compare(ours, [cold, cold])
    assert (found.same, says in found.difference) == (False, True)


def test_lines_that_vary_do_not_count():
    """But those that don't still do."""
    cold = [taken("fixed\ntook 1\n"), taken("fixed\ntook 2\n")]
    assert verify.compare(taken("fixed\ntook 3\n"), cold).same is True
    found = verify.compare(taken("stale\ntook 3\n"), cold)
    assert found == (False, "line 1 of the output, resumed: 'stale'; cold: 'fixed'")


def test_a_second_cold_run_may_be_the_same():
    """Then it is one of the ways in which the program goes."""
    cold = [taken("heads\n"), taken("tails\n")]
    assert verify.compare(taken("tails\n"), cold).same is True


def test_what_can_not_be_told():
    """The program itself is not the same twice."""
    ends = [taken("", code=1, message="a"), taken("", code=1, message="b")]
    assert verify.compare(taken(""), ends).same is None
    counts = [taken("a\n"), taken("a\na\n")]
    assert verify.compare(taken("b\n"), counts).same is None


def _write_all(fd: int, data: bytes) -> None:
    while data:
        data = data[os.write(fd, data) :]


def test_hidden_output_has_the_same_kind_of_place():
    """A terminal of the same size for a terminal, which never fills up; else nothing."""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (31, 97))
    aside = Aside()
    with Hidden((slave, slave), aside) as (out, err):
        assert out == err
        assert os.isatty(out)
        assert termios.tcgetwinsize(out) == (31, 97)
        # By another: what is written reaches the other end a moment later, and blocks until then.
        writer = threading.Thread(target=_write_all, args=(out, b"x" * 300_000), daemon=True)
        writer.start()
        while writer.is_alive():
            aside.serve(0.01)
        opened = out
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened)
    with open(os.devnull, "w") as nothing, Hidden((nothing.fileno(), slave), aside) as (out, err):
        assert (os.isatty(out), os.isatty(err)) == (False, True)
    assert not select.select([master], [], [], 0)[0]
    aside.close()
    os.close(master)
    os.close(slave)


# --- what was used ----------------------------------------------------------------------------


def test_modules_and_files_of_a_traceback(tmp_path):
    """What failed to load is no module, but it was used."""
    facts = {
        "modules": {"__main__": "/p/train.py", "fast": "/p/fast.so"},
        "crashes": [
            {
                "chain": [
                    {
                        "frames": [
                            {"file": "/p/conf.py", "owner": "user"},
                            {"file": "/lib/json.py", "owner": "stdlib"},
                            {"file": "<string>", "owner": "user"},
                        ],
                        "syntax": {"file": "/p/broken.py"},
                    }
                ]
            }
        ],
    }
    files, code = attempt.used(facts, Cycle(("python", "-x", "train.py"), str(tmp_path)))
    assert code == {"/p/train.py", "/p/conf.py", "/p/broken.py"}
    assert files == code | {"/p/fast.so"}


def test_modules_that_were_not_found(tmp_path):
    """They may appear wherever the user's modules are looked for."""
    crash = {"chain": [{"type": "ModuleNotFoundError", "message": "No module named 'a.b'"}]}
    path = [str(tmp_path), "/usr/lib/python3.11", "/env/lib/python3.11/site-packages", "a.zip"]
    files, code = attempt.used({"crashes": [crash], "path": path}, Cycle(("python",), "/"))
    assert files == code == {str(tmp_path / "a" / "b.py"), str(tmp_path / "a/b/__init__.py")}


def test_the_script_itself(tmp_path):
    """Named in the command: it may have failed before it was a module."""
    (tmp_path / "train.py").write_text("x = (\n")
    (tmp_path / "data.py").write_text("")
    files, code = attempt.used({}, Cycle(("python", "-u", "train.py", "data.py"), str(tmp_path)))
    assert files == code == {str(tmp_path / "train.py")}


def test_all_that_is_known_without_an_agent(tmp_path):
    """The files in the command."""
    for name in ("go.sh", "data"):
        (tmp_path / name).write_text("")
    cycle = Cycle(("./go.sh", "data", "--verbose", "5"), str(tmp_path))
    assert attempt.named(cycle) == {str(tmp_path / "go.sh"), str(tmp_path / "data")}


# --- the lines --------------------------------------------------------------------------------


@pytest.fixture
def line(monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    return lambda done, width=120: loop_text.iteration(done, Paint(sys.stderr), width)


def failed(headline, seconds):
    return Outcome(Kind.FAILED, 1, of_words("ValueError"), headline, seconds)


def test_the_lines_of_the_manual(line):
    """As they are promised."""
    cold = failed("ValueError at model.py forward()", 42.1)
    one = Iteration(1, cold, mode="cold", snapshots=7, snapshot_bytes=310_000_000)
    wanted = "[1] 0:42.1  ✗ ValueError at model.py forward()        snapshots: 7, 310 MB"
    assert line(one) == wanted
    key = failed("KeyError at train.py main()", 0.09)
    two = Iteration(2, key, mode="resumed", resumed_at="train.py:88", saved=41.9)
    about = "resumed before train.py:88 · 41.9 s saved"
    assert line(two) == f"[2] 0.09 s  ✗ KeyError at train.py main()             {about}"
    back = two._replace(
        mode="cold", resumed_at=None, reason="settings.py:3 was changed and had run"
    )
    assert line(back).endswith("cold: settings.py:3 was changed and had run")
    further = two._replace(reason="train.py:90 was changed and had run")
    assert line(further, 200).endswith(f"{about} · not later: train.py:90 was changed and had run")
    gated = one._replace(gate="train.py:12: a thread of concurrent.futures is running")
    assert line(gated).endswith(
        "no snapshots since train.py:12: a thread of concurrent.futures is running"
    )
    lenient = two._replace(mode="from-failure")
    assert "not a cold run" in line(lenient)
    stopped = one._replace(stopped=True, reason="stopped: train.py was saved")
    assert line(stopped) == "[1] 0:42.1  · stopped: train.py was saved"


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.004, "0.00 s"), (9.99, "9.99 s"), (9.996, "0:10.0"), (59.96, "1:00.0"), (3725, "1:02:05")],
)
def test_times(seconds, shown):
    """Short ones to be compared, long ones to be read."""
    assert loop_text.clock(seconds) == shown


def test_a_long_message_does_not_push_the_rest_away(line):
    """It is cut to what the terminal has room for."""
    long = failed("ValueError at model.py forward(): " + "x" * 500, 1.0)
    shown = line(Iteration(1, long, mode="cold", snapshots=2))
    assert len(shown) <= 120
    assert shown.endswith("snapshots: 2")


def test_what_verifying_says():
    """The same, can't be told, and loudly: different."""
    plain = Paint(sys.stderr)
    plain.on = False
    done = Iteration(3, failed("", 1), attempt=7, mode="resumed", verify_seconds=42.0)
    same = loop_text.verified(done._replace(verified=True), plain)
    assert same == ["verified cold in 42.0 s: same"]
    other = done._replace(verified=False, difference="resumed: a; cold: b", cold_attempts=(8,))
    shown = loop_text.verified(other, plain)
    assert shown[0] == "verified cold in 42.0 s: DIFFERENT"
    assert "a bug in zeroin" in shown[1]
    assert shown[2:] == ["  resumed: a; cold: b", "  compare: zeroin diff 7 8"]
