"""`run --at`: probes act where they stand, change nothing, and tell what has become of them."""

import json
import py_compile
import sys
import textwrap

import pytest

import support
from left_out import heavy

TRAIN = '''\
import helper, sys

def outer(scale):
    bias = 7
    def inner(x):
        y = x * scale
        return y
    return inner

class Net:
    __hidden = 5
    def forward(self, x):
        """Text."""
        total = 0
        for i in range(3):
            total += i
        return total

def comp(xs):
    a = [n * 2 for n in xs]
    b = [
        n * 3
        for n in xs
    ]
    return a, b

def numbers():
    got = yield 1
    return got

async def waits(x):
    return x

def main():
    step = 0
    while step < 3:
        step += 1
    outer(2)(3)
    Net().forward(4)
    comp([1, 2])
    list(numbers())
    try:
        waits(1).send(None)
    except StopIteration as stop:
        found = stop.value
    helper.double(found)
    print("done")

def unused():
    return 1

if __name__ == "__main__":
    main()
'''
HELPER = "def double(x):\n    return x * 2\n\n\nclass Base:\n    def go(self):\n        return 1\n"


@pytest.fixture
def project(zeroin, tmp_path):
    """Make a folder with a program; give what runs it with probes."""
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "train.py").write_text(TRAIN)
    (folder / "helper.py").write_text(HELPER)

    def run(*probes, python="python", command=("train.py",), options=(), check=0, **more):
        words = []
        for probe in probes:
            words += ["--at", *([probe] if isinstance(probe, str) else probe)]
        done = zeroin("run", "--json", *options, *words, "--", python, *command, cwd=folder, **more)
        assert done.returncode == check, done.stderr
        report = json.loads(done.stdout) if done.stdout else {}
        return done.stderr.splitlines(), report.get("probes"), report

    run.folder = folder
    return run


def line(text):
    return next(n for n, one in enumerate(TRAIN.splitlines(), 1) if one.strip() == text)


def test_peeks_everywhere(project, python):
    """Closures, private names, comprehensions, loops, generators and coroutines: in their scope."""
    expected = {
        ("y = x * scale", "x,bias,[x + i for i in range(scale)]"): [
            "train.py:6 outer.inner  x = 3  bias = 7  [x + i for i in range(scale)] = [3, 4]"
        ],
        ("total += i", "total,self.__hidden"): [
            f"train.py:16 Net.forward  total = {n}  self.__hidden = 5" for n in (0, 0, 1)
        ],
        ("a = [n * 2 for n in xs]", "n,xs"): [
            f"train.py:20 comp  n = {n}  xs = [1, 2]" for n in (1, 2)
        ],
        ("n * 3", "n,xs"): [f"train.py:22 comp  n = {n}  xs = [1, 2]" for n in (1, 2)],
        ("while step < 3:", "step"): [f"train.py:36 main  step = {n}" for n in range(4)],
        ("return got", "got"): ["train.py:29 numbers  got = None"],
        ("return x", "x"): ["train.py:32 waits  x = 1"],
        ("except StopIteration as stop:", "stop.value"): ["train.py:45 main  stop.value = 1"],
        ("main()", "__name__"): ["train.py:53  __name__ = '__main__'"],
        ("__hidden = 5", "__qualname__"): ["train.py:11 Net  __qualname__ = 'Net'"],
    }
    probes = [(f"train.py:{line(text)}", f"peek={what}") for text, what in expected]
    said, told, _ = project(*probes, python=python)
    wanted = [one for lines in expected.values() for one in lines]
    assert sorted(one for one in said if one.startswith("train.py")) == sorted(wanted)
    assert [one["reached"] for one in told] == list(map(len, expected.values()))
    assert [one["why"] for one in told] == [None] * len(told)


