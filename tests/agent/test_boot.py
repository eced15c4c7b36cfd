"""The agent inside every interpreter: it gets in, stays unseen, and tells of the crash."""

import os
import signal
import stat
import subprocess
import textwrap

import pytest

import support
from left_out import heavy
from zeroin.cycle import Cycle
from zeroin.run import environment
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.inbox import Inbox


@pytest.fixture
def inbox():
    box = Inbox()
    yield box
    box.close()


NOTHING = AgentOrder()


def start(python, inbox, *args, cwd, env=None, order=NOTHING, **options):
    """Run a Python with the agent; what it sent is in the inbox after."""
    base = support.clean_environment(cwd) | (env or {})
    led = environment.lead_to_agent(base, debugger=False)
    full = hand_order(order, inbox.folder, led)
    done = subprocess.run(
        [python, *args],
        cwd=cwd,
        env=full,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        **options,
    )
    inbox.drain()
    return done


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return path


def crashes(inbox):
    return [m for m in inbox.messages if m["kind"] == "crash"]


def test_output_is_byte_for_byte_the_plain_one(python, inbox, tmp_path):
    """stdout, stderr, traceback and exit code are those of a run without the agent."""
    script = write(
        tmp_path,
        "a.py",
        """
        import sys, warnings
        def f(x): return {"a": x}["b"]
        print(sys.path, sys.flags, sorted(sys.argv))
        warnings.warn("careful")
        f(1)
    """,
    )
    env = support.clean_environment(tmp_path)
    plain = subprocess.run(
        [python, script, "x"], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    watched = start(python, inbox, script, "x", cwd=tmp_path)
    assert (watched.stdout, watched.stderr, watched.returncode) == (
        plain.stdout,
        plain.stderr,
        plain.returncode,
    )


def test_crash_is_told_whole(python, inbox, tmp_path):
    """Chain, functions, source and locals of the user's frames arrive."""
    script = write(
        tmp_path,
        "a.py",
        """
        import json
        def parse(text):
            size = len(text)
            return json.loads(text)
        def load():
            try:
                parse("{")
            except ValueError as error:
                raise RuntimeError("no") from error
        load()
    """,
    )
    start(python, inbox, script, cwd=tmp_path)
    (crash,) = crashes(inbox)
    assert [link["type"] for link in crash["chain"]] == ["JSONDecodeError", "RuntimeError"]
    frames = crash["chain"][0]["frames"]
    mine = [f for f in frames if f["owner"] == "user"]
    assert [f["name"] for f in mine] == ["load", "parse"]
    assert mine[1]["locals"] == {"text": "'{'", "size": "1"}
    assert "return json.loads(text)" in "".join(mine[1]["source"]["lines"])
    assert {f["owner"] for f in frames} == {"user", "stdlib"}
    assert crash["python"]["version"].startswith(support_version(python))


def support_version(python):
    return next(v for v, path in support.interpreters().items() if path == python)


def test_modules_of_the_users_own_are_named_at_exit(python, inbox, tmp_path):
    """What was really imported, without the standard library's and without ours."""
    write(tmp_path, "helper/__init__.py", "")
    write(tmp_path, "helper/part.py", "")
    script = write(tmp_path, "a.py", "import json, helper.part")
    assert start(python, inbox, script, cwd=tmp_path).returncode == 0
    (message,) = [m for m in inbox.messages if m["kind"] == "exit"]
    assert message["modules"] == {
        "__main__": str(script),
        "helper": str(tmp_path / "helper/__init__.py"),
        "helper.part": str(tmp_path / "helper/part.py"),
    }


@pytest.mark.parametrize("how", ["module", "command", "shebang", "stdin", "subprocess"])
def test_every_way_to_start_python(python, inbox, tmp_path, how):
    """-m, -c, a shebang, stdin and a Python started by the program."""
    source = 'def boom(): raise LookupError("here")\nboom()\n'
    script = write(tmp_path, "prog.py", f"#!{python}\n{source}")
    if how == "module":
        done = start(python, inbox, "-m", "prog", cwd=tmp_path)
    elif how == "command":
        done = start(python, inbox, "-c", source, cwd=tmp_path)
    elif how == "stdin":
        done = start(python, inbox, "-", cwd=tmp_path, input=source)
    elif how == "shebang":
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        done = start(
            python, inbox, "-c", "import os; os.execv('./prog.py', ['prog.py'])", cwd=tmp_path
        )
    else:
        done = start(
            python,
            inbox,
            "-c",
            "import subprocess, sys; subprocess.run([sys.executable, 'prog.py']); sys.exit(1)",
            cwd=tmp_path,
        )
    assert done.returncode == 1
    (crash,) = crashes(inbox)
    assert crash["chain"][-1]["type"] == "LookupError"
    assert crash["chain"][-1]["frames"][-1]["name"] == "boom"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_worker_processes(python, inbox, tmp_path, method):
    """`multiprocessing.Process` prints its traceback itself: we hear of it all the same."""
    script = write(
        tmp_path,
        "a.py",
        f"""
        import multiprocessing as mp
        def work(n): raise KeyError(n)
        if __name__ == "__main__":
            p = mp.get_context({method!r}).Process(target=work, args=(3,))
            p.start(); p.join(); raise SystemExit(p.exitcode)
    """,
    )
    done = start(python, inbox, script, cwd=tmp_path)
    assert done.returncode == 1
    assert "zeroin" not in done.stderr
    (crash,) = crashes(inbox)
    assert crash["chain"][-1]["frames"][-1]["name"] == "work"


def test_threads(python, inbox, tmp_path):
    """A thread's death is told, and is no death of the program's."""
    script = write(
        tmp_path,
        "a.py",
        """
        import threading
        def work(): raise KeyError("t")
        t = threading.Thread(target=work, name="loader"); t.start(); t.join()
    """,
    )
    assert start(python, inbox, script, cwd=tmp_path).returncode == 0
    (crash,) = crashes(inbox)
    assert (crash["thread"], crash["fatal"]) == ("loader", False)


def test_a_hook_of_the_users_own_does_not_hide_the_crash(python, inbox, tmp_path):
    """Programs that replace sys.excepthook are heard at their exit."""
    script = write(
        tmp_path,
        "a.py",
        """
        import sys
        sys.excepthook = lambda *a: print("mine")
        raise KeyError("x")
    """,
    )
    assert start(python, inbox, script, cwd=tmp_path).stdout == "mine\n"
    assert len(crashes(inbox)) == 1


def test_a_hook_of_the_users_own_does_not_hide_threads(python, inbox, tmp_path):
    """Programs that replace threading.excepthook are heard as well, and their hook is called."""
    script = write(
        tmp_path,
        "a.py",
        """
        import threading
        threading.excepthook = lambda args: print("mine", args.exc_value)
        def work(): raise KeyError("x")
        t = threading.Thread(target=work, name="loader"); t.start(); t.join()
    """,
    )
    assert start(python, inbox, script, cwd=tmp_path).stdout == "mine 'x'\n"
    (crash,) = crashes(inbox)
    assert (crash["thread"], crash["fatal"]) == ("loader", False)


def test_groups_and_notes(python, inbox, tmp_path):
    """Members of a group and added notes are kept."""
    if [int(n) for n in support_version(python).split(".")] < [3, 11]:
        pytest.skip("exception groups came with 3.11")
    script = write(
        tmp_path,
        "a.py",
        """
        def f(): raise ExceptionGroup("two", [KeyError("a"), ValueError("b")])
        try: f()
        except ExceptionGroup as e:
            e.add_note("look here")
            raise
    """,
    )
    start(python, inbox, script, cwd=tmp_path)
    link = crashes(inbox)[0]["chain"][-1]
    assert [chain[-1]["type"] for chain in link["group"]] == ["KeyError", "ValueError"]
    assert link["notes"] == ["look here"]


def test_deep_recursion_is_cut(python, inbox, tmp_path):
    """A thousand frames are told by the first and the last."""
    script = write(tmp_path, "a.py", "def f(n): return f(n + 1)\nf(0)\n")
    start(python, inbox, script, cwd=tmp_path)
    frames = crashes(inbox)[0]["chain"][-1]["frames"]
    assert len(frames) <= 60
    assert any(f.get("left_out_before") for f in frames)


def test_hostile_exceptions(python, inbox, tmp_path):
    """An exception whose text can't be made, of a class that lies: still told, nothing printed."""
    script = write(
        tmp_path,
        "a.py",
        """
        class Bad(BaseException):
            def __str__(self): raise KeyboardInterrupt
            @property
            def __class__(self): return int
        def f(): raise Bad()
        f()
    """,
    )
    env = support.clean_environment(tmp_path)
    plain = subprocess.run(
        [python, script], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    done = start(python, inbox, script, cwd=tmp_path)
    assert (done.stderr, done.returncode) == (plain.stderr, plain.returncode)
    assert crashes(inbox)[0]["chain"][-1]["type"] == "Bad"


def test_segfault_leaves_the_python_stack_with_us(python, inbox, tmp_path):
    """And the program's own stderr stays as it would be: empty."""
    script = write(
        tmp_path,
        "a.py",
        """
        import os, signal
        def crash(): os.kill(os.getpid(), signal.SIGSEGV)
        crash()
    """,
    )
    done = start(python, inbox, script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (-signal.SIGSEGV, "")
    assert "in crash" in inbox.faults()


def test_the_environments_own_sitecustomize_runs(python, inbox, tmp_path):
    """We stand in front of it, not instead of it."""
    site = tmp_path / "site"
    write(site, "sitecustomize.py", "import builtins; builtins.own = 'ran'")
    done = start(
        python,
        inbox,
        "-c",
        "import sitecustomize; print(own, sitecustomize.__file__)",
        cwd=tmp_path,
        env={"PYTHONPATH": str(site)},
    )
    assert done.stdout == f"ran {site / 'sitecustomize.py'}\n"


def test_not_a_trace_on_the_path(python, inbox, tmp_path):
    """Our folder is off sys.path before the program starts, and no file descriptor is taken."""
    done = start(
        python,
        inbox,
        "-c",
        "import sys, os; print(sys.path); print(os.open('/dev/null', 0))",
        cwd=tmp_path,
    )
    path, fd = done.stdout.splitlines()
    assert "zeroin" not in path.replace(str(tmp_path), "")
    assert fd == "3"


def test_nobody_listens(python, tmp_path):
    """The driver is gone: the program ends as always, and at once."""
    box = Inbox()
    box.close()
    done = start_without(python, box, tmp_path)
    assert (done.returncode, done.stdout) == (1, "out\n")


def start_without(python, box, tmp_path):
    env = environment.lead_to_agent(support.clean_environment(tmp_path), debugger=False)
    if os.path.isdir(box.folder):
        hand_order(AgentOrder(), box.folder, env)
    env["ZEROIN_AGENT"] = os.path.join(box.folder, "order")
    return subprocess.run(
        [python, "-c", "print('out'); 1/0"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )


def test_few_file_descriptors(python, inbox, tmp_path):
    """A low limit of open files: no stack of a segfault then, but the program runs."""
    done = start(
        python,
        inbox,
        "-c",
        "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])",
        cwd=tmp_path,
        preexec_fn=lambda: __import__("resource").setrlimit(
            __import__("resource").RLIMIT_NOFILE, (64, 64)
        ),
    )
    assert done.stdout == "64\n"


@pytest.mark.parametrize("old", support.old_pythons(), ids=lambda path: path.split("/")[-3])
def test_older_pythons_are_left_alone(old, inbox, tmp_path):
    """2.7 to 3.8 in the user's tree run as if we were not there."""
    done = start(old, inbox, "-c", "print('fine')", cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("fine\n", "")


def test_seed_reaches_random_hash_and_subprocesses(python, inbox, tmp_path):
    """The same seed, the same numbers, also in a child; another seed, others."""
    code = "import random; print(random.random(), hash('x'))"

    def numbers(seed):
        cycle = Cycle((python,), str(tmp_path), seed=seed)
        env = environment.users(cycle, support.clean_environment(tmp_path))
        order = AgentOrder(seed=cycle.seed, sync=cycle.sync)
        env = hand_order(order, inbox.folder, environment.lead_to_agent(env, debugger=False))
        return subprocess.run(
            [python, "-c", code], env=env, capture_output=True, text=True, check=True
        ).stdout

    assert numbers(1) == numbers(1)
    assert numbers(1) != numbers(2)


@heavy("torch")
@pytest.mark.slow
def test_real_libraries(libs, inbox, tmp_path):
    """--seed seeds numpy and torch; --sync makes a DataLoader read in this process."""
    script = write(
        tmp_path,
        "a.py",
        """
        import os
        import numpy, torch
        from torch.utils.data import DataLoader, Dataset
        class Data(Dataset):
            def __len__(self): return 2
            def __getitem__(self, n): return os.getpid()
        loader = DataLoader(Data(), 1, num_workers=2, persistent_workers=True, prefetch_factor=4)
        print(numpy.random.rand(), torch.rand(1).item(), {int(p) for p in loader} == {os.getpid()})
    """,
    )

    def numbers(seed):
        cycle = Cycle((libs,), str(tmp_path), seed=seed, sync=True)
        env = environment.users(cycle, support.clean_environment(tmp_path))
        order = AgentOrder(seed=cycle.seed, sync=cycle.sync)
        env = hand_order(order, inbox.folder, environment.lead_to_agent(env, debugger=False))
        return subprocess.run(
            [libs, script], env=env, capture_output=True, text=True, check=True
        ).stdout

    one = numbers(1)
    assert one.endswith("True\n")
    assert one == numbers(1)
    assert one != numbers(2)


@pytest.mark.slow
def test_pytest_failures_are_told(libs, inbox, tmp_path):
    """Assertion rewriting, fixtures and collection errors: each with its test."""
    write(
        tmp_path,
        "test_a.py",
        """
        import pytest
        @pytest.fixture
        def broken(): raise OSError("no db")
        def test_plain():
            got = [1, 2]
            assert got == [1, 3]
        def test_fixture(broken): pass
        def test_fine(): pass
        def test_skipped(): pytest.skip("later")
    """,
    )
    done = start(libs, inbox, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert done.returncode == 1
    assert [(c["test"], c["chain"][-1]["type"]) for c in crashes(inbox)] == [
        ("test_a.py::test_plain", "AssertionError"),
        ("test_a.py::test_fixture", "OSError"),
    ]
    assert crashes(inbox)[0]["chain"][-1]["frames"][-1]["locals"]["got"] == "[1, 2]"


def test_unittest_failures_are_told(python, inbox, tmp_path):
    """Unittest catches everything as well."""
    write(
        tmp_path,
        "test_b.py",
        """
        import unittest
        class T(unittest.TestCase):
            def test_x(self): self.assertEqual(1, 2)
            def test_ok(self): pass
    """,
    )
    done = start(python, inbox, "-m", "unittest", "-q", "test_b", cwd=tmp_path)
    assert done.returncode == 1
    (crash,) = crashes(inbox)
    assert crash["test"] == "test_b.T.test_x"


def test_frames_are_json(python, inbox, tmp_path):
    """The hand-made JSON is JSON: odd text, surrogates and floats come through."""
    script = write(
        tmp_path,
        "a.py",
        """
        x = "\\udc80 \\n \\x1b[31m é 😀"; y = float("inf"); z = float("nan")
        raise ValueError("\\ud800 bad \\x00")
    """,
    )
    start(python, inbox, script, cwd=tmp_path)
    (crash,) = crashes(inbox)
    assert crash["chain"][-1]["message"] == "\ud800 bad \x00"
    assert crash["chain"][-1]["frames"][-1]["locals"]["y"] == "inf"


def test_a_quiet_probe_proves_that_a_method_is_used(python, inbox, tmp_path):
    """The variable alone is enough: the process ends there, nothing is printed, the place is told."""
    write(tmp_path, "lib.py", "class A:\n    def go(self):\n        return 1\n")
    write(tmp_path, "main.py", "import lib\nlib.A().go()\nprint('after')\n")
    asked = {"id": 5, "module": "lib", "function": "A.go", "die": True, "quiet": True}
    done = start(python, inbox, "main.py", cwd=tmp_path, order=AgentOrder(probes=(asked,)))
    assert (done.returncode, done.stdout, done.stderr) == (70, "", "")
    (reached,) = [m for m in inbox.messages if m.get("event") == "reached"]
    assert (reached["id"], reached["file"]) == (5, str(tmp_path / "lib.py"))
    assert (reached["line"], reached["function"]) == (2, "A.go")
