"""Another body for a file: it is the one that runs, and nobody sees the difference."""

import shutil
import signal
import subprocess
import textwrap
import zipfile
from pathlib import Path

import pytest

import support
from zeroin.run import environment
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.inbox import Inbox

SITE = Path(__file__).parent.parent / "programs" / "rewrite_site.py"
HELPER = "def double(x):\n    return x * 2\n\n\nLOADED = True\n"
# Everything whose meaning depends on where it stands.
PROGRAM = '''\
"""The main script."""
from __future__ import annotations
import asyncio, functools, inspect, linecache, sys, traceback
import helper

def fib(n):
    """Fibonacci."""
    if n < 2:
        return n
    return fib(n - 1) + fib(n - 2)

def counter():
    count = 0
    def more():
        nonlocal count
        count += 1
        return count
    return more

class Base:
    def greet(self):
        return "base"

class Sub(Base, object):
    __secret = 3
    doubled = [x * 2 for x in (1, 2)]
    def greet(self):
        return super().greet() + str(self.__secret) + __class__.__name__
    @property
    def size(self): return len(self.doubled)
    @functools.lru_cache
    def cached(self, *, key: "int" = 3): return key

def numbers():
    try:
        for i in range(3):
            got = yield i
    except GeneratorExit:
        print("closed")
        raise
    finally:
        print("finally")

async def waiting():
    async with asyncio.Lock():
        await asyncio.sleep(0)
    return [x async for x in agen()]

async def agen():
    for i in range(2):
        yield i

def who():
    frame = sys._getframe(1)
    return frame.f_code.co_name, frame.f_lineno, frame.f_back and frame.f_back.f_code.co_name

def fails(depth):
    if depth:
        return fails(depth - 1)
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("no") from error

more = counter(); more()
print(__doc__, __name__, __file__, __spec__ and __spec__.name, fib.__doc__, fib(10), more(), Sub().greet(), Sub().size)
print(Sub.doubled, Sub().cached(), fib.__annotations__, Sub.cached.__wrapped__.__annotations__)
it = numbers(); next(it); it.close()
print(asyncio.run(waiting()), who(), helper.double(2), (lambda a: [a + b for b in (1,)])(1))
print(inspect.getsource(fib), linecache.getline(__file__, 6), inspect.getsource(helper.double))
print([f.filename for f in inspect.stack()], sys.argv, "__cached__" in globals(), sys.flags.optimize)
print(sorted(n for n in globals() if "zeroin" in n), fib.__code__.co_names, fib.__code__.co_varnames)
def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        return n
print(900 < deep(1) < 1001)
traceback.print_stack()
fails(2)
'''


@pytest.fixture
def inbox():
    box = Inbox()
    yield box
    box.close()


class Rewritten:
    """Runs commands whose files get notes: `rewritten(python, "main.py")`."""

    def __init__(self, base, inbox):
        self.base = base
        self.inbox = inbox
        self.notes = base / "notes"
        site = base / "site"
        site.mkdir()
        shutil.copy(SITE, site / "sitecustomize.py")

    def __call__(self, *command, wanted="main.py:helper.py", **env):
        base = support.clean_environment(self.base) | {
            "PYTHONPATH": str(self.base / "site"),
            "NOTES": str(self.notes),
            "WANTED": wanted,
            **env,
        }
        led = environment.lead_to_agent(base, debugger=False)
        return self._run(command, hand_order(AgentOrder(), self.inbox.folder, led))

    def plain(self, *command):
        return self._run(command, support.clean_environment(self.base))

    def _run(self, command, env):
        done = subprocess.run(
            [*map(str, command)],
            cwd=self.base,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        self.inbox.drain()
        return done

    def noted(self):
        """What was reached."""
        return self.notes.read_text().splitlines() if self.notes.exists() else []

    def write(self, name, source):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source))
        return path


@pytest.fixture
def rewritten(tmp_path, inbox):
    made = Rewritten(tmp_path, inbox)
    made.write("helper.py", HELPER)
    return made


def told(done):
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("how", [["main.py"], ["-m", "main"], ["-O", "./main.py", "x"]])
def test_nobody_sees_a_difference(python, rewritten, how):
    """Output, traceback, stacks, sources, scopes and depth are those of the plain run."""
    rewritten.write("main.py", PROGRAM)
    plain = rewritten.plain(python, *how)
    assert told(rewritten(python, *how)) == told(plain)
    assert "ValueError: no" in plain.stderr
    assert "True" in plain.stdout
    noted = rewritten.noted()
    assert noted[:2] == ["main.py:3", "main.py:4"]
    assert {"helper.py:1", "helper.py:2", "main.py:16", "main.py:28", "main.py:42"} <= {*noted}


