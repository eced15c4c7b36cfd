"""A cold run beside the one that was seen: is it the same?"""

import json
import os

import pytest

from looping import HELPER, script


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
