"""A failure is kept alive, and key `d` of the loop opens a debugger in it."""

import os
import re
import signal
import textwrap

import pytest

PROGRAM = """
    import sys
    data = {"plum": 41}

    def work(x):
        y = x * 2
        raise KeyError(y)

    print("before")
    work(21)
    """


@pytest.fixture
def screen(terminal, zeroin, project):
    """A loop in a terminal, after its first run."""

    def start(source, *options, python="python", ready="q: quit"):
        (project / "train.py").write_text(textwrap.dedent(source))
        words = [*zeroin.driver, "loop", *options, "--", python, "train.py"]
        env = zeroin.env | {"NO_COLOR": "1"}
        shown = terminal(words, cwd=project, env=env, rows=30, cols=120)
        shown.expect(ready)
        return shown

    return start


def ask(shown, command, answer):
    shown.line(command)
    shown.expect(answer)
    shown.expect("(Pdb) ")


def leave(shown, how="q\r"):
    shown.send(how)
    shown.expect("q: quit")
    shown.send("q")
    assert shown.wait() == 0


def test_state_and_stack(screen, python):
    """On each Python: locals of the failing frame, globals, the frame above; then keys again."""
    shown = screen(PROGRAM, python=python)
    shown.send("d")
    shown.expect("-> raise KeyError(y)")
    shown.expect("(Pdb) ")
    ask(shown, "p x, y", "(21, 42)")
    ask(shown, "p data", "{'plum': 41}")
    ask(shown, "up", "-> work(21)")
    shown.line("q")
    shown.expect("q: quit")
    shown.send("?")
    shown.expect("run again from the beginning")
    shown.send("q")
    assert shown.wait() == 0


def test_it_can_be_had_again(screen):
    """Each debugger has the state as it was at the failure, whatever the one before did to it."""
    shown = screen(PROGRAM)
    shown.send("d")
    shown.expect("(Pdb) ")
    shown.line("!data['plum'] = 5")
    shown.expect("(Pdb) ")
    shown.send("\x04")  # Ctrl-D ends it
    shown.expect("q: quit")
    shown.send("d")
    shown.expect("(Pdb) ")
    ask(shown, "p data['plum']", "41")
    leave(shown)


def test_ctrl_c_and_ctrl_z_stay_in_the_debugger(screen):
    """Neither ends the loop, nor stops what nobody would continue."""
    shown = screen(PROGRAM)
    shown.send("d")
    shown.expect("(Pdb) ")
    shown.send("\x03")
    shown.expect("(Pdb) ")
    shown.send("\x1a")
    ask(shown, "p y", "42")
    leave(shown)


def test_streams_that_can_not_be_used(screen):
    """The program has closed or replaced its own: the debugger has the terminal's."""
    shown = screen(
        """
        import io, sys
        secret = 1234
        sys.stdout = io.StringIO()
        print("kept to itself")
        sys.stdin.close()
        raise KeyError("plum")
        """
    )
    shown.send("d")
    shown.expect("(Pdb) ")
    ask(shown, "p secret", "1234")
    assert "kept to itself" not in shown.text
    leave(shown)


def test_a_hook_of_the_programs_own(screen):
    """Errors that the program prints in its own way are kept alive as well."""
    shown = screen(
        """
        import sys
        sys.excepthook = lambda *_: print("sorry")
        value = 77
        raise KeyError("plum")
        """
    )
    assert "sorry" in shown.text
    shown.send("d")
    shown.expect("(Pdb) ")
    ask(shown, "p value", "77")
    leave(shown)


def test_after_a_resumed_run(screen, project):
    """The failure is that of the last run, under its new code."""
    source = """
        import time

        def work(x):
            y = x + {}
            raise KeyError(y)

        time.sleep(0.3)
        work(21)
        """
    shown = screen(source.format(1))
    (project / "train.py").write_text(textwrap.dedent(source.format(100)))
    shown.expect(re.compile(r"\[2\] .*resumed before"))
    shown.send("d")
    shown.expect("(Pdb) ")
    ask(shown, "p y", "121")
    leave(shown)


def test_a_save_meanwhile_is_noticed_after_it(screen, project):
    """The debugger has the terminal; then the next run begins by itself."""
    shown = screen(PROGRAM)
    shown.send("d")
    shown.expect("(Pdb) ")
    (project / "train.py").write_text("print('mended')\n")
    ask(shown, "p y", "42")
    assert "[2]" not in shown.text
    shown.line("q")
    shown.expect(re.compile(r"mended\s+\[2\] .* passed"))
    shown.send("d")
    shown.expect("there is no failure to look at")
    shown.send("q")
    assert shown.wait() == 0


def test_a_process_that_can_not_be_forked(screen):
    """A thread is running: there is no debugger, and it is said which line made it."""
    shown = screen(
        """
        import threading
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        value = 1
        raise KeyError("plum")
        """
    )
    shown.send("d")
    shown.expect("the failure was not kept alive: no snapshots since train.py:")
    shown.send("q")
    assert shown.wait() == 0


@pytest.mark.parametrize("source", ["import sys\nsys.exit(3)\n", "raise SystemExit('no')\n"])
def test_an_exit_is_no_failure_to_look_at(screen, source):
    """It has no state worth a process."""
    shown = screen(source)
    shown.send("d")
    shown.expect("the failure was not kept alive")
    shown.send("q")
    assert shown.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
@pytest.mark.parametrize("opened", [True, False])
def test_nothing_is_left_when_the_loop_ends(screen, number, opened):
    """However it ends, also while the user is in the debugger; a fixture looks for the rest."""
    shown = screen(PROGRAM)
    if opened:
        shown.send("d")
        shown.expect("(Pdb) ")
    os.kill(shown.process.pid, number)
    assert shown.wait() == -number


def test_no_code_of_the_users_runs_in_it(screen, project):
    """Nor at its end: `atexit` and destructors belong to the program, once."""
    shown = screen(
        """
        import atexit, os
        class Loud:
            def __del__(self):
                print("destroyed", flush=True)
        kept = Loud()
        atexit.register(lambda: open("ends", "a").write("end\\n"))
        raise KeyError("plum")
        """
    )
    shown.send("d")
    shown.expect("(Pdb) ")
    leave(shown)
    assert (project / "ends").read_text() == "end\n"
    assert shown.text.count("destroyed") <= 1
