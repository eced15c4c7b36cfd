"""`zeroin run --peek` and `--log`: without an import, without a set-up, kept with the attempt."""

from __future__ import annotations

import json
import re
import subprocess

PEEKS = """
import subprocess, sys
def main(n):
    return peek(n + 1) * 2
import helper
main(3)
if len(sys.argv) < 2:
    subprocess.run([sys.executable, __file__, "child"], check=True)
"""


def test_peek_without_an_import(zeroin, project, python):
    """In the script, in its modules, in child Pythons; and `show` has the lines by themselves."""
    (project / "train.py").write_text(PEEKS)
    (project / "helper.py").write_text("x = 1\npeek(x); peek.on()\n")
    done = zeroin("run", "--peek", "--", python, "train.py", cwd=project)
    expected = ["helper.py:2  x = 1", "train.py:4 main  n + 1 = 4"] * 2
    assert [line for line in done.stderr.splitlines() if ".py:" in line] == expected
    assert zeroin("show", "--peek", cwd=project).stdout.splitlines() == expected
    assert json.loads(zeroin("show", "--json", cwd=project).stdout)["settings"] == {"peek": True}
    again = zeroin("again", cwd=project)
    assert (again.returncode, again.stderr.count("n + 1 = 4")) == (0, 2)
    assert zeroin("run", "--", python, "train.py", cwd=project).returncode == 1  # NameError


def test_a_peek_of_the_programs_own_stays(zeroin, project, python):
    """Its own name comes first, as ever."""
    (project / "train.py").write_text("def peek(x): print('mine', x)\npeek(1)\n")
    done = zeroin("run", "--peek", "--", python, "train.py", cwd=project)
    assert done.stdout == "mine 1\n"


def test_peeks_among_much_output(zeroin, project):
    """They are not lost among it: `show` has a part for them."""
    (project / "train.py").write_text("for i in range(40): print(i)\npeek(i)\nprint('\\n' * 30)\n")
    zeroin("run", "--peek", "--", "python", "train.py", cwd=project)
    assert "\npeek, 1 line\n  train.py:2  i = 39\n" in zeroin("show", cwd=project).stdout


LOGS = """
import logging, logging.config, sys
first = logging.getLogger("shop.first")
first.debug("zero"); first.info("one"); first.warning("two")
logging.basicConfig(level=logging.ERROR, format="MINE %(message)s", force=True)
first.info("three"); first.error("four")
logging.config.dictConfig({
    "version": 1, "disable_existing_loggers": True,
    "root": {"level": "CRITICAL", "handlers": []}})
first.info("five"); logging.getLogger("new").warning("six")
quiet = logging.getLogger("quiet"); quiet.propagate = False; quiet.setLevel(50)
quiet.addHandler(logging.NullHandler()); quiet.info("seven")
logging.disable(logging.CRITICAL); first.error("eight")
try: 1 / 0
except ZeroDivisionError: first.exception("nine")
"""


def test_log_is_complete_whatever_the_program_does(zeroin, project, python):
    """Own handlers, levels, dictConfig, disabled loggers: the file has every record."""
    (project / "train.py").write_text(LOGS)
    done = zeroin("run", "--log", "--", python, "train.py", cwd=project)
    text = zeroin("show", "--log", cwd=project).stdout
    words = re.findall(r"\]  (\w+)$", text, re.MULTILINE)
    assert words == ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    assert "ZeroDivisionError: division by zero\n" in text
    assert "shop.first  train.py:4  [MainProcess " in text
    alone = subprocess.run(
        [python, "train.py"], cwd=project, check=True, capture_output=True, text=True
    )
    assert done.stderr.partition("✓ attempt 1 passed in ")[0] == alone.stderr == "two\nMINE four\n"
    path = json.loads(zeroin("show", "--json", cwd=project).stdout)["log"]
    with open(path) as file:
        assert file.read() == text
    assert f"its log: zeroin show {1} --log" in done.stderr


def test_log_levels_and_child_processes(zeroin, project, python):
    """`--log debug` has the details, and all processes write to one file."""
    (project / "train.py").write_text(
        "import logging, multiprocessing\n"
        "def work(n):\n"
        "    for i in range(50): logging.getLogger('w').debug('%d %d', n, i)\n"
        "if __name__ == '__main__':\n"
        "    spawn = multiprocessing.get_context('spawn')\n"
        "    all_ = [spawn.Process(target=work, args=(n,)) for n in range(3)]\n"
        "    [one.start() for one in all_]; [one.join() for one in all_]\n"
    )
    zeroin("run", "--log", "debug", "--", python, "train.py", cwd=project)
    text = zeroin("show", "--log", cwd=project).stdout
    assert len(set(re.findall(r"\[(SpawnProcess-\d) \d+", text))) == 3
    assert len(re.findall(r"\]  \d \d+$", text, re.MULTILINE)) == 150


def test_the_file_is_whole_after_a_kill(zeroin, project, python):
    """Each record is on the disk when it was made; secrets are not."""
    (project / "train.py").write_text(
        "import logging, os\n"
        "logging.getLogger('a').info('with %s', os.environ['API_KEY'])\n"
        "os.kill(os.getpid(), 9)\n"
    )
    env = {"API_KEY": "abcdefgh12345678"}
    zeroin("run", "--log", "--", python, "train.py", cwd=project, env=env)
    text = zeroin("show", "--log", cwd=project).stdout
    assert text.endswith("with <secret>\n")


def test_wrong_uses(zeroin, project):
    """A level that there is none of, no agent, no log: each says what to do."""
    done = zeroin("run", "--log", "loud", "--", "true", cwd=project)
    assert (done.returncode, "--log loud: no such level" in done.stderr) == (2, True)
    for option in ("--peek", "--log"):
        done = zeroin("run", option, "--no-agent", "--", "true", cwd=project)
        assert (done.returncode, f"{option} needs the agent" in done.stderr) == (2, True)
    zeroin("run", "--", "true", cwd=project)
    done = zeroin("show", "--log", cwd=project)
    assert (done.returncode, "was run without --log" in done.stderr) == (1, True)


def test_without_a_record(zeroin, project, python):
    """There is nowhere to keep the file, which is said before anything is run."""
    (project / "train.py").write_text("open('ran', 'w')\n")
    done = zeroin("run", "--no-record", "--log", "--", python, "train.py", cwd=project)
    assert (done.returncode, "--log keeps the records with the attempt" in done.stderr) == (2, True)
    assert not (project / "ran").exists()
