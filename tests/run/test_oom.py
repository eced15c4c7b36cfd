"""The kernel's own kill for memory, told from any other kill."""

import json
import os
import shlex
import subprocess

import pytest

LIMIT = 150_000_000
GROW = "x = []\nwhile True: x.append(bytearray(b'x') * 5_000_000)"


@pytest.fixture
def group():
    """A memory cgroup of our own with a limit, version 1 or 2, where we may make one."""
    with open("/proc/self/cgroup") as file:
        rows = [line.rstrip("\n").split(":", 2) for line in file]
    for _, controllers, path in rows:
        if "memory" in controllers.split(","):
            base, knob = f"/sys/fs/cgroup/memory{path}", "memory.limit_in_bytes"
        elif controllers == "":
            base, knob = f"/sys/fs/cgroup{path}", "memory.max"
        else:
            continue
        folder = f"{base}/zeroin-test-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(f"{folder}/{knob}", "w") as file:
                file.write(str(LIMIT))
        except OSError:
            os.rmdir(folder)
            continue
        yield folder
        os.rmdir(folder)
        return
    pytest.skip("needs a memory cgroup that this user may make: run as root")


@pytest.mark.parametrize("wrapped", [False, True])
def test_out_of_memory_is_named(zeroin, project, group, wrapped):
    """Also when a shell passes it on as exit code 137."""
    program = f"python -c {shlex.quote(GROW)}"
    command = ["sh", "-c", f"{program}; exit $?"] if wrapped else ["python", "-c", GROW]
    inside = f"echo $$ > {group}/cgroup.procs && exec {shlex.join([*zeroin.driver, 'run', '--json', '--', *command])}"
    done = subprocess.run(
        ["sh", "-c", inside],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(done.stdout)
    assert found["signature"] == "out of memory (SIGKILL)"
    assert found["outcome"] == "killed"
    assert "out of memory" in found["headline"]
    why = json.loads(zeroin("why", "--json", cwd=project).stdout)
    assert (why["verdict"], why["sure"]) == ("the kernel killed it: out of memory", "certain")
    assert any("for memory during the run" in line for line in why["because"])
