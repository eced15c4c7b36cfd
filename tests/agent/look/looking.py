"""Running programs that use the library, as users do: installed, and without the driver."""

from __future__ import annotations

import subprocess
import textwrap

import support

TIME = 60


def run(python, folder, source, *args, env=None, name="train.py", **options):
    """Run a program with zeroin on its path."""
    path = folder / name
    path.write_text(textwrap.dedent(source))
    return start([python, str(path), *args], folder, env, **options)


def start(command, folder, env=None, **options):
    """Run a command with zeroin on the path of its Pythons."""
    full = support.clean_environment(folder) | {"PYTHONPATH": str(support.SRC), **(env or {})}
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run(
        command,
        cwd=folder,
        env=full,
        text=True,
        timeout=TIME,
        check=False,
        stdin=subprocess.DEVNULL,
        **given,
    )


def lines(python, folder, source, *args, **options):
    """What a program printed on stderr, which must be all that happened."""
    done = run(python, folder, source, *args, **options)
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()


def is_newer(python, minor):
    """Whether this interpreter is at least so new."""
    return support.as_numbers(version(python)) >= (3, minor)


def version(python):
    return next(v for v, path in support.interpreters().items() if path == python)
