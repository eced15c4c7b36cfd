"""`zeroin loop` as a user sees it: saves, keys, words, and the terminal afterwards."""

import contextlib
import json
import os
import re
import signal
import subprocess
import termios
import textwrap
import time

import pytest

import support
from looping import Looping

MAIN = """\
import helper
print("answer", helper.answer())
"""
HELPER = "def answer():\n    return {}\n"


@pytest.fixture
def program(project):
    """A script with a module of its own."""
    (project / "train.py").write_text(MAIN)
    (project / "helper.py").write_text(HELPER.format(1))
    return project


@pytest.fixture
def looping(zeroin, program):
    """Start a loop that prints JSON; all of them end with the test."""
    opened = []

    def start(*options, **more):
        opened.append(Looping(zeroin, program, *options, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__()


def script(project, source, name="train.py"):
    (project / name).write_text(textwrap.dedent(source))


# --- saves ------------------------------------------------------------------------------------


def test_a_save_runs_it_again(looping, zeroin, program):
    """With the new code; each iteration is an attempt that says so."""
    loop = looping()
    first = loop.line()
    assert (first["n"], first["outcome"], first["mode"], first["exit_code"]) == (
        1,
        "passed",
        "cold",
        0,
    )
    loop.edit("helper.py", HELPER.format(2))
    second = loop.line()
    assert (second["n"], second["outcome"]) == (2, "passed")
    loop.edit("train.py", MAIN + "raise KeyError('plum')\n")
    third = loop.line()
    assert (third["n"], third["outcome"], third["exit_code"]) == (3, "failed", 1)
    assert third["signature"] == "KeyError at <module>: 'plum'"
    assert loop.quit() == 0
    assert re.findall(r"^answer \d", loop.shown, re.MULTILINE) == [
        "answer 1",
        "answer 2",
        "answer 2",
    ]
    shown = json.loads(zeroin("show", str(third["id"]), "--json", cwd=program).stdout)
    assert shown["settings"]["loop"] == 3
    assert shown["settings"]["mode"] == third["mode"]
    assert shown["signature"] == third["signature"]
    assert shown["code"]["tree"]
    assert "answer 2" in shown["output"]
    assert zeroin("log", "--json", cwd=program).stdout.count("\n") == 3


def test_only_files_that_it_used(looping, program):
    """A neighbour that nobody imports, editors' litter and a touched file run nothing."""
    (program / "other.py").write_text("x = 1\n")
    loop = looping()
    loop.line()
    loop.edit("other.py", "x = 2\n")
    for name in (".helper.py.swp", "4913", "helper.py~", "#helper.py#"):
        loop.edit(name, "x")
        (program / name).unlink()
    os.utime(program / "helper.py")
    (program / "helper.py").chmod(0o600)
    loop.edit("helper.py", HELPER.format(1))  # written, but the same
    assert loop.says_nothing()


def by_rename(path, text):
    new = path.with_name("new-" + path.name)
    new.write_text(text)
    new.replace(path)


def like_vim(path, text):
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text(text)
    backup.unlink()


def emptied_first(path, text):
    """Two writers in a row: what is there in between parses, and is not it."""
    path.write_text("")
    path.write_text(text)


def half_first(path, text):
    path.write_text(text[: len(text) // 2] + "(")
    path.write_text(text)


@pytest.mark.parametrize("save", [by_rename, like_vim, emptied_first, half_first])
def test_ways_to_save(looping, program, save):
    """Each is one iteration, with what was written in the end."""
    loop = looping()
    loop.line()
    save(program / "helper.py", HELPER.format(7))
    second = loop.line()
    assert (second["outcome"], second["n"]) == ("passed", 2)
    assert loop.says_nothing()
    assert loop.shown.count("answer 7") == 1


def test_a_deleted_file_and_its_return(looping, program):
    """Both are changes of what the program finds."""
    loop = looping()
    loop.line()
    (program / "helper.py").unlink()
    gone = loop.line()
    assert gone["signature"].startswith("ModuleNotFoundError")
    loop.edit("helper.py", HELPER.format(5))
    assert loop.line()["outcome"] == "passed"
    assert "answer 5" in loop.shown


def test_a_syntax_error_costs_nothing(looping, zeroin, program):
    """It is shown as Python shows it, the program is not started, no attempt is made."""
    loop = looping()
    loop.line()
    loop.edit("helper.py", "def answer(:\n")
    second = loop.line()
    assert (second["n"], second["outcome"], second["mode"], second["id"]) == (
        2,
        "failed",
        None,
        None,
    )
    assert second["signature"].startswith("SyntaxError: ")
    assert second["headline"].startswith("SyntaxError at helper.py:1: ")
    assert loop.shown.count("answer") == 2  # once printed, once in the line that is shown
    loop.edit("helper.py", HELPER.format(3))
    assert loop.line()["outcome"] == "passed"
    assert loop.quit() == 0
    assert zeroin("log", "--json", cwd=program).stdout.count("\n") == 2


def test_a_broken_module_at_the_start_can_be_mended(looping, program):
    """It was never loaded, but its traceback tells."""
    (program / "helper.py").write_text("def answer(:\n")
    loop = looping()
    assert loop.line()["signature"].startswith("SyntaxError")
    loop.edit("helper.py", HELPER.format(4))
    assert loop.line()["outcome"] == "passed"


def test_newer_grammar_than_ours_simply_runs(looping, program):
    """Only the program's own interpreter can say that code does not parse."""
    newest = list(support.interpreters().values())[-1]
    oldest = next(iter(support.interpreters().values()))
    if newest == oldest:
        pytest.skip("one interpreter only")
    loop = looping(command=[newest, "train.py"])
    loop.line()
    loop.edit("helper.py", "type Answer = int\ndef answer() -> Answer:\n    return 8\n")
    assert loop.line()["outcome"] == "passed"
    assert "answer 8" in loop.shown


def test_a_save_while_it_runs_starts_anew(looping, program):
    """What runs is stopped, also what it started, and recorded as stopped; even the first run."""
    script(
        program,
        """
        import helper, subprocess, time
        time.sleep(0.2)
        if helper.answer() < 2:
            subprocess.Popen(["sleep", "600"])
            print("up", flush=True)
            time.sleep(600)
        print("answer", helper.answer())
        """,
    )
    loop = looping()
    loop.until_shown("up")
    loop.edit("helper.py", HELPER.format(2))
    stopped, last = loop.line(), loop.line()
    assert (stopped["outcome"], stopped["signature"]) == ("unfinished", None)
    assert stopped["reason"] == "stopped: helper.py was saved"
    assert (last["n"], last["outcome"]) == (2, "passed")
    assert "answer 2" in loop.shown


def test_data_that_was_read_counts(looping, program):
    """Config and data are as much part of the outcome as code is."""
    (program / "conf.txt").write_text("small")
    script(program, "print('conf', open('conf.txt').read())\n")
    loop = looping()
    loop.line()
    loop.edit("conf.txt", "large")
    assert loop.line()["n"] == 2
    assert "conf large" in loop.shown


def test_data_that_is_saved_while_it_runs(looping, program):
    """What a whole run has read, and not written, is the user's."""
    (program / "conf.txt").write_text("quick")
    script(
        program,
        """
        import time
        if open("conf.txt").read() == "slow":
            print("up", flush=True)
            time.sleep(600)
        """,
    )
    loop = looping()
    loop.line()
    loop.edit("conf.txt", "slow")
    loop.until_shown("up")
    loop.edit("conf.txt", "quick")
    assert loop.line()["reason"] == "stopped: conf.txt was saved"
    assert loop.line()["outcome"] == "passed"


def test_code_that_it_writes_itself_does_not_stop_it_for_ever(looping, program):
    """A generated module that is another one each time: after a few runs it is let alone."""
    script(
        program,
        """
        import helper, time
        with open("helper.py", "a") as file:
            file.write(f"made = {time.time_ns()}\\n")
        for n in range(30):
            time.sleep(0.02)
        """,
    )
    loop = looping()
    note = "helper.py changes in each run"
    lines = [loop.line()]
    while lines[-1]["outcome"] != "passed" or note not in loop.shown:
        lines.append(loop.line())
    assert [line["reason"] for line in lines].count("stopped: helper.py was saved") <= 4
    assert len(lines) <= 6
    assert loop.says_nothing()


def test_what_it_writes_itself_is_no_save(looping, program):
    """A program that reads and writes its own state would otherwise run for ever."""
    (program / "count").write_text("0")
    script(
        program,
        """
        n = int(open("count").read()) + 1
        open("count", "w").write(str(n))
        print("count", n)
        """,
    )
    loop = looping()
    assert loop.line()["n"] == 1
    loop.say("cold")
    assert loop.line()["n"] == 2
    loop.say("cold")
    assert loop.line()["n"] == 3
    assert loop.says_nothing()


# --- words ------------------------------------------------------------------------------------


def test_words_in_order_then_the_end(zeroin, program):
    """A script may give all of them at once; after the last one the loop ends."""
    done = zeroin(
        "loop", "--json", "--", "python", "train.py", cwd=program, input="run\ncold\nnonsense\n"
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["n"] for line in lines] == [1, 2, 3]
    assert lines[2]["mode"] == "cold"
    assert done.returncode == 0
    assert "there is no word 'nonsense': run, cold, verify, quit" in done.stderr


def test_the_end_of_the_words_costs_nothing(zeroin, program):
    """While the last run goes on, nobody looks at an ended stdin again and again."""
    script(program, "import time\ntime.sleep(1.5)\n")
    code = (
        "import os, sys; from zeroin.fronts.cli import main; main();"
        "print(sum(os.times()[:2]), file=sys.stderr)"
    )
    driver = [zeroin.driver[0], "-c", code, "loop", "--json"]
    done = zeroin("--", "python", "train.py", cwd=program, input="cold\n", driver=driver)
    assert done.stdout.count("\n") == 2
    assert float(done.stderr.splitlines()[-1]) < 1.5


def test_no_stdin_is_one_run(zeroin, program):
    """Nobody can say anything: the end of the words is there at once."""
    done = zeroin("loop", "--json", "--", "python", "train.py", cwd=program)
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)


def test_words_are_not_the_programs(zeroin, program):
    """Its stdin is empty, or the file that was given, each time from the beginning."""
    script(program, "import sys\nprint('read', sys.stdin.read())\n")
    done = zeroin("loop", "--", "python", "train.py", cwd=program, input="cold\n")
    assert done.stdout == "read \n" * 2
    (program / "given").write_text("lines")
    options = ["--stdin", "given", "--", "python", "train.py"]
    done = zeroin("loop", *options, cwd=program, input="cold\n")
    assert done.stdout == "read lines\n" * 2
    done = zeroin("loop", "--stdin", "missing", "--", "true", cwd=program)
    assert (done.returncode, "--stdin missing: no such file" in done.stderr) == (2, True)


@pytest.mark.parametrize("code", [0, 7])
def test_once(zeroin, program, code):
    """One run, and its exit code."""
    script(program, f"raise SystemExit({code})\n")
    done = zeroin(
        "loop", "--once", "--json", "--", "python", "train.py", cwd=program, input="run\n"
    )
    (line,) = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, line["exit_code"], line["mode"]) == (code, code, "cold")


def test_once_that_can_not_start(zeroin, program):
    """As `run`: the shell's own code, and no line."""
    done = zeroin("loop", "--once", "--json", "--", "no-such-command", cwd=program)
    assert (done.returncode, done.stdout) == (127, "")


def test_usage(zeroin, program):
    """What can't be."""
    done = zeroin("loop", cwd=program)
    assert (done.returncode, "zeroin loop -- python train.py" in done.stderr) == (2, True)
    done = zeroin("loop", "--budget", "much", "--", "true", cwd=program)
    assert (done.returncode, "is no size" in done.stderr) == (2, True)


def test_without_dashes(zeroin, program):
    """As with `run`, the command begins at the first word that is no option."""
    done = zeroin("loop", "--once", "--seed", "1", "python", "train.py", cwd=program)
    assert (done.returncode, done.stdout) == (0, "answer 1\n")


def test_settings_that_put_files_back_make_every_run_cold(zeroin, program):
    """Said once."""
    options = ["--reset", "echo again >> log", "--json"]
    done = zeroin("loop", *options, "--", "python", "train.py", cwd=program, input="run\nrun\n")
    modes = [json.loads(line)["mode"] for line in done.stdout.splitlines()]
    assert modes == ["cold"] * 3
    assert done.stderr.count("every run is cold") == 1
    assert (program / "log").read_text() == "again\n" * 3


def test_a_reset_that_fails_later_does_not_end_the_loop(looping, program):
    """The message is there, and the next save is another chance."""
    (program / "fine").write_text("")
    loop = looping("--reset", "test -e fine")
    loop.line()
    (program / "fine").unlink()
    loop.edit("helper.py", HELPER.format(2))
    loop.until_shown("the reset failed")
    (program / "fine").write_text("")
    loop.edit("helper.py", HELPER.format(3))
    assert loop.line()["outcome"] == "passed"


# --- verifying --------------------------------------------------------------------------------


def test_verify_is_a_cold_run_unseen(looping, zeroin, program):
    """Outcome, signature, exit code and output are compared; its output is not shown."""
    loop = looping()
    loop.line()
    loop.say("verify")
    line = loop.line()
    assert (line["n"], line["verified"], line["difference"]) == (1, True, "")
    assert line["verify_seconds"] > 0
    assert loop.quit() == 0
    assert loop.shown.count("answer") == 1
    (number,) = line["compared_with"]
    cold = json.loads(zeroin("show", str(number), "--json", cwd=program).stdout)
    assert (cold["settings"]["mode"], cold["output"]) == ("verify", "answer 1\n")


def test_what_varies_by_itself_is_no_difference(looping, program):
    """A second cold run tells which lines are never the same twice."""
    script(program, "import time\nprint('fixed')\nprint(time.time_ns())\n")
    loop = looping()
    loop.line()
    loop.say("verify")
    line = loop.line()
    assert line["verified"] is True
    assert "no two cold runs" in line["difference"]
    assert len(line["compared_with"]) == 2


def test_a_difference_is_loud(looping, program):
    """The first run printed something else than every cold run after it: exit code 1."""
    script(
        program,
        """
        import os
        print("first" if not os.path.exists("mark") else "later")
        open("mark", "w")
        """,
    )
    loop = looping()
    loop.line()
    loop.say("verify")
    line = loop.line()
    assert line["verified"] is False
    assert line["difference"] == "line 1 of the output, resumed: 'first'; cold: 'later'"
    assert loop.quit() == 1


def save_as_of(path, text, moment):
    """Put a new text in a file's place, with the time of the old one."""
    new = path.with_name(".new")
    new.write_text(text)
    os.utime(new, ns=(moment, moment))
    new.rename(path)


@pytest.mark.parametrize("apart", [False, True])
def test_verify_does_not_run_stale_code(looping, program, apart):
    """Two saves in one second, of one length: the interpreter would take the old compiled code."""
    options = ("--env", f"PYTHONPYCACHEPREFIX={program.parent / 'apart'}") if apart else ()
    helper = program / "helper.py"
    loop = looping("--verify", *options)
    loop.line()
    cache = program.parent / "apart" / str(program)[1:] if apart else program / "__pycache__"
    assert list(cache.glob("helper.*.pyc"))
    save_as_of(helper, HELPER.format(2), helper.stat().st_mtime_ns)
    line = loop.line()
    assert (line["verified"], line["outcome"]) == (True, "passed"), line
    assert "answer 2" in loop.shown


def test_stale_code_of_the_time_before_the_loop(looping, program, zeroin):
    """The same, with a save before the first run; code that is surely not stale is kept."""
    script(program, "import helper, sure\nprint('answer', helper.answer())\n")
    (program / "sure.py").write_text("")
    os.utime(program / "sure.py", (1e9, 1e9))
    assert zeroin("run", "--", "python", "train.py", cwd=program).returncode == 0
    (sure,) = (program / "__pycache__").glob("sure.*.pyc")
    before = sure.stat().st_ino
    helper = program / "helper.py"
    save_as_of(helper, HELPER.format(2), helper.stat().st_mtime_ns)
    loop = looping()
    loop.line()
    loop.say("verify")
    assert loop.line()["verified"] is True
    assert sure.stat().st_ino == before


def test_children_do_not_run_stale_code(looping, program):
    """A Python that the program starts loads its modules as always."""
    script(
        program,
        """
        import subprocess, sys
        subprocess.run([sys.executable, "-c", "import helper; print('child', helper.answer())"])
        """,
    )
    helper = program / "helper.py"
    loop = looping()
    loop.line()
    save_as_of(helper, HELPER.format(2), helper.stat().st_mtime_ns)
    loop.line()
    assert "child 2" in loop.shown


# --- resumed ----------------------------------------------------------------------------------
#
# By a stand-in for the agent, which takes a snapshot before each line of a story.

STAND_IN = support.ROOT / "tests" / "programs" / "warm_agent.py"
STORY = ("python", "-I", STAND_IN, "story")


def tell(project, *lines):
    (project / "story").write_text("".join(f"{line}\n" for line in lines))


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


# --- ending -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_signals_while_waiting(looping, number, code):
    """Ctrl-C is 130; what is meant to end us does."""
    loop = looping()
    loop.line()
    loop.process.send_signal(number)
    assert loop.wait() == code


def test_sigterm_while_it_runs(looping, program):
    """The program gets it, may tidy up, and the loop ends with it."""
    script(
        program,
        """
        import signal, sys, time
        def tidy(*_):
            print("tidied", flush=True)
            sys.exit(0)
        signal.signal(signal.SIGTERM, tidy)
        print("up", flush=True)
        time.sleep(600)
        """,
    )
    loop = looping()
    loop.until_shown("up")
    loop.process.send_signal(signal.SIGTERM)
    assert loop.wait() == -15
    assert "tidied" in loop.shown


def test_kill_9_leaves_nothing(looping, program):
    """Snapshots end when the loop does; the fixture looks for what is left running."""
    script(program, "import time\nx = 1\ntime.sleep(0.2)\ny = 2\nprint(x + y)\n")
    loop = looping()
    loop.line()
    loop.process.kill()
    assert loop.wait() == -9


# --- on a terminal ----------------------------------------------------------------------------


@pytest.fixture
def screen(terminal, zeroin, program):
    """A loop in a terminal, after its first run."""

    def start(*options, command=("python", "train.py"), ready="q: quit"):
        words = [*zeroin.driver, "loop", *options, "--", *command]
        env = zeroin.env | {"NO_COLOR": "1"}
        shown = terminal(words, cwd=program, env=env, rows=30, cols=120)
        if ready:
            shown.expect(ready)
        return shown

    return start


def modes(shown):
    """Of the terminal, as the shell would find it."""
    return termios.tcgetattr(shown.process.child_fd)


def quit_by_key(shown):
    shown.send("q")
    assert shown.wait() == 0


def test_lines_and_keys(screen, program):
    """Enter, c, v, ? and q; the output is above each line."""
    shown = screen()
    assert re.search(r"answer 1\s+\[1\] 0\.\d\d s  ✓ passed", shown.text)
    shown.send("\r")
    shown.expect(re.compile(r"answer 1\s+\[2\] 0\.\d\d s  ✓ passed"))
    shown.send("c")
    shown.expect(re.compile(r"\[3\] 0\.\d\d s  ✓ passed"))
    shown.send("v")
    shown.expect(re.compile(r"\[3\] verified cold in 0\.\d\d s: same"))
    shown.send("?")
    shown.expect("run again from the beginning")
    (program / "helper.py").write_text("def answer():\n    raise KeyError('plum')\n")
    shown.expect(re.compile(r"\[4\] 0\.\d\d s  ✗ KeyError at helper.py answer\(\): 'plum'"))
    shown.send("q")
    assert shown.wait() == 0


@pytest.mark.parametrize("key", ["q", "\x04"])
def test_the_terminal_is_as_it_was(screen, key):
    """While waiting keys are single and unseen; after the end all is as before."""
    shown = screen()
    assert not modes(shown)[3] & (termios.ICANON | termios.ECHO)
    shown.send(key)
    assert shown.wait() == 0
    assert modes(shown)[3] & termios.ICANON
    assert modes(shown)[3] & termios.ECHO


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -15), (signal.SIGHUP, -1)])
def test_the_terminal_after_a_signal(screen, number, code):
    """Whatever ends us."""
    shown = screen()
    os.kill(shown.process.pid, number)
    assert shown.wait() == code
    assert modes(shown)[3] & termios.ICANON


