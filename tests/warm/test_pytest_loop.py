"""`zeroin loop -- pytest`: the results of plain pytest, with what was imported and collected kept."""

import getpass
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import support
import warm_libraries
from looping import several

CALC = """\
def add(a, b):
    return a + b

def multiply(a, b):
    return a - b
"""
CONFTEST = """\
import pytest

@pytest.fixture
def three():
    return 3
"""
TEST_A = """\
import calc

def test_add(three):
    assert calc.add(1, three) == 4
"""
TEST_B = """\
import pytest
import calc

@pytest.mark.parametrize("n", [1, 2])
def test_twice(n, three):
    assert calc.add(n, n) == 2 * n

def test_multiply(three):
    print("captured")
    assert calc.multiply(2, three) == 6
"""
NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"
PAUSE = "SECONDS_OF_PAUSE"  # how long a program of the loop sleeps; a plain run does not
# What differs between any two runs of pytest.
TIMES = re.compile(r"\d+\.\d+s|0x[0-9a-f]+")


class _Zeroin:
    """With our own pytest on the path."""

    def __init__(self, zeroin):
        self.driver = zeroin.driver
        path = f"{os.path.dirname(sys.executable)}{os.pathsep}{zeroin.env['PATH']}"
        # With others in the same temporary folder, pytest may take minutes to clear up after them.
        own = zeroin.base / "temporary of pytest"
        own.mkdir(exist_ok=True)
        self.env = {**zeroin.env, "PATH": path, "PYTEST_DEBUG_TEMPROOT": str(own)}
        # Ours are many, and most tests are not about plugins.
        self.env[NO_PLUGINS] = "1"


@pytest.fixture
def tests(project):
    """A project with a module, a fixture and two test files."""
    (project / "tests").mkdir()
    (project / "calc.py").write_text(CALC)
    (project / "conftest.py").write_text(CONFTEST)
    (project / "tests" / "test_a.py").write_text(TEST_A)
    (project / "tests" / "test_b.py").write_text(TEST_B)
    return project


@pytest.fixture
def own_zeroin(zeroin):
    """Give what loops and plain runs are started with; a test may change its `env` before."""
    return _Zeroin(zeroin)


