"""However the loop ends, nothing is left behind."""

import signal

import pytest

from looping import script


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -15), (signal.SIGHUP, -1)]
)
def test_signals_while_waiting(looping, number, code):
    """Ctrl-C is 130; what is meant to end us does."""
    loop = looping()
    loop.line()
    loop.process.send_signal(number)
    assert loop.wait() == code


def test_sigterm_while_it_runs(looping, program):
    """The program gets it, may tidy up, and the loop ends with it."""
    script(
        program,
        """
        import signal, sys, time
        def tidy(*_):
            print("tidied", flush=True)
            sys.exit(0)
        signal.signal(signal.SIGTERM, tidy)
        print("up", flush=True)
        time.sleep(600)
        """,
    )
    loop = looping()
    loop.until_shown("up")
    loop.process.send_signal(signal.SIGTERM)
    assert loop.wait() == -15
    assert "tidied" in loop.shown


def test_kill_9_leaves_nothing(looping, program):
    """Snapshots end when the loop does; the fixture looks for what is left running."""
    script(program, "import time\nx = 1\ntime.sleep(0.2)\ny = 2\nprint(x + y)\n")
    loop = looping()
    loop.line()
    loop.process.kill()
    assert loop.wait() == -9