def test_the_terminal_after_a_bug_of_ours(terminal, zeroin, program):
    """Exit code 3, and it can be typed in again."""
    code = (
        "import sys, zeroin.tools.loop as m; m._Loop._obey = lambda *_: 1/0;"
        "from zeroin.fronts.cli import main; sys.exit(main())"
    )
    words = [zeroin.driver[0], "-c", code, "loop", "--", "python", "train.py"]
    shown = terminal(words, cwd=program, env=zeroin.env)
    shown.expect("q: quit")
    shown.send("c")
    assert shown.wait() == 3
    assert "a bug in zeroin" in shown.text
    assert modes(shown)[3] & termios.ICANON


def test_ctrl_c_while_waiting_quits(screen):
    """With the code that shells know."""
    shown = screen()
    shown.send("\x03")
    assert shown.wait() == 130
    assert modes(shown)[3] & termios.ICANON


def test_ctrl_c_is_the_programs_while_it_runs(screen, program):
    """The loop then waits again."""
    script(program, "import time\nprint('up', flush=True)\ntime.sleep(600)\n")
    shown = screen(ready="up")
    shown.send("\x03")
    shown.expect("KeyboardInterrupt")
    shown.expect(re.compile(r"\[1\] .* · interrupted"))
    shown.expect("q: quit")
    (program / "train.py").write_text("print('mended')\n")
    shown.expect(re.compile(r"mended\s+\[2\]"))
    shown.send("q")
    assert shown.wait() == 0


