"""Loops on a small program, without a terminal and on one."""

import textwrap

import pytest

from looping import HELPER, MAIN, Looping


@pytest.fixture
def program(project):
    """A script with a module of its own."""
    (project / "train.py").write_text(MAIN)
    (project / "helper.py").write_text(HELPER.format(1))
    return project


@pytest.fixture
def looping(zeroin, program):
    """Start a loop that prints JSON; all of them end with the test."""
    opened = []

    def start(*options, **more):
        opened.append(Looping(zeroin, program, *options, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__()


@pytest.fixture
def scripted(zeroin, project):
    """Start a loop on a script that is given as text; all of them end with the test."""
    opened = []

    def start(source, *options, **more):
        (project / "train.py").write_text(textwrap.dedent(source))
        opened.append(Looping(zeroin, project, *options, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__()


@pytest.fixture
def screen(terminal, zeroin, program):
    """A loop in a terminal, after its first run."""

    def start(*options, command=("python", "train.py"), ready="q: quit"):
        words = [*zeroin.driver, "loop", *options, "--", *command]
        env = zeroin.env | {"NO_COLOR": "1"}
        shown = terminal(words, cwd=program, env=env, rows=30, cols=120)
        if ready:
            shown.expect(ready)
        return shown

    return start
