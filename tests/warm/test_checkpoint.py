"""`zeroin.checkpoint()`: a snapshot on demand in a loop, nothing anywhere else."""

import os
import subprocess
import textwrap

import pytest

import support
from looping import Looping

PROGRAM = """
    from zeroin import checkpoint

    def main():
        total = 0
        for i in range(5):
            total += i
            checkpoint()
            total += 0
        print("total", total)

    main()
    """
HOT = """
    import zeroin

    def main():
        total = 0
        for i in range(300_000):
            total += i
        zeroin.checkpoint()
        total += 1
        print("total", total)

    main()
    """


@pytest.fixture
def write(project):
    """Write the program."""

    def write_it(source, name="train.py"):
        (project / name).write_text(textwrap.dedent(source))

    return write_it


def test_one_snapshot_each(zeroin, project, write, python):
    """On each Python, right after the call: five times, though all takes a millisecond."""
    write(PROGRAM)
    with Looping(zeroin, project, command=[python, "train.py"]) as loop:
        first = loop.line()
        assert (first["outcome"], first["snapshots"]) == ("passed", 6)
        write(PROGRAM.replace('"total"', '"sum"'))
        second = loop.line()
        assert (second["mode"], second["resumed_at"]) == ("resumed", "train.py:9")
        assert "total 10\nsum 10\n" in loop.shown


def test_also_when_the_hooks_are_off(zeroin, project, write):
    """A loop in a rush has switched them off: the call switches them on."""
    write(HOT)
    with Looping(zeroin, project) as loop:
        loop.line()
        write(HOT.replace('"total"', '"sum"'))
        second = loop.line()
        assert (second["mode"], second["resumed_at"]) == ("resumed", "train.py:9")


@pytest.mark.parametrize("words", [["run", "--no-record"], ["loop", "--once"]])
def test_where_nothing_is_installed(zeroin, project, write, python, words):
    """The agent stands in: under zeroin such a program runs, also in child processes."""
    write(
        """
        import subprocess, sys, zeroin
        zeroin.checkpoint()
        if len(sys.argv) < 2:
            subprocess.run([sys.executable, __file__, "child"], check=True)
        print(sorted(name for name in vars(zeroin) if name[0] != "_"))
        """
    )
    done = zeroin(*words, "--", python, "train.py", cwd=project)
    names = ["checkpoint", "load_ipython_extension", "unload_ipython_extension"]
    assert (done.returncode, done.stdout) == (0, f"{names}\n" * 2)


def test_verifying_finds_it_as_well(zeroin, project, write):
    """The cold run that is compared with has it, too."""
    write(PROGRAM)
    with Looping(zeroin, project) as loop:
        loop.line()
        loop.say("verify")
        assert loop.line()["verified"] is True


def test_an_installed_one_is_used(zeroin, project, write, python):
    """And one of the user's own, whatever it is."""
    write("import zeroin\nzeroin.checkpoint()\nprint(zeroin.__file__)\n")
    env = zeroin.env | {"PYTHONPATH": str(support.SRC)}
    done = zeroin("loop", "--once", "--", python, "train.py", cwd=project, env=env)
    assert done.stdout == f"{support.SRC}/zeroin/__init__.py\n"
    (project / "app").mkdir()
    write("checkpoint = lambda: print('mine')\n", "app/zeroin.py")
    write("import zeroin\nzeroin.checkpoint()\n", "app/train.py")
    done = zeroin("loop", "--once", "--", python, "app/train.py", cwd=project)
    assert done.stdout == "mine\n"


def test_without_the_loop_it_does_nothing(python, tmp_path):
    """The library is cheap to import, and needs nothing: also on Pythons that can't run us."""
    code = (
        "import sys; before = set(sys.modules); import zeroin;"
        "print(zeroin.checkpoint(), sorted(set(sys.modules) - before))"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(support.SRC)}
    done = subprocess.run(
        [python, "-c", code], env=env, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "None ['zeroin']\n"


def test_in_a_forked_child_it_does_nothing(zeroin, project, write):
    """Only the program itself has snapshots."""
    write(
        """
        import os
        from zeroin import checkpoint
        x = 1
        child = os.fork()
        if not child:
            for i in range(3):
                checkpoint()
                x = i
            os._exit(0)
        os.waitpid(child, 0)
        print("done")
        """
    )
    done = zeroin("loop", "--once", "--json", "--", "python", "train.py", cwd=project)
    assert '"snapshots": 1,' in done.stdout or '"snapshots": 2,' in done.stdout


def test_in_a_thread_it_does_nothing(zeroin, project, write):
    """Where there are threads there are no snapshots anyway."""
    write(
        """
        import threading
        from zeroin import checkpoint
        thread = threading.Thread(target=checkpoint)
        thread.start()
        thread.join()
        print("done")
        """
    )
    done = zeroin("loop", "--once", "--", "python", "train.py", cwd=project)
    assert (done.returncode, done.stdout) == (0, "done\n")