def test_typing_is_the_programs_while_it_runs(screen, program):
    """With echo and whole lines, as without us; also after a key."""
    script(program, "print('got', input('name? '))\n")
    shown = screen(ready="name? ")
    shown.line("bob")
    shown.expect("got bob")
    shown.expect("q: quit")
    shown.send("c")
    shown.expect("name? ")
    shown.line("eve")
    shown.expect("got eve")
    shown.expect(re.compile(r"\[2\]"))
    quit_by_key(shown)


def test_verifying_does_not_ask_in_the_dark(screen, program):
    """What a run out of sight asks, nobody can answer: it is given up, and no difference told."""
    script(program, "name = input('name? ')\nprint('hello', name)\n")
    shown = screen(ready="name? ")
    shown.line("Ann")
    shown.expect("hello Ann")
    shown.expect("q: quit")
    shown.send("v")
    shown.expect("out of sight")
    shown.expect("not verified: it reads the terminal")
    shown.send("q")
    assert shown.wait() == 0


def test_verifying_can_be_ended(screen, program):
    """By Ctrl-C, which is not meant for the loop then; the fixture looks for what is left."""
    script(
        program,
        """
        import subprocess
        subprocess.run(["sh", "-c", "test ! -e slow || { touch begun; sleep 600; }"])
        """,
    )
    shown = screen()
    (program / "slow").touch()
    shown.send("v")
    end = time.monotonic() + 60
    while not (program / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.005)
    shown.send("\x03")
    shown.expect("not verified: it was interrupted")
    shown.send("q")
    assert shown.wait() == 0


