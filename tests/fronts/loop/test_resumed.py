"""Runs that go on from a snapshot, as the driver tells of them."""

import contextlib
import json
import os
import signal

import pytest

from looping import HELPER, STORY, script, tell


def test_an_edit_goes_on_from_a_snapshot(looping, zeroin, program):
    """Before the edited statement; what was printed before it is shown, kept and told again."""
    tell(program, "out one", "seconds 2", "out two")
    loop = looping(command=STORY)
    first = loop.line()
    assert (first["mode"], first["snapshots"], first["saved_seconds"]) == ("cold", 3, 0)
    assert first["snapshot_bytes"] > 0
    tell(program, "out one", "seconds 2", "out three", "exit 3")
    second = loop.line()
    assert (second["mode"], second["resumed_at"], second["saved_seconds"]) == (
        "resumed",
        "story:3",
        2.0,
    )
    assert (second["reason"], second["exit_code"]) == ("", 3)
    assert loop.quit() == 0
    assert loop.shown == "one\ntwo\none\nthree\n"
    kept = json.loads(zeroin("show", str(second["id"]), "--json", cwd=program).stdout)
    assert (kept["output"], kept["settings"]["mode"]) == ("one\nthree\n", "resumed")
    assert kept["code"]["tree"]


def test_further_back_and_cold_have_a_reason(looping, program):
    """Which line made it."""
    tell(program, "out one", "out two")
    loop = looping(command=STORY)
    loop.line()
    tell(program, "out 1", "out two")
    back = loop.line()
    assert (back["mode"], back["resumed_at"]) == ("resumed", "story:1")
    assert back["reason"] == "line 1 was changed and had run"
    tell(program, "out 1", "cold")
    cold = loop.line()
    assert (cold["mode"], cold["resumed_at"], cold["reason"]) == (
        "cold",
        None,
        "line 2 was changed and had run",
    )
    loop.say("run", "cold")
    assert (loop.line()["mode"], loop.line()["mode"]) == ("cold", "cold")


def test_run_resumes_and_cold_does_not(looping, program):
    """Without any edit."""
    tell(program, "out one", "out two")
    loop = looping(command=STORY)
    loop.line()
    loop.say("run", "cold", "run")
    lines = [loop.line(), loop.line(), loop.line()]
    assert [line["mode"] for line in lines] == ["resumed", "cold", "resumed"]
    assert [line["reason"] for line in lines] == ["", "", ""]


def test_where_there_are_no_snapshots_is_said(looping, program):
    """And why."""
    tell(program, "gate a thread of concurrent.futures is running", "out one")
    loop = looping(command=STORY)
    assert loop.line()["gate"] == "story:1: a thread of concurrent.futures is running"


@pytest.mark.parametrize("given", [True, False])
def test_verify_each(looping, program, given):
    """With --verify after each resumed run, and in the one line that it has."""
    tell(program, "out one", "out two")
    loop = looping(*["--verify"] * given, command=STORY)
    assert loop.line()["verified"] is None
    tell(program, "out one", "out three")
    line = loop.line()
    assert (line["n"], line["mode"], line["verified"]) == (2, "resumed", True if given else None)
    loop.say("cold")
    assert (loop.line()["n"], loop.quit()) == (3, 0)


def test_from_failure_is_labelled(looping, program):
    """It is not what a cold run gives, and is never called so."""
    tell(program, "out one", "exit 1")
    loop = looping("--from-failure", command=STORY)
    loop.line()
    tell(program, "out one", "exit 0")
    assert loop.line()["mode"] == "from-failure"


def test_one_that_retreats_is_run_again(looping, program):
    """In the end from the beginning."""
    tell(program, "out one", "out two")
    loop = looping(command=STORY)
    loop.line()
    tell(program, "out one", "retreat 0 a generator was suspended")
    lines = [loop.line() for _ in range(4)]
    assert [line["outcome"] for line in lines] == ["unfinished"] * 3 + ["failed"]
    assert lines[0]["reason"] == "given up: a generator was suspended"
    assert lines[3]["mode"] == "cold"
    assert loop.quit() == 0


def test_a_save_stops_a_resumed_run(looping, program):
    """As any other."""
    tell(program, "used {}".format(program / "conf.py"), "out one")
    loop = looping(command=STORY)
    loop.line()
    tell(program, "used {}".format(program / "conf.py"), "wait")
    loop.until_shown("waiting")
    loop.edit("conf.py", "x = 1\n")
    assert loop.line()["reason"] == "stopped: conf.py was saved"
    loop.until_shown("waiting\nwaiting")
    loop.edit("conf.py", "x = 2\n")
    loop.line()


def test_an_end_while_a_save_stops_a_run(looping, program):
    """A signal that ends the loop is obeyed also while a run is being ended for a save."""
    used = "used {}".format(program / "conf.py")
    tell(program, used, "out one")
    loop = looping(command=STORY)
    loop.line()
    tell(program, used, "stubborn", "wait")
    loop.until_shown("waiting")
    loop.edit("conf.py", "x = 1\n")
    loop.until_shown("asked")  # it has been told to end, and takes its time
    loop.process.send_signal(signal.SIGTERM)
    assert loop.wait() in (-signal.SIGTERM, 128 + signal.SIGTERM)
    assert loop.shown.count("waiting") == 1


def test_many_edits_leave_nothing_behind(looping, program):
    """Descriptors and processes are as many after many runs as after a few."""
    tell(program, "out one", "out two")
    loop = looping(command=STORY)
    loop.line()

    def held():
        loop.say("verify")  # the last run is over and recorded once this is answered
        loop.line()
        pid = loop.process.pid
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return len(list(kept(f"/proc/{pid}/fd"))), len(file.read().split())

    def kept(folder):
        """Not what it has open for a moment while it measures its snapshots."""
        for name in os.listdir(folder):
            with contextlib.suppress(FileNotFoundError):
                if not os.readlink(f"{folder}/{name}").startswith("/proc/"):
                    yield name

    for number in range(40):
        tell(program, "out one", f"out {number}")
        assert loop.line()["mode"] == "resumed"
        if number == 5:
            before = held()
    assert held() == before


def test_the_next_edit_goes_on_right_before_the_last(looping, program):
    """What is run again on the way to an edit is run once more only."""
    script(
        program,
        """
        import time
        def main():
            time.sleep(0.3)
            loaded = len("loaded")
            time.sleep(0.04)
            print("edit 0", loaded)
        main()
        """,
    )
    loop = looping()
    loop.line()
    text = (program / "train.py").read_text()
    for number in range(1, 4):
        loop.edit("train.py", text.replace("edit 0", f"edit {number}"))
        line = loop.line()
        assert line["mode"] == "resumed"
        assert f"edit {number} 6" in loop.shown
    assert line["resumed_at"] == "train.py:7"


def test_a_real_program_is_resumed(looping, program):
    """With the real agent: the edit is in a function that had not run at the snapshot."""
    script(
        program,
        """
        import time
        import helper
        def main():
            time.sleep(0.3)
            loaded = 1
            time.sleep(0.3)
            print("loaded", flush=True)
            print("answer", helper.answer())
        main()
        """,
    )
    loop = looping("--verify")
    loop.line()
    loop.edit("helper.py", HELPER.format(2))
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("resumed", True)
    assert line["saved_seconds"] > 0.2
    assert "loaded\nanswer 2\n" in loop.shown
