"""A driver process of its own, with a stand-in for the agent."""

import json
import os
import subprocess
import sys
import tempfile
import textwrap

import pytest

import support

PRELUDE = "from warm_driver import *\n"


@pytest.fixture
def env(tmp_path):
    """Of a driver: it finds the stand-in, and has a place for its sockets of its own."""
    python_path = os.pathsep.join([str(support.SRC), str(support.ROOT / "tests" / "programs")])
    with tempfile.TemporaryDirectory(prefix="z") as short:  # a socket's path must be
        yield {**os.environ, "PYTHONPATH": python_path, "XDG_RUNTIME_DIR": short}


@pytest.fixture
def scenario(tmp_path, env):
    """Run some lines in a driver process of their own; what they report."""

    def words(source):
        return [sys.executable, "-c", PRELUDE + textwrap.dedent(source)]

    def start(source, **options):
        return subprocess.Popen(
            words(source), cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, **options
        )

    def run(source):
        with start(source, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    run.words, run.start = words, start
    return run