def test_typed_ahead_is_not_obeyed(screen, program):
    """What a program did not read was no order to us: it is shown, and that is all."""
    script(program, "import signal\nprint('up', flush=True)\nsignal.pause()\n")
    shown = screen(ready="up")
    shown.line("quick")
    shown.expect("quick")  # the echo: it is in the terminal's queue
    shown.send("\x1c")  # Ctrl-\\ ends the program, and empties that queue on some systems
    shown.expect(re.compile(r"\[1\]"))
    shown.expect("q: quit")
    shown.send("?")
    shown.expect("run again from the beginning")
    quit_by_key(shown)


def test_typed_after_a_key_is_for_the_program(screen, program):
    """It is not lost on the way."""
    script(program, "print('got', input('name? '))\n")
    shown = screen(ready="name? ")
    shown.line("bob")
    shown.expect("q: quit")
    shown.send("ceve\r")
    shown.expect("got eve")
    shown.expect(re.compile(r"\[2\]"))
    quit_by_key(shown)


def test_arrows_and_other_keys_do_nothing(screen):
    """An escape sequence is no row of letters."""
    shown = screen()
    shown.send("x\x1b[A\x1bOc\x1b[3~?")
    shown.expect("run again from the beginning")
    assert "[2]" not in shown.text
    quit_by_key(shown)


