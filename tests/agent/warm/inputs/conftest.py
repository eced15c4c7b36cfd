"""What a run used of the outside world, asked of the run."""

import json
import subprocess
import textwrap

import pytest
from harness import AGENT, HARNESS

import support


@pytest.fixture
def ask(python, tmp_path):
    """Run a program below the harness in `tmp_path`; give what it put in `told`."""

    def run(program, env=None, first=""):
        source = f"{first}\n{HARNESS.format(agent=str(AGENT))}{textwrap.dedent(program)}"
        source += "\nimport json; print(json.dumps(told))\n"
        done = subprocess.run(
            [python, "-c", source],
            cwd=tmp_path,
            env=support.clean_environment(tmp_path.parent / "home") | (env or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run