def test_functions_by_name(project, python):
    """At the start with the arguments, at the end with the result; of modules and of files."""
    said, told, _ = project(
        "helper:double peek=x",
        "helper.py:double:return peek=result,x",
        "train:Net.forward:return peek=result",
        ("train.py:outer.inner", "peek=x"),
        "numbers.abc:Nothing.there die",
        python=python,
    )
    assert "helper.py:1 double  x = 1" in said
    assert "helper.py:2 double  result = 2  x = 1" in said
    assert "train.py:17 Net.forward  result = 3" in said
    assert [one["reached"] for one in told] == [1, 1, 1, 1, 0]


def test_a_value_that_is_not_there_yet(project, python):
    """A probe comes before its line: the note says where the value is there, and it is."""
    lines = [
        line(text) for text in ("y = x * scale", "for i in range(3):", "b = [", "got = yield 1")
    ]
    names = ["y", "i", "b", "missing"]
    _, told, _ = project(
        *(f"train.py:{at} peek={name}" for at, name in zip(lines, names, strict=True)),
        python=python,
    )
    notes = [one["notes"][0].partition("comes before it: --at train.py:")[2] for one in told]
    assert notes == [str(lines[0] + 1), str(lines[1] + 1), str(lines[2] + 4), ""]
    there = zip(notes[:3], names[:3], strict=True)
    _, told, _ = project(*(f"train.py:{at} peek={name}" for at, name in there), python=python)
    assert [one["raised"] for one in told] == [0, 0, 0]


def test_a_condition_and_how_often(project, python):
    """`if` decides, `every` skips, `times` ends it; all that was reached is counted."""
    at = line("total += i")
    said, told, _ = project(
        f"train.py:{at} if=i>0 peek=i",
        f"train.py:{at} peek=i every=2",
        f"train.py:{at} peek=i times=1",
        f"train.py:{at} if=missing>0 peek=i",
        f"train.py:{line('while step < 3:')} times=2 peek=step",
        python=python,
    )
    counts = [(one["reached"], one["acted"], one["raised"]) for one in told]
    assert counts == [(3, 2, 0), (3, 2, 0), (3, 1, 0), (3, 0, 3), (4, 2, 0)]
    assert told[3]["notes"] == ["if=missing>0 raised NameError: name 'missing' is not defined"]
    assert sum("missing" in one for one in said) == 1
    assert "done" in said


def test_die_ends_there(project, python):
    """Exit code 70, the stack, the recorded place; nothing after it ran."""
    said, told, report = project(f"train.py:{line('y = x * scale')} die", python=python, check=70)
    assert said[0].startswith("train.py:6 outer.inner  ends here, as --at asked")
    assert said[1:4] == [
        "train.py:6 outer.inner  called from",
        "  train.py:38 main",
        "  train.py:53",
    ]
    assert "done" not in said
    assert report["outcome"] == "failed"
    assert report["signature"].startswith("die at ")
    assert report["signature"].endswith("ended there, as --at asked")
    assert told[0]["reached"] == 1


@pytest.mark.parametrize("place", ["helper.py:2", "helper:double"])
def test_die_comes_after_what_else_is_to_be_done_there(project, python, place):
    """Whatever the order in which they are given."""
    for probes in ([f"{place} die", f"{place} peek=x"], [f"{place} peek=x", f"{place} die"]):
        said, told, _ = project(*probes, python=python, check=70)
        assert [one["reached"] for one in told] == [1, 1]
        assert any("x = 1" in one for one in said)


def test_another_name_of_a_module(project, python):
    """`os.path` is `posixpath`."""
    (project.folder / "join.py").write_text("import os\nos.path.join('a', 'b')\n")
    _, told, _ = project("os.path:join peek=a", python=python, command=("join.py",))
    assert told[0]["reached"] == 1


def test_a_module_that_stands_for_another(project, python):
    """`collections.abc` puts `_collections_abc` in its place; a package may do so for its own."""
    package = project.folder / "pk"
    package.mkdir()
    (package / "__init__.py").write_text(
        "import sys, pk._real\nsys.modules['pk.public'] = pk._real\n"
    )
    (package / "_real.py").write_text("def g(y):\n    return y * 2\n")
    (project.folder / "stands.py").write_text(
        "import collections.abc\nfrom pk.public import g\n"
        "class Mine(dict, collections.abc.MutableMapping):\n    pop = collections.abc"
        ".MutableMapping.pop\nMine(a=1).pop('a')\ng(3)\n"
    )
    probes = ("collections.abc:MutableMapping.pop peek=key", "pk.public:g peek=y")
    said, told, _ = project(*probes, python=python, command=("stands.py",))
    assert [one["reached"] for one in told] == [1, 1], told
    assert any("MutableMapping.pop  key = 'a'" in one for one in said)