@pytest.fixture
def plain(own_zeroin, tests):
    """Run pytest without us, in a fork of a process that has imported it."""
    python = warm_libraries.start_server(sys.executable, ("pytest",)).executable

    def run(*words):
        done = subprocess.run(
            [python, "-m", *words],
            cwd=tests,
            env={name: value for name, value in own_zeroin.env.items() if name != PAUSE},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, normal(done.stdout)

    return run


@pytest.fixture
def looping(own_zeroin, tests):
    """Start a loop that prints JSON."""
    with several(own_zeroin, tests) as start:
        yield start


def normal(text):
    """Without times and addresses, and the rules that are as wide as the times are short."""
    text = TIMES.sub("#", text)
    return re.sub(r"=+", "=", text)


class Compared:
    """A loop whose runs are each compared with a plain one."""

    def __init__(self, loop, plain, *words):
        self.loop = loop
        self.plain = plain
        self.words = words
        self.at = 0
        self.last = self.next()

    def next(self):
        """The next run, once it has been compared."""
        line = self.loop.line()
        assert line["outcome"] != "unfinished", line["reason"]
        shown = self.loop.shown
        ours, self.at = shown[self.at :], len(shown)
        code, text = self.plain("pytest", *self.words)
        assert normal(ours) == text
        assert line["exit_code"] == code
        self.last = line
        return line

    def edit(self, name, text):
        """Save, and look at what comes of it."""
        self.loop.edit(name, text)
        return self.next()


@pytest.fixture
def compared(looping, plain):
    """Start a loop over pytest, given its options, that is compared at each step."""

    def start(*words, command=("pytest",)):
        return Compared(looping(command=(*command, *words)), plain, *words)

    return start


@pytest.mark.parametrize("command", [("pytest",), ("python", "-m", "pytest")])
def test_edits_go_back_to_before_what_they_change(compared, own_zeroin, command):
    """A module that has not run, a test file, an earlier one, a conftest: all else is kept."""
    if command[0] == "python":
        command = (sys.executable, *command[1:])
    else:
        del own_zeroin.env[NO_PLUGINS]
    runs = compared(command=command)
    assert (runs.last["mode"], runs.last["outcome"]) == ("cold", "failed")
    fixed = CALC.replace("a - b", "a * b")
    line = runs.edit("calc.py", fixed)
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    line = runs.edit("tests/test_b.py", TEST_B.replace("== 6", "== 7"))
    assert (line["mode"], line["resumed_at"], line["exit_code"]) == ("resumed", "test_b.py", 1)
    line = runs.edit("tests/test_b.py", TEST_B)
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    line = runs.edit("tests/test_a.py", TEST_A.replace("== 4", "== 5"))
    assert (line["mode"], line["resumed_at"], line["exit_code"]) == ("resumed", "test_a.py", 1)
    line = runs.edit("conftest.py", CONFTEST.replace("return 3", "return 4"))
    assert (line["mode"], line["resumed_at"]) == ("resumed", "the first conftest.py")
    assert line["saved_seconds"] > 0
    line = runs.edit("calc.py", fixed.replace("a + b", "b + a"))
    assert line["mode"] == "resumed"


def test_new_and_removed_test_files(compared, tests):
    """A folder is listed anew when its files have changed."""
    runs = compared()
    (tests / "tests" / "test_c.py").write_text("def test_c():\n    assert 'c' == 'd'\n")
    runs.loop.edit("tests/test_a.py", TEST_A + "\n")
    assert runs.next()["mode"] == "resumed"
    assert "test_c.py" in runs.loop.shown
    (tests / "tests" / "test_c.py").unlink()
    runs.loop.edit("tests/test_a.py", TEST_A)
    assert runs.next()["mode"] == "resumed"


@pytest.mark.parametrize(
    "words",
    [
        ("-k", "multiply or add"),
        ("-x", "tests"),
        ("-q", "--tb=short", "tests/test_b.py"),
        ("-vv", "-rA", "-s"),
        ("-p", "no:cacheprovider"),
        ("--collect-only", "-q"),
        ("--import-mode=importlib",),
        ("--fixtures-per-test",),
        ("--maxfail=1", "--no-header", "--cache-clear"),
        ("tests/test_b.py::test_multiply", "--setup-show"),
    ],
    ids=" ".join,
)
def test_options(compared, tests, words):
    """The output and the exit code are those of plain pytest, before and after an edit."""
    (tests / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    runs = compared(*words)
    for text in (TEST_B.replace("== 6", "== -1"), TEST_B.replace("test_multiply", "test_other")):
        line = runs.edit("tests/test_b.py", text)
        assert line["mode"] == "resumed", line


def test_an_error_in_collection(compared, tests):
    """Of a test file, and of a conftest; and the way back."""
    runs = compared()
    line = runs.edit("tests/test_b.py", "import nowhere\n" + TEST_B)
    assert (line["exit_code"], line["mode"]) == (2, "resumed")
    line = runs.edit("tests/test_b.py", TEST_B)
    assert (line["exit_code"], line["mode"]) == (1, "resumed")
    line = runs.edit("conftest.py", "1 / 0\n" + CONFTEST)
    assert (line["exit_code"], line["mode"]) == (4, "resumed")
    line = runs.edit("conftest.py", CONFTEST)
    assert line["exit_code"] == 1


def test_two_saves_in_a_second(looping, tests):
    """Of one length: older releases of pytest would take the code compiled from the first."""
    path = tests / "tests" / "test_b.py"
    loop = looping(command=("pytest", "-q"))
    assert loop.line()["exit_code"] == 1
    moment = path.stat().st_mtime_ns
    new = tests / "new"
    new.write_text(TEST_B.replace("== 6", "< 6 "))
    os.utime(new, ns=(moment, moment))
    new.rename(path)
    assert loop.line()["exit_code"] == 0


def test_a_snapshot_before_a_slow_test(compared, own_zeroin, tests):
    """What has run by then is not run again."""
    # Long enough that the next one is due after it, also where a snapshot takes 0.2 seconds.
    own_zeroin.env[PAUSE] = "4"
    slow = "import os, time\n\ndef test_slow():\n"
    slow += f"    time.sleep(float(os.environ.get('{PAUSE}', '0')))\n"
    (tests / "tests" / "test_a.py").write_text(slow)
    runs = compared()
    line = runs.edit("calc.py", CALC.replace("a - b", "a * b"))
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    assert line["saved_seconds"] > 4
    assert "1 failed" not in runs.loop.shown[-200:]


def test_the_time_that_nobody_ran_does_not_count(compared, tests):
    """Pytest tells how long it took, not how long the user thought."""
    runs = compared()
    line = runs.edit("tests/test_b.py", TEST_B.replace("== 6", "== -1"))
    told = float(re.findall(r"passed in (\d+\.\d+)s", runs.loop.shown)[-1])
    assert told < line["saved_seconds"] + line["seconds"]


# --- the cache ---------------------------------------------------------------------------------


def test_the_cache_is_left_as_a_plain_run_leaves_it(compared, tests):
    """Which tests failed last: of this run, and of those that were not part of it."""
    cache = tests / ".pytest_cache" / "v" / "cache"

    def left():
        return [(cache / name).read_text() for name in ("lastfailed", "nodeids")]

    loop = compared().loop
    ours = []
    for text in (TEST_B.replace("== 6", "== -1"), TEST_B.replace("2 * n", "3 * n"), TEST_B):
        loop.edit("tests/test_b.py", text)
        assert loop.line()["mode"] == "resumed"
        ours.append(left())
    loop.quit()
    for name in ("lastfailed", "nodeids"):
        (cache / name).unlink()
    assert ours[-1] != ours[0]
    (tests / "tests" / "test_b.py").write_text(TEST_B)
    words = [sys.executable, "-m", "pytest", "-q"]
    subprocess.run(words, cwd=tests, capture_output=True, check=False, timeout=60)
    assert ours[-1] == left()


def test_last_failed_is_an_input(looping, tests):
    """With --lf what is run depends on the last run: each goes back to before that was read."""
    loop = looping("--verify", command=("pytest", "--lf"))
    assert loop.line()["exit_code"] == 1
    loop.edit("calc.py", CALC.replace("a - b", "a * b"))
    line = loop.line()
    assert (line["mode"], line["exit_code"]) == ("resumed", 0)
    assert line["resumed_at"] == "pytest's set-up"
    assert "lastfailed" in line["reason"]
    assert "1 passed" in loop.shown  # that one alone
    assert loop.shown.count("run-last-failure: rerun previous 1 failure") == 1


# --- other ways --------------------------------------------------------------------------------


def test_workers_are_children(looping, own_zeroin, plain):
    """With xdist there are no snapshots once they run; what was loaded before is kept."""
    pytest.importorskip("xdist")
    del own_zeroin.env[NO_PLUGINS]
    loop = looping(command=("pytest", "-n", "2", "-q"))
    first = loop.line()
    assert (first["exit_code"], first["mode"]) == (1, "cold")
    loop.edit("calc.py", CALC.replace("a - b", "a * b"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "resumed")
    assert second["resumed_at"] == "pytest's set-up"
    assert "4 passed" in loop.shown
    assert plain("pytest", "-n", "2", "-q")[0] == 0
    loop.edit("calc.py", CALC)  # which the workers alone have loaded
    assert loop.line()["exit_code"] == 1


def test_a_plugin_that_tests_plugins(compared, tests):
    """Pytest inside of pytest, in the same process."""
    (tests / "conftest.py").write_text('pytest_plugins = ["pytester"]\n' + CONFTEST)
    (tests / "tests" / "test_a.py").write_text(
        "def test_inner(pytester):\n"
        "    pytester.makepyfile('def test_it(): assert 1 == 2')\n"
        "    pytester.runpytest_inprocess().assert_outcomes(failed=1)\n"
    )
    runs = compared("-q")
    line = runs.edit("tests/test_b.py", TEST_B.replace("== 6", "== -1"))
    assert (line["mode"], line["exit_code"]) == ("resumed", 0)


def test_a_console_script_of_an_editable_install(zeroin, project, looping, tmp_path):
    """Its own few lines are the installer's; the modules behind it are stepped."""
    home = tmp_path / "venv"
    subprocess.run([support.base_python(), "-m", "venv", "--without-pip", home], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    source = project / "src"
    (source / "mytool").mkdir(parents=True)
    (source / "mytool" / "__init__.py").write_text("")
    (site / "mytool.pth").write_text(f"{source}\n")
    tool = home / "bin" / "mytool"
    tool.write_text(
        f"#!{home / 'bin' / 'python'}\nimport sys\nfrom mytool.cli import main\nsys.exit(main())\n"
    )
    tool.chmod(0o755)
    cli = "import sys, time\nfrom zeroin import checkpoint\n\n"
    cli += "def main():\n    time.sleep(0.1)\n    checkpoint()\n    print(greet(sys.argv[1]))\n"
    cli += "    return 3\n\ndef greet(name):\n    return f'hello {name}'\n"
    (source / "mytool" / "cli.py").write_text(cli)
    loop = looping("--verify", command=(str(tool), "Ann"))
    first = loop.line()
    assert (first["exit_code"], first["mode"]) == (3, "cold")
    loop.edit("src/mytool/cli.py", cli.replace("hello {name}", "goodbye {name}"))
    line = loop.line()
    assert (line["exit_code"], line["mode"], line["verified"]) == (3, "resumed", True)
    assert line["resumed_at"].startswith("cli.py:")
    assert line["saved_seconds"] > 0.1
    assert "goodbye Ann" in loop.shown
    assert Path(tool).exists()


def test_temporary_folders(compared, tests):
    """Each run has its own; one that goes on does so from before it was made."""
    (tests / "tests" / "test_a.py").write_text(
        "def test_folder(tmp_path):\n"
        "    assert list(tmp_path.iterdir()) == []\n"
        "    (tmp_path / 'x').write_text('y')\n"
    )
    runs = compared("-q")
    line = runs.edit("calc.py", CALC.replace("a - b", "a * b"))
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    line = runs.edit("tests/test_b.py", TEST_B.replace("== 6", "== 7"))
    assert (line["mode"], line["exit_code"]) == ("resumed", 1)


def test_other_runs_of_pytest(looping, tests, tmp_path):
    """They come and go in the folder of all temporary folders: that is no save of anybody's."""
    base = tmp_path / "temporary"
    others = [base / f"pytest-of-{getpass.getuser()}" / f"pytest-{n}" for n in range(5)]
    for other in others:
        other.mkdir(parents=True)
        (other / ".lock").touch()
    test = "def test_folder(tmp_path):\n    (tmp_path / 'x').write_text('y')\n"
    (tests / "tests" / "test_a.py").write_text(test)
    words = ("--env", f"TMPDIR={base}", "--unset", "PYTEST_DEBUG_TEMPROOT")
    loop = looping(*words, command=("pytest", "-q", "tests/test_a.py"))
    assert loop.line()["outcome"] == "passed"
    assert (others[0] / ".lock").exists()  # it was looked at, and not taken away
    for other in others:
        (other / ".lock").unlink()
    (others[0].parent / "pytest-99").mkdir()
    assert loop.says_nothing()
    assert loop.shown.count("passed") == 1