def test_resumed_lines(screen, program):
    """What was saved, and what verifying gave, in one line."""
    tell(program, "out one", "seconds 41.9", "out two")
    shown = screen("--verify", command=STORY)
    tell(program, "out one", "seconds 41.9", "out three")
    about = r"resumed before story:3 · 41\.9 s saved · verified cold in 0\.\d\d s: same\r\n"
    shown.expect(re.compile(r"one\r\nthree\r\n\[2\] 0\.\d\d s  ✓ passed +" + about))
    quit_by_key(shown)


def test_ctrl_c_reaches_a_resumed_program(screen, program):
    """It has the terminal, as a started one has."""
    tell(program, "out one", "out two")
    shown = screen(command=STORY)
    tell(program, "out one", "wait")
    shown.expect("waiting")
    shown.send("\x03")
    shown.expect(re.compile(r"\[2\] .* · interrupted"))
    quit_by_key(shown)


def test_ctrl_z_and_fg(terminal, zeroin, program):
    """The shell gets its terminal back as it was, and so do we."""
    words = " ".join(zeroin.driver)
    rc = program.parent / "rc"
    rc.write_text(f"PS1='PROMPT> '\nzeroin() {{ {words} \"$@\"; }}\nstty -echo\n")
    shell = terminal(
        ["bash", "--noprofile", "--rcfile", rc, "-i"], cwd=program, env=zeroin.env, cols=120
    )
    shell.expect("PROMPT> ")
    shell.line("zeroin loop -- python train.py")
    shell.expect("q: quit")
    shell.send("\x1a")
    shell.expect("PROMPT> ")
    shell.line("stty -a | grep -o '.icanon'; fg")
    shell.expect(" icanon")
    shell.expect("zeroin")
    shell.send("c")
    shell.expect(re.compile(r"\[2\]"))
    shell.send("q")
    shell.expect("PROMPT> ")