def test_snapshot_stays_with_the_attempt(project, zeroin, python):
    """All frames with their variables, shown by `show`; the program goes on."""
    _, _, report = project(f"train.py:{line('total += i')} snapshot times=1", python=python)
    shown = json.loads(zeroin("show", "--json", cwd=project.folder).stdout)
    (kept,) = shown["snapshots"]
    assert [one["name"] for one in kept["frames"]] == ["<module>", "main", "forward"]
    assert kept["frames"][-1]["locals"] == {
        "self": "<Net object>",
        "x": "4",
        "total": "0",
        "i": "0",
    }
    assert report["outcome"] == "passed"
    text = zeroin("show", cwd=project.folder).stdout
    assert "snapshot at train.py:16 Net.forward" in text
    assert "      total = 0" in text
    assert "reached 3 times, acted once" in text


def test_mem_stack_and_sleep(project):
    """Each says one thing in one piece."""
    said, _, report = project(
        "helper:double mem", "helper:double stack", "helper:double sleep=200ms"
    )
    assert any(one.startswith("helper.py:1 double  memory ") and "peak" in one for one in said)
    at = said.index("helper.py:1 double  called from")
    assert said[at + 1 : at + 3] == ["  train.py:46 main", "  train.py:53"]
    assert any("sleeps 0.2 s" in one for one in said)
    assert report["seconds"] > 0.2


def test_why_never(project, python):
    """Each way of never being reached is told apart."""
    other = project.folder / "old" / "helper.py"
    other.parent.mkdir()
    other.write_text(HELPER)
    _, told, _ = project(
        "train.py:9 die",
        "train.py:999 die",
        "old/helper.py:2 die",
        "nowhere.py:3 die",
        f"train.py:{line('return 1')} die",
        "train:unused die",
        "helper.py:duble die",
        "helper:Base.gone die",
        "math:sqrt die",
        "helper:Base die",
        "helper.py:Base die",
        python=python,
    )
    why = [one["why"] for one in told]
    folder = project.folder
    assert why[0].startswith(
        f"line 9 of {folder}/train.py holds no code; the nearest are 7: return y"
    )
    assert f"which has only {TRAIN.count(chr(10))} lines" in why[1]
    assert why[2] == f"{other} was never loaded; another of that name was: {folder}/helper.py"
    assert why[3] == "nowhere.py was never loaded, nor anything of that name"
    assert why[4] == "train.py was loaded, but line 50 was never reached: unused was never called"
    assert why[5] == "train.py was loaded, but unused was never called"
    assert why[6] == f"{folder}/helper.py has no function duble; near: double"
    assert "has no function Base.gone; near: Base.go" in why[7]
    assert "never loaded" in why[8] or "written in C" in why[8]
    assert "it is a class; name a method: Base.__init__" in why[9]
    assert "it is a class; name a method: Base.__init__" in why[10]


