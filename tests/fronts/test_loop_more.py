"""`zeroin loop --from-failure`: on at the failure with the new code, and never called a cold run."""

import shutil
import textwrap

import pytest

from looping import Looping

# With a snapshot before each item, however busy the machine is.
ITEMS = """\
import time
from zeroin import checkpoint

done = []


def work(i):
    time.sleep(0.02)
    if i == 40:
        raise ValueError(i)
    done.append(i)


def main():
    time.sleep(0.3)
    for i in range(50):
        checkpoint()
        work(i)
    print("all", len(done), sum(done))


main()
"""


@pytest.fixture
def looping(zeroin, project):
    """Start a loop that prints JSON; all of them end with the test."""
    opened = []

    def start(source, *options, **more):
        (project / "train.py").write_text(textwrap.dedent(source))
        opened.append(Looping(zeroin, project, *options, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__()


def test_at_the_failing_item(looping, python):
    """A function that is called for each of 50 items fails at the 40th: it goes on near there."""
    loop = looping(ITEMS, "--from-failure", command=[python, "train.py"])
    assert loop.line()["exit_code"] == 1
    loop.edit("train.py", ITEMS.replace("i == 40", "i == 400"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.3 + 39 * 0.02
    assert "all 50 1225\n" in loop.shown


def test_without_it_before_the_first_item(looping):
    """The changed function had run: all items must be done by the new one, as in a cold run."""
    loop = looping(ITEMS)
    loop.line()
    new = ITEMS.replace("i == 40", "i == 400").replace("append(i)", "append(1)")
    loop.edit("train.py", new)
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "resumed")
    assert second["reason"] == "train.py:9 was changed and had run"
    # The first item's line is there for all of them: the sum says that none was kept.
    assert second["resumed_at"] in ("train.py:15", "train.py:16", "train.py:18")
    assert "all 50 50\n" in loop.shown


def test_the_label_is_in_the_line(terminal, zeroin, project):
    """For people as well."""
    (project / "train.py").write_text(ITEMS)
    words = [*zeroin.driver, "loop", "--from-failure", "--", "python", "train.py"]
    env = zeroin.env | {"NO_COLOR": "1"}
    shown = terminal(words, cwd=project, env=env, rows=30, cols=140)
    shown.expect("q: quit")
    (project / "train.py").write_text(ITEMS.replace("i == 40", "i == 400"))
    shown.expect("not a cold run")
    shown.send("q")
    assert shown.wait() == 0


def test_what_was_passed_for_good_goes_back(looping):
    """A changed line that would never run again would be changed without effect."""
    source = """\
        import time

        def main():
            factor = 1
            time.sleep(0.3)
            for i in range(20):
                time.sleep(0.02)
                if i == 15:
                    print("product", i * factor)

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("factor = 1", "factor = 2"))
    second = loop.line()
    assert (second["mode"], "had run" in second["reason"]) == ("from-failure", True)
    assert second["saved_seconds"] < 0.5
    assert "product 30\n" in loop.shown


def test_a_constant_of_the_module_goes_back(looping):
    """It was made when the module was loaded."""
    source = ITEMS.replace("done = []", "done = []\nLIMIT = 40").replace("i == 40", "i == LIMIT")
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("LIMIT = 40", "LIMIT = 400"))
    second = loop.line()
    assert (second["outcome"], second["saved_seconds"] < 1.0) == ("passed", True)
    assert "all 50 1225\n" in loop.shown


def test_data_that_was_read_goes_back(looping, project):
    """Only code can be brought in."""
    (project / "limit").write_text("40")
    source = ITEMS.replace("done = []", "done = []\nLIMIT = int(open('limit').read())")
    loop = looping(source.replace("i == 40", "i == LIMIT"), "--from-failure")
    loop.line()
    loop.edit("limit", "400")
    second = loop.line()
    assert (second["outcome"], "limit" in second["reason"]) == ("passed", True)
    assert "all 50 1225\n" in loop.shown


def test_the_body_of_a_loop_that_is_under_way(looping):
    """The next pass runs the new code; those before stay as they were."""
    source = """\
        import time
        from zeroin import checkpoint

        def main():
            total = 0
            time.sleep(0.2)
            for i in range(40):
                checkpoint()
                time.sleep(0.02)
                if i == 35:
                    raise ValueError(total)
                total += 1
            print("total", total)

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("i == 35", "i == 350"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.2 + 34 * 0.02
    assert "total 40\n" in loop.shown


def test_a_generator_that_has_begun_goes_back(looping):
    """It can't be changed while it waits."""
    source = """\
        import time

        def items():
            for i in range(30):
                time.sleep(0.02)
                yield i + 1

        def main():
            time.sleep(0.2)
            print("sum", sum(items()))
            raise KeyError

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("yield i + 1", "yield i + 2"))
    loop.line()
    assert "sum 495\n" in loop.shown


def test_again_and_again(looping):
    """Each edit goes on near the failure of the run before."""
    source = ITEMS.replace("i == 40", "i in (40, 44, 48)")
    loop = looping(source, "--from-failure")
    assert loop.line()["headline"].endswith(": 40")
    loop.edit("train.py", source.replace("(40, 44, 48)", "(44, 48)"))
    second = loop.line()
    assert (second["headline"].endswith(": 44"), second["mode"]) == (True, "from-failure")
    loop.edit("train.py", source.replace("(40, 44, 48)", "(48,)"))
    third = loop.line()
    assert (third["headline"].endswith(": 48"), third["mode"]) == (True, "from-failure")
    loop.edit("train.py", source.replace("(40, 44, 48)", "()"))
    last = loop.line()
    assert (last["outcome"], last["mode"]) == ("passed", "from-failure")
    assert last["saved_seconds"] > 0.3 + 47 * 0.02
    assert "all 50 1225\n" in loop.shown


# --- --strict -----------------------------------------------------------------------------------

TOOLS = """\
import time
loaded = time.monotonic_ns()

def late():
    return 1
"""
USES_TOOLS = """\
from zeroin import checkpoint
import time
begun = time.monotonic_ns()
checkpoint()
import tools
checkpoint()
print("begun", begun)
print("loaded", tools.loaded)
checkpoint()
print("late", tools.late())
"""


def _said(text, word):
    return [line.split()[1] for line in text.splitlines() if line.startswith(f"{word} ")]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_loads_a_changed_file_again(looping, project, python, strict):
    """Though the function that changed had not run: no body is put in, its module is made anew."""
    (project / "tools.py").write_text(TOOLS)
    loop = looping(USES_TOOLS, *["--strict"] * strict, command=[python, "train.py"])
    assert loop.line()["outcome"] == "passed"
    loop.edit("tools.py", TOOLS.replace("return 1", "return 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    assert ("--strict" in line["reason"]) is strict
    first, second = _said(loop.shown, "loaded")
    assert (first != second) is strict  # else it is a test of nothing
    begun = _said(loop.shown, "begun")
    assert begun[0] == begun[1]  # but no further back than that
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_begins_anew_for_the_script_itself(looping):
    """It was loaded first."""
    source = USES_TOOLS.replace("import tools", "").replace("tools.loaded", "0")
    source = "def late():\n    return 1\n\n" + source.replace("tools.late", "late")
    loop = looping(source, "--strict")
    loop.line()
    loop.edit("train.py", source.replace("return 1", "return 2"))
    line = loop.line()
    assert "--strict" in line["reason"]
    first, second = _said(loop.shown, "begun")
    assert first != second
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_goes_on_where_no_code_has_changed(looping, project):
    """A comment changes no body, so nothing has to be loaded again."""
    (project / "tools.py").write_text(TOOLS)
    loop = looping(USES_TOOLS, "--strict", "--verify")
    loop.line()
    loop.edit("tools.py", TOOLS + "# done\n")
    assert loop.line()["mode"] == "resumed"
    first, second = _said(loop.shown, "loaded")
    assert first == second


def test_strict_is_the_opposite_of_from_failure(zeroin, project):
    """Both at once can't be."""
    done = zeroin("loop", "--strict", "--from-failure", "--", "true", cwd=project)
    assert done.returncode == 2
    assert "--strict" in done.stderr


# --- what stands between us and the program -----------------------------------------------------


@pytest.fixture
def two(project):
    """Scripts that fail or pass as they are told."""
    (project / "a.py").write_text("import sys\nprint('a')\nsys.exit(int(*sys.argv[1:] or '0'))\n")
    (project / "b.py").write_text("import os\nprint('b', os.path.exists('made'))\n")
    return project


@pytest.mark.parametrize(
    "line",
    [
        "python a.py; python b.py; echo end",
        "python a.py; exec python b.py",
        "python a.py 3 || echo failed",
        "python a.py 3 | cat",
        "python a.py 3 > out; cat out",
        "python a.py & wait; python b.py",
        "for n in 0 1 2; do python a.py $n; done",
    ],
)
def test_a_shell_that_does_more_is_run_from_its_beginning(looping, two, line):
    """A Python that it has started is not the command: its end is not the outcome."""
    loop = looping("", "--verify", command=("sh", "-c", line))
    first = loop.line()
    assert "started it" in first["gate"] or "another Python" in first["gate"]
    loop.say("run")
    second = loop.line()
    assert (second["mode"], second["snapshots"]) == ("cold", 0)
    assert (second["exit_code"], second["outcome"]) == (first["exit_code"], first["outcome"])
    for name in ("a.py", "b.py"):
        if name in line:  # a save of each of them counts
            loop.edit(name, (two / name).read_text() + f"print('new {name}')\n")
            loop.line()
            loop.say("verify")
            assert loop.line()["verified"] is True
    assert "new b.py" in loop.shown or "b.py" not in line


@pytest.mark.parametrize("command", [("sh", "-c", "exec python a.py 3"), ("env", "python", "a.py")])
def test_what_has_become_the_program_does_not_matter(looping, two, command):
    """`exec`, `env` and the like leave nothing behind that could do more."""
    loop = looping("", "--verify", command=command)
    assert loop.line()["gate"] == ""
    loop.say("run")
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("resumed", True)


@pytest.mark.parametrize(
    "end", ["sys.exit(3)", "signal.signal(13, signal.SIG_DFL); os.kill(os.getpid(), 13)"]
)
def test_one_that_only_waits_does_not_matter(looping, project, tmp_path, end):
    """`uv run` ends as the program does; after a signal with 128 and its number, as shells do."""
    uv = tmp_path / "uv"
    shutil.copy(shutil.which("dash") or shutil.which("bash"), uv)
    source = f"import os, signal, sys\nprint('x', flush=True)\n{end}\n"
    loop = looping(source, "--verify", command=(uv, "-c", "python train.py; exit $?"))
    first = loop.line()
    assert first["gate"] == ""
    loop.say("run")
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("resumed", True), line["difference"]
    assert line["exit_code"] == first["exit_code"]
    (project / "pyproject.toml").write_text("[project]\n")
    loop.say("cold")
    loop.line()
    loop.edit("pyproject.toml", "[project]\nname = 'x'\n")
    line = loop.line()
    assert (line["mode"], line["reason"]) == (
        "cold",
        "pyproject.toml was changed and belongs to the command",
    )


def test_a_script_of_the_command_that_is_changed(looping, two):
    """The program did not read it, but a cold run would."""
    (two / "go.sh").write_text("export NAME=1\nexec python a.py $NAME\n")
    loop = looping("", command=("sh", "go.sh"))
    assert loop.line()["exit_code"] == 1
    loop.edit("go.sh", "export NAME=2\nexec python a.py $NAME\n")
    line = loop.line()
    assert (line["mode"], line["exit_code"]) == ("cold", 2)
    assert "go.sh" in line["reason"]


def test_what_it_writes_itself_does_not_belong_to_the_command(looping, project):
    """A result whose name is given: neither writing nor removing it is a save."""
    source = "import sys\nwith open(sys.argv[1], 'w') as file:\n    file.write('result')\n"
    loop = looping(source, command=("python", "train.py", "out.json"))
    loop.line()
    (project / "out.json").unlink()
    assert loop.says_nothing()
    loop.say("run")
    assert loop.line()["mode"] == "resumed"


def test_no_standby_below_a_shell(looping, two):
    """All that the shell does after it would be done in the background."""
    source = "import threading, time\nt = threading.Thread(target=time.sleep, args=(60,))\n"
    source += "t.daemon = True\nt.start()\ntime.sleep(1)\n1 / 0\n"
    loop = looping(source, command=("sh", "-c", "python train.py; echo x >> after"))
    assert "sh started it" in loop.line()["gate"]
    assert loop.says_nothing()
    assert "standby:" not in loop.shown
    assert (two / "after").read_text() == "x\n" * 2  # of the run, and of the cold one