def test_what_is_not_changed_has_its_very_code(python, rewritten):
    """All functions but the one that was changed have the code that a plain compile gives."""
    rewritten.write(
        "main.py",
        """
        import main_like, warnings; warnings.simplefilter('ignore')
        plain = compile(open(main_like.__file__, "rb").read(), main_like.__file__, "exec")
        def every(code):
            for one in code.co_consts:
                if hasattr(one, "co_code"):
                    yield one
                    yield from every(one)
        same = {one.co_name: one for one in every(plain)}
        for name in ("counter", "numbers", "waiting", "agen", "who", "fails"):
            code = getattr(main_like, name).__code__
            assert code == same[name], name
            for fact in ("code", "consts", "names", "varnames", "cellvars", "flags", "stacksize"):
                assert getattr(code, "co_" + fact) == getattr(same[name], "co_" + fact), name
            for fact in ("co_linetable", "co_lnotab", "co_exceptiontable"):
                assert getattr(code, fact, 0) == getattr(same[name], fact, 0), name
        print(main_like.fib.__code__ == same["fib"])
        """,
    )
    source = PROGRAM.partition("\nmore = ")[0]
    rewritten.write("main_like.py", source)
    done = rewritten(python, "main.py", wanted="main_like.py", ONLY="fib")
    assert told(done) == (0, "False\n", "")


def test_no_pyc_is_written_or_believed(python, rewritten):
    """The `.pyc` is that of the plain code, and the next changed run does not take it."""
    rewritten.write("main.py", "import helper; print(helper.double(1), helper.__cached__)")
    assert rewritten(python, "main.py").returncode == 0
    assert rewritten.noted().count("helper.py:2") == 1
    (pyc,) = (rewritten.base / "__pycache__").glob("helper.*.pyc")
    assert b"zeroin" not in pyc.read_bytes()
    before = pyc.stat().st_mtime_ns
    assert rewritten(python, "main.py").returncode == 0
    assert rewritten.noted().count("helper.py:2") == 2
    rewritten.plain(python, "main.py")
    assert rewritten.noted().count("helper.py:2") == 2
    assert pyc.stat().st_mtime_ns == before


def test_a_stale_pyc_runs_as_ever(python, rewritten):
    """Python believes one that is marked as unchecked: so do we, and leave the file alone."""
    rewritten.write("main.py", "import helper; print(helper.double(1))")
    make = "import py_compile as p; m = p.PycInvalidationMode.UNCHECKED_HASH; "
    make += "p.compile('helper.py', invalidation_mode=m)"
    assert rewritten.plain(python, "-c", make).returncode == 0
    rewritten.write("helper.py", HELPER.replace("x * 2", "x * 3"))
    done = rewritten(python, "main.py", wanted="helper.py")
    assert told(done) == (0, "2\n", "")
    assert "helper.py:2" not in rewritten.noted()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_of_multiprocessing(python, rewritten, method):
    """What was changed is changed in every child, in the main script's functions as well."""
    rewritten.write(
        "main.py",
        """
        import multiprocessing, sys, helper
        def work(x):
            return helper.double(x)
        if __name__ == "__main__":
            with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
                print(pool.map(work, [1, 2, 3], chunksize=1))
            sys.exit(7)
        """,
    )
    done = rewritten(python, "main.py", method)
    assert told(done) == (7, "[2, 4, 6]\n", "")
    assert rewritten.noted().count("main.py:4") == 3
    assert rewritten.noted().count("helper.py:2") == 3


def test_other_ways_to_load(python, rewritten):
    """Namespace packages, reload, runpy, a folder, a zip file, a profiler: all are changed."""
    rewritten.write("space/inner/helper.py", HELPER)
    rewritten.write("app/__main__.py", "def f(): return 3\nprint(f(), __name__)\n")
    rewritten.write(
        "load.py",
        """
        import importlib, runpy, sys
        import space.inner.helper as one
        importlib.reload(one)
        print(one.double(1), runpy.run_path("helper.py")["double"](2))
        sys.path.insert(0, "packed.zip")
        import zipped
        print(zipped.f(), zipped.__loader__.__class__.__name__)
        """,
    )
    with zipfile.ZipFile(rewritten.base / "packed.zip", "w") as packed:
        packed.writestr("zipped.py", "def f():\n    return 4\n")
        packed.writestr("__main__.py", "print('in the zip')\n")
    wanted = "helper.py:zipped.py:__main__.py"
    done = rewritten(python, "load.py", wanted=wanted)
    assert told(done) == (0, "2 4\n4 zipimporter\n", "")
    assert rewritten.noted().count("helper.py:5") == 3
    assert "zipped.py:2" in rewritten.noted()
    assert told(rewritten(python, "app", wanted=wanted)) == (0, "3 __main__\n", "")
    assert told(rewritten(python, "packed.zip", wanted=wanted)) == (0, "in the zip\n", "")
    assert rewritten.noted().count("__main__.py:1") == 3
    for runner in (["cProfile"], ["profile"], ["trace", "--count", "-C", "counts"]):
        done = rewritten(python, "-m", *runner, "helper.py")
        assert done.returncode == 0, done.stderr
    assert rewritten.noted().count("helper.py:5") == 6