def test_a_syntax_error_as_python_prints_it(screen, terminal, zeroin, program):
    """The same lines as a plain run's, then ours."""
    shown = screen()
    (program / "train.py").write_text("x = 1\nprint('open'\n")
    shown.expect("not started")
    plain = subprocess.run(
        ["python", "train.py"],
        cwd=program,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.stderr.replace("\n", "\r\n") in shown.text
    assert re.search(r"\[2\] ✗ SyntaxError at train.py:2: ", shown.text)
    quit_by_key(shown)


HOLDER = """
import array, json, os, signal, socket, sys

def message(line):
    data, rights, _, _ = line.recvmsg(1 << 16, 1024)
    return json.loads(data[4:]), list(array.array("i", rights[0][2]))

line = socket.socket(socket.AF_UNIX)
line.connect(os.environ["ZEROIN_WARM"] + "/warm")
if os.fork():
    sys.exit("KeyError: 'plum'")
os.setpgid(0, 0)
data = json.dumps({"kind": "failed", "pid": os.getpid()}).encode()
line.sendall(len(data).to_bytes(4, "big") + data)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(null, fd)
order, (stdin, stdout, _) = message(line)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(stdin, os.getpgrp())
os.write(stdout, b"(Pdb) ")
os.write(stdout, order["kind"].encode() + b" " + os.read(stdin, 100))
"""


@pytest.mark.parametrize("options", [[], ["--stdin", "helper.py"]])
def test_the_debugger_has_the_terminal(screen, program, options):
    """Whole lines with echo, until it ends; then the keys are ours again."""
    script(program, HOLDER)
    shown = screen(*options, command=("python", "-I", "train.py"))
    shown.send("d")
    shown.expect("(Pdb) ")
    assert modes(shown)[3] & termios.ICANON
    shown.line("continue")
    shown.expect("debug continue")
    shown.expect("q: quit")
    shown.send("?")
    shown.expect("run again from the beginning")
    assert not modes(shown)[3] & termios.ICANON
    quit_by_key(shown)


def test_the_debugger_says_why_not(screen):
    """Where there is nothing to look at."""
    shown = screen()
    shown.send("d")
    shown.expect("there is no failure to look at")
    quit_by_key(shown)