def test_a_line_that_its_function_did_not_come_to(project, python):
    """The function was called so often, and never came to that line."""
    (project.folder / "train.py").write_text(
        "def f(x):\n    if x > 5:\n        return 1\n    return 2\nfor i in range(4): f(i)\n1 / 0\n"
    )
    _, told, _ = project("train.py:3 die", python=python, check=1)
    assert told[0]["why"] == (
        "train.py was loaded, but line 3 was never reached: f was called 4 times; "
        "the program failed before it could come there"
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_counted_over_all_processes(project, python, method):
    """Children count as well, and say who they are; a killed one keeps its count."""
    (project.folder / "train.py").write_text(
        textwrap.dedent(
            """
            import multiprocessing, os, signal, sys
            def work(x):
                y = x
                return y
            def killed():
                for i in range(5):
                    work(i)
                os.kill(os.getpid(), signal.SIGKILL)
            if __name__ == "__main__":
                context = multiprocessing.get_context(sys.argv[1])
                with context.Pool(2) as pool:
                    pool.map(work, range(6), chunksize=1)
                one = context.Process(target=killed)
                one.start()
                one.join()
                work(1)
            """
        )
    )
    said, told, _ = project(
        "train.py:4 peek=x",
        "train.py:5 peek=x times=1",
        python=python,
        command=("train.py", method),
    )
    assert told[0]["reached"] == 12
    assert told[0]["processes"] in (3, 4)
    own = [one for one in said if (one.startswith("[") and "Process" in one) or "Worker" in one]
    assert len([one for one in own if "train.py:4" in one]) == 11
    # What a killed process only counted, it could not write down: that is told.
    assert told[1]["acted"] == told[1]["processes"] == told[0]["processes"]
    assert told[1]["reached"] <= 12
    assert told[1]["at_least"]


def test_threads_lose_no_count(project, python):
    """Four threads at once: every pass is counted."""
    (project.folder / "train.py").write_text(
        textwrap.dedent(
            """
            import sys, threading
            sys.setswitchinterval(1e-6)
            def work():
                for i in range(5000):
                    i += 1
            threads = [threading.Thread(target=work) for _ in range(4)]
            [one.start() for one in threads]
            [one.join() for one in threads]
            """
        )
    )
    _, told, _ = project("train.py:6 if=i<0 die", "train.py:6 times=1 mem", python=python)
    assert [one["reached"] for one in told] == [20000, 20000]
    assert told[1]["acted"] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train.py:3", "peek=x+"], "peek=x+: "),
        (["train.py:3", "if=a b", "die"], "if=a b: "),
        (["train.py:3", "peek="], "peek= and nothing after it"),
        (["train.py:3", "if=", "die"], "if= and nothing after it"),
        (["train.py:3", "peak=x"], "there is no action 'peak=x'"),
        (["train.py:3"], "what is to be done there"),
        (["train.py"], "this is no place"),
        (["train.py:0", "die"], "from 1 on"),
        (["./gone.py:3", "die"], "there is no such file"),
        (["train.py:3", "sleep=long"], "no time span"),
        (["train.py:3", "times=0", "die"], "from 1 on"),
        (["train.py:3", "pdb"], "needs a terminal"),
        (["train.py:a-b", "die"], "neither a line nor a function"),
        (["a b:3", "die"], "neither a file nor a module"),
    ],
)
def test_refused_before_the_run(zeroin, project, words, said):
    """What can't be meant ends with exit code 2, and nothing is run."""
    done = zeroin("run", "--at", *words, "--", "touch", "ran", cwd=project.folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert not (project.folder / "ran").exists()


def test_the_command_needs_its_dashes(zeroin, project):
    """Without `--` nobody knows where the words of --at end."""
    done = zeroin("run", "--at", "train.py:3", "die", "python", "train.py", cwd=project.folder)
    assert done.returncode == 2
    assert "after --" in done.stderr


def test_again_repeats_the_probes(zeroin, project):
    """They are part of the attempt, quotes and all."""
    at = line("y = x * scale")
    project((f"train.py:{at}", "if=x == 3 and 'a b'", "peek=(x, 'it''s')"))
    done = zeroin("again", "--json", cwd=project.folder)
    assert "train.py:6 outer.inner  (x, 'it''s') = (3, 'its')" in done.stderr
    assert json.loads(done.stdout)["probes"][0]["reached"] == 1


def test_under_limits(zeroin, project):
    """`limit` takes them as well: the program waits there, and its memory can be read."""
    words = ["limit", "files=64", "--json", "--at", "helper:double", "sleep=1ms", "peek=x"]
    done = zeroin(*words, "--", "python", "train.py", cwd=project.folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["probes"][0]["reached"] == 1


def test_where_zeroin_is_not_let_in(project):
    """A Python that ignores the environment, or none at all, is named as the reason."""
    _, told, _ = project("train.py:6 die", command=("-I", "-c", "1"))
    assert told[0]["why"].startswith("zeroin was let into no Python")


def test_what_can_not_be_probed_says_so(project, python):
    """A script under `python -i`, and one that comes from standard input."""
    _, told, _ = project("helper.py:2 die", python=python, command=("-",), input=HELPER)
    assert told[0]["why"].endswith("; a program from standard input can't be probed")
    _, told, _ = project("train.py:6 die", python=python, command=("-i", "train.py"))
    assert "python -i" in told[0]["why"]


def test_a_stale_pyc_is_named(project):
    """Python runs it and not the source: no probe changes that, and the report says why."""
    path = project.folder / "helper.py"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), invalidation_mode=mode)
    path.write_text("def double(x):\n    return 'new'\n")
    code = "import helper; print(helper.double(2))"
    said, told, _ = project("helper.py:2 die", python=sys.executable, command=("-c", code))
    assert "4" in said
    assert "which is of another text: remove it" in told[0]["why"]