def test_a_loaded_module_gets_the_code(python, rewritten):
    """A module that the interpreter loads at its start is changed in its functions."""
    rewritten.write("main.py", "import posixpath\nprint(posixpath.normcase('A'))\n")
    done = rewritten(python, "main.py", wanted="posixpath.py", ONLY="normcase")
    assert told(done) == (0, "A\n", "")
    assert any(
        line.startswith(("posixpath.py", "<frozen posixpath>")) for line in rewritten.noted()
    )


def test_errors_of_the_text_are_the_compilers(python, rewritten):
    """A script that does not compile fails as it would; warnings come once."""
    rewritten.write("main.py", "import helper\nif 1 is 1: print('a\\d')\n")
    plain = rewritten.plain(python, "main.py")
    assert told(rewritten(python, "main.py")) == told(plain)
    assert "SyntaxWarning" in plain.stderr or "DeprecationWarning" in plain.stderr
    rewritten.write("main.py", "import broken\n")
    rewritten.write("broken.py", "def f(:\n")
    plain = rewritten.plain(python, "main.py")
    assert told(rewritten(python, "main.py", wanted="main.py:broken.py")) == told(plain)
    rewritten.write("main.py", "def f(:\n")
    assert told(rewritten(python, "main.py")) == told(rewritten.plain(python, "main.py"))


@pytest.mark.parametrize(
    "ending",
    ["import sys; sys.exit(3)", "raise SystemExit('bye')", "import os; os._exit(4)", "x = 1"],
)
def test_a_taken_over_script_ends_as_it_would(python, rewritten, ending):
    """Exit codes, messages and `atexit` are those of the plain run."""
    rewritten.write("main.py", f"import atexit; atexit.register(print, 'at exit')\n{ending}\n")
    assert told(rewritten(python, "main.py")) == told(rewritten.plain(python, "main.py"))
    assert "main.py:2" in rewritten.noted()


def test_a_signal_ends_it_as_it_would(python, rewritten):
    """Ctrl-C ends a taken over script by the signal, after its own traceback."""
    rewritten.write("main.py", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nprint(1)\n")
    done, plain = rewritten(python, "main.py"), rewritten.plain(python, "main.py")
    assert done.returncode == plain.returncode == -signal.SIGINT
    assert done.stderr == plain.stderr


def test_tests_that_pytest_rewrites(rewritten, libs):
    """Test files and conftest are changed before their asserts are, and kept in no `.pyc`."""
    rewritten.write("conftest.py", "import pytest\n@pytest.fixture\ndef two():\n    return 2\n")
    rewritten.write(
        "test_it.py",
        """
        import helper
        def test_a(two):
            got = helper.double(two)
            assert got == 5, "five"
        """,
    )
    command = (libs, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    plain = rewritten.plain(*command)
    wanted = "conftest.py:test_it.py:helper.py"
    for _ in range(2):
        done = rewritten(*command, wanted=wanted)
        assert done.returncode == 1
        assert without_time(done.stdout) == without_time(plain.stdout)
    assert rewritten.noted().count("test_it.py:4") == 2
    assert rewritten.noted().count("conftest.py:4") == 2
    kept = list((rewritten.base / "__pycache__").iterdir())
    assert kept
    assert not any(b"zeroin" in one.read_bytes() for one in kept)


def without_time(text):
    return [line for line in text.splitlines() if " in 0." not in line]


def test_what_cannot_be_taken_over_runs_as_it_is(python, rewritten):
    """A compiled script, `-c` and standard input run; nothing is changed."""
    rewritten.write("main.py", "print(__name__)\n")
    subprocess.run([python, "-m", "py_compile", "main.py"], cwd=rewritten.base, check=True)
    (pyc,) = (rewritten.base / "__pycache__").glob("main.*.pyc")
    shutil.copy(pyc, rewritten.base / "compiled.pyc")
    assert told(rewritten(python, "compiled.pyc", wanted="compiled.py")) == (0, "__main__\n", "")
    assert told(rewritten(python, "-c", "print(1)")) == (0, "1\n", "")
    assert rewritten.noted() == []
