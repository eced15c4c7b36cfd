"""Loops on a small program, without a terminal and on one."""

import pytest

from looping import HELPER, MAIN, script, several


@pytest.fixture
def program(project):
    """A script with a module of its own."""
    (project / "train.py").write_text(MAIN)
    (project / "helper.py").write_text(HELPER.format(1))
    return project


@pytest.fixture
def looping(zeroin, program):
    """Start a loop that prints JSON."""
    with several(zeroin, program) as start:
        yield start


@pytest.fixture
def scripted(zeroin, project):
    """Start a loop on a script that is given as text."""
    with several(zeroin, project) as start:

        def write_and_start(source, *options, **more):
            script(project, source)
            return start(*options, **more)

        yield write_and_start


@pytest.fixture
def screen(terminal, zeroin, program):
    """A loop in a terminal, after its first run."""

    def start(*options, command=("python", "train.py"), ready="q: quit", cols=120):
        words = [*zeroin.driver, "loop", *options, "--", *command]
        env = zeroin.env | {"NO_COLOR": "1"}
        shown = terminal(words, cwd=program, env=env, rows=30, cols=cols)
        if ready:
            shown.expect(ready)
        return shown

    return start