def test_pytest_and_its_rewriting(project, libs):
    """In a test, with its asserts as they are; the peek is with the test's captured output."""
    (project.folder / "test_it.py").write_text(
        "import helper\n\ndef test_a():\n    got = helper.double(2)\n    assert got == 5\n"
    )
    command = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    said, told, _ = project("test_it.py:5 peek=got", python=libs, command=command, check=1)
    assert "test_it.py:5 test_a  got = 4" in said
    assert any("assert 4 == 5" in one for one in said)
    assert told[0]["reached"] == 1


@heavy("torch")
@pytest.mark.slow
def test_methods_of_torch(project, libs):
    """Functions of installed packages, by the name that people use for them."""
    (project.folder / "net.py").write_text(
        "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(10, 4), torch.nn.ReLU())\n"
        "net(torch.zeros(32, 10))\n"
    )
    said, told, _ = project(
        "torch.nn.functional:relu peek=input.shape",
        "torch.nn.modules.linear:Linear.forward peek=input",
        "torch.nn:Linear.forward:return peek=result.shape",
        "torch.nn:Linear.train die",
        "torch:zeros die",
        python=libs,
        command=("net.py",),
        timeout=120,
    )
    assert [one["reached"] for one in told] == [1, 1, 1, 0, 0]
    assert any("Linear.forward  input = Tensor[32, 10] f32 cpu  all 0" in one for one in said)
    assert any("relu  input.shape = Size((32, 4))" in one for one in said)
    assert "Linear.train was never called" in told[3]["why"]
    assert "written in C" in told[4]["why"]


def test_pdb_stands_before_the_line(project, zeroin):
    """The debugger opens in the user's frame before the line has run, and goes on from there."""
    at = line("y = x * scale")
    words = ["run", "--at", f"train.py:{at}", "pdb", "--", "python", "train.py"]
    with support.Terminal([*zeroin.driver, *words], cwd=project.folder, env=zeroin.env) as terminal:
        terminal.expect("y = x * scale")
        terminal.expect("(Pdb) ")
        terminal.line("p x, bias if 'bias' in locals() else 'no', 'y' in locals()")
        terminal.expect("(3, 'no', False)")
        terminal.line("n")
        terminal.expect("return y")
        terminal.line("p y")
        terminal.expect("6")
        terminal.line("c")
        terminal.expect("done")
        terminal.expect("reached once")
        assert terminal.wait() == 0


