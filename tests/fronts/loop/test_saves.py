"""A save runs it again: which files count, and the ways in which editors save."""

import json
import os
import re
import tempfile
from pathlib import Path

import pytest

import support
from looping import HELPER, MAIN, script


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


@pytest.mark.skipif(not os.path.ismount("/dev/shm"), reason="needs /dev/shm")
def test_data_in_shared_memory_counts(looping, program):
    """Data that a program reads from /dev/shm is data, although devices are not."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        conf = Path(folder, "conf.txt")
        conf.write_text("small")
        script(program, f"print('conf', open({str(conf)!r}).read())\n")
        loop = looping()
        loop.line()
        conf.write_text("large")
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
