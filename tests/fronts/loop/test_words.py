"""`zeroin loop` without a terminal: words on stdin, `--once`, what can't be asked for."""

import json

import pytest

from looping import HELPER, script


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
    source = (
        "import os, time\ntime.sleep(1.5 * os.path.exists('again'))\nopen('again', 'w').close()\n"
    )
    script(program, source)
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