@pytest.mark.slow
def test_pdb_inside_of_pytest(project, zeroin, libs):
    """The terminal that pytest keeps from its tests is given back for the debugger."""
    (project.folder / "test_it.py").write_text("def test_a():\n    v = 41\n    v += 1\n")
    command = [libs, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    words = [*zeroin.driver, "run", "--at", "test_it.py:3", "pdb", "--", *command]
    with support.Terminal(words, cwd=project.folder, env=zeroin.env) as terminal:
        terminal.expect("-> v += 1", timeout=60)
        terminal.line("p 'v is', v")
        terminal.expect("('v is', 41)")
        terminal.line("s")
        terminal.expect("--Return--")
        terminal.line("c")
        terminal.expect("1 passed")
        assert terminal.wait() == 0


def test_ctrl_c_while_it_sleeps(project, zeroin, python):
    """The program is interrupted where the probe stands; nothing of ours is in its traceback."""
    at = line("y = x * scale")
    words = ["run", "--at", f"train.py:{at}", "if=x", "sleep=1m", "--", python, "train.py"]
    with support.Terminal([*zeroin.driver, *words], cwd=project.folder, env=zeroin.env) as terminal:
        terminal.expect("sleeps 60 s")
        terminal.send("\x03")
        terminal.expect("KeyboardInterrupt")
        terminal.expect("was interrupted")
        terminal.wait()
        assert "outer.inner" in terminal.text
        assert "agent" not in terminal.text


def test_what_a_probe_says_is_not_why_it_failed(project):
    """An exit code is explained by the program's own last line."""
    (project.folder / "train.py").write_text(
        "import sys\nsys.stderr.write('no such shop\\n')\ncode = 3\nsys.exit(code)\n"
    )
    _, _, report = project("train.py:4 peek=code stack", check=3)
    assert report["headline"] == "exit 3: no such shop"


def test_a_declared_name_can_be_asked_for(project, python):
    """A function that says `global n` first may have a probe at its start that asks for n."""
    (project.folder / "train.py").write_text(
        "n = 1\ndef f(x):\n    global n\n    n += x\nf(1)\nf(2)\n"
    )
    said, told, _ = project("train:f if=n>1 peek=n,x", "train.py:4 if=n>1 peek=n", python=python)
    assert "train.py:2 f  n = 2  x = 2" in said
    assert "train.py:4 f  n = 2" in said
    assert [(one["reached"], one["acted"]) for one in told] == [(2, 1), (2, 1)]


def test_loop_has_none(zeroin, project):
    """The loop runs programs its own way, and says where probes can be had."""
    done = zeroin("loop", "--at", "train.py:3", "die", "--", "python", "train.py")
    assert done.returncode == 2
    assert "loop has no --at" in done.stderr


def test_python_m_and_threading(project, python):
    """A module run by `-m` is probed by its name; a probe in `threading` hides no crash there."""
    package = project.folder / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "mod.py").write_text(
        "import threading\n"
        "def f(x):\n    return 1 / x\n"
        "t = threading.Thread(target=f, args=(0,)); t.start(); t.join()\nraise SystemExit(4)\n"
    )
    said, told, report = project(
        "pkg.mod:f peek=x",
        "threading:Thread.join peek=timeout",
        python=python,
        command=("-m", "pkg.mod"),
        check=4,
    )
    assert any(one.endswith("pkg/mod.py:2 f  x = 0") for one in said)
    assert [one["reached"] for one in told] == [1, 1]
    assert "ZeroDivisionError" in report["headline"]


def test_again_with_the_old_code(zeroin, project):
    """An absolute place moves with the code that is checked out for it."""
    support.make_project(project.folder, zeroin.env)
    (project.folder / "train.py").write_text(TRAIN)
    project(f"{project.folder}/train.py:{line('y = x * scale')} peek=x")
    done = zeroin("again", "--code", "--json", cwd=project.folder)
    assert json.loads(done.stdout)["probes"][0]["reached"] == 1, done.stderr


def test_a_signal_while_it_sleeps_is_the_programs(project, python):
    """What a handler of the program raises meanwhile ends the sleep, and reaches the program."""
    (project.folder / "train.py").write_text(
        textwrap.dedent(
            """
            import signal
            def late(*_):
                raise TimeoutError("late")
            signal.signal(signal.SIGALRM, late)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.3)
                x = 1
            except TimeoutError as error:
                print("caught", error)
            """
        )
    )
    said, told, _ = project("train.py:8 sleep=1m", python=python)
    assert "caught late" in said
    assert told[0]["reached"] == 1
