"""What `zeroin run` says and keeps of an attempt; secrets are not kept."""

import json
import os
import re
import resource
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from running import run_json, write
from zeroin.run import tree


def test_json_is_one_object_with_the_documented_keys(zeroin, project):
    """The command's own output moves to stderr, so that stdout can be parsed."""
    done = zeroin("run", "--json", "--", "sh", "-c", "echo noise; exit 3", cwd=project)
    found = json.loads(done.stdout)
    assert done.stderr == "noise\n"
    assert {
        "id",
        "command",
        "outcome",
        "exit_code",
        "signature",
        "seconds",
        "peak_bytes",
        "changed_since",
        "schema",
    } <= found.keys()
    assert (found["outcome"], found["exit_code"], found["command"]) == (
        "failed",
        3,
        ["sh", "-c", "echo noise; exit 3"],
    )


def test_the_story_of_three_attempts(zeroin, project):
    """Same failure as before, what changed since, and that a new failure is new."""
    script = write(project, "a.py", "def f(): raise KeyError('x')\nf()\n")
    zeroin("run", "--", "python", "a.py", cwd=project)
    second = zeroin("run", "--env", "LR=1", "--", "python", "a.py", cwd=project)
    assert "same failure as attempt 1" in second.stderr
    assert "changed since 1: env LR" in second.stderr
    script.write_text("# moved\n\ndef f(): raise KeyError('y')\nf()\n")
    third = zeroin("run", "--env", "LR=1", "--", "python", "a.py", cwd=project)
    assert "a new failure" in third.stderr
    assert "changed since 2: a.py (+3 −1)" in third.stderr


def test_every_command_we_print_works(zeroin, project):
    """`zeroin show 2`, `zeroin diff 1 2`, `zeroin again 2` as printed under a failure."""
    write(project, "a.py", "raise KeyError('x')\n")
    zeroin("run", "--", "python", "a.py", cwd=project)
    done = zeroin("run", "--", "python", "a.py", cwd=project)
    steps = done.stderr.splitlines()[-1].strip().split("     ")
    assert [step.partition(": ")[2] for step in steps] == [
        "zeroin show 2",
        "zeroin diff 1 2",
        "zeroin again 2",
    ]
    for step in steps:
        words = step.partition(": zeroin ")[2].split()
        assert zeroin(*words, cwd=project).returncode == (1 if words[0] == "again" else 0)


def test_rates_of_a_flaky_program(zeroin, project):
    """By signature, with the range in which the true rate lies."""
    write(
        project,
        "flaky.py",
        """
        import os
        n = int(open("n").read()) if os.path.exists("n") else 0
        open("n", "w").write(str(n + 1))
        def a(): raise KeyError("a")
        def b(): raise ValueError("b")
        if n % 4 == 1: a()
        if n % 4 == 2: b()
    """,
    )
    done = zeroin("run", "--repeat", "8", "--json", "--", "python", "flaky.py", cwd=project)
    *runs, summary = map(json.loads, done.stdout.splitlines())
    assert len(runs) == 8
    assert (summary["runs"], summary["passed"]) == (8, 4)
    assert {f["signature"]: f["count"] for f in summary["failures"]} == {
        "KeyError at a(): 'a'": 2,
        "ValueError at b(): b": 2,
    }
    took = [run["seconds"] for run in runs]
    assert (summary["min_seconds"], summary["max_seconds"]) == (min(took), max(took))
    assert summary["mean_seconds"] == pytest.approx(sum(took) / 8, abs=1e-4)
    assert done.returncode == 1


def test_a_rate_in_words(zeroin, project):
    """Its percentage and the interval in which it lies, and how long the runs took."""
    write(project, "n.sh", "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; test $n -ge 1")
    done = zeroin("run", "-q", "--repeat", "3", "--", "sh", "n.sh", cwd=project)
    first, second = done.stderr.splitlines()[-2:]
    took = r"each took \d.* s on average \(\d.* s to \d.* s\)"
    assert re.fullmatch(f"✗ failed 1 of 3 runs · {took}", first)
    assert second.startswith("     1 of 3: 33 % (95 % interval 6 to 79 %)  exit 1")


def test_until_fail_stops_at_the_first(zeroin, project):
    """And its exit code is that attempt's."""
    write(
        project,
        "third.sh",
        "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; test $n -lt 2 || exit 7\n",
    )
    done = zeroin("run", "--until-fail", "--", "sh", "third.sh", cwd=project)
    assert done.returncode == 7
    assert (project / "n").read_text() == "3\n"


def test_an_attempt_that_never_ran_is_nothing_to_compare_with(zeroin, project):
    """`changed since` goes back to the last one that did."""
    zeroin("run", "--", "sh", "-c", "exit 1", cwd=project)
    zeroin("run", "--reset", "false", "--", "sh", "-c", "exit 1", cwd=project)
    assert (
        run_json(zeroin, "--", "sh", "-c", "exit 1", cwd=project)["changed_since"]["attempt"] == 1
    )


def test_a_killed_program_is_known_by_its_interpreter(zeroin, project):
    """It says nothing at its end, so it was asked at its start."""
    zeroin("run", "--", "python", "-c", "import os; os.kill(os.getpid(), 9)", cwd=project)
    found = json.loads(zeroin("show", "--json", cwd=project).stdout)
    assert found["python"]["version"].startswith("3.")


def test_many_at_once_without_a_record(zeroin, project):
    """The folder for sockets is made and removed by all of them at the same time."""
    command = [*zeroin.driver, "run", "--no-record", "-q", "--", "true"]
    for _ in range(4):
        processes = [subprocess.Popen(command, cwd=project, env=zeroin.env) for _ in range(8)]
        assert [p.wait(60) for p in processes] == [0] * 8


def test_limits_are_inherited_not_ours(zeroin, project):
    """We leave resource limits and the niceness alone."""
    done = zeroin("run", "-q", "--", "sh", "-c", "ulimit -n; ulimit -c; nice", cwd=project)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    assert done.stdout.split()[0] == str(soft)


def test_run_inside_a_run(zeroin, project):
    """`zeroin run -- make test` where the Makefile uses zeroin: both are recorded."""
    inner = " ".join(zeroin.driver)
    done = zeroin(
        "run", "--", "sh", "-c", f"{inner} run -- python -c 'raise KeyError(1)'", cwd=project
    )
    assert done.returncode == 1
    rows = [json.loads(line) for line in zeroin("log", "--json", cwd=project).stdout.splitlines()]
    assert [row["signature"] for row in rows] == ["KeyError at <module>: 1"] * 2


def is_witness(pid: int) -> bool:
    """Whether it is the process that hears signals to the group, and ends with zeroin."""
    return Path(f"/proc/{pid}/comm").read_text() == "cat\n"


def test_nothing_is_left_in_the_runtime_folder(zeroin, project):
    """Sockets and fault files vanish; also those of a run that was killed with -9."""
    with tempfile.TemporaryDirectory(dir="/tmp") as runtime:  # a socket's path must be short
        env = zeroin.env | {"XDG_RUNTIME_DIR": runtime}
        command = [*zeroin.driver, "run", "--", "sh", "-c", "echo up; exec sleep 60"]
        process = subprocess.Popen(
            command,
            cwd=project,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        (child,) = [one for one in tree.descendants(process.pid) if not is_witness(one)]
        process.kill()
        process.wait()
        process.stdout.close()
        os.kill(child, signal.SIGKILL)
        assert os.listdir(runtime)
        zeroin("run", "--", "true", cwd=project, env=env)
        assert os.listdir(runtime) == []
    rows = zeroin("log", "--json", cwd=project).stdout.splitlines()
    assert json.loads(rows[-1])["outcome"] == "unfinished"


def test_secrets_are_not_stored(zeroin, project):
    """Not from the environment, the output, the command line, the locals or the message."""
    secret = "s3cr3t-value-9f8e7d"
    write(
        project,
        "leak.py",
        """
        import os, sys
        password = "hunter2" * 2
        def login(token, user):
            print("token is", token); raise ValueError("bad " + token)
        login(os.environ["API_TOKEN"], "bob")
    """,
    )
    done = zeroin(
        "run",
        "--",
        "python",
        "leak.py",
        "--password",
        "pw-on-line-1",
        secret,
        cwd=project,
        env={"API_TOKEN": secret},
    )
    assert secret in done.stdout  # what passes through is the program's own business
    stored = b"".join(p.read_bytes() for p in (project / ".zeroin").rglob("*") if p.is_file())
    shown = (
        zeroin("show", "--json", cwd=project).stdout + zeroin("show", "--env", cwd=project).stdout
    )
    for text in (secret, "hunter2hunter2", "pw-on-line-1"):
        assert text not in shown
        assert text.encode() not in stored
    assert "user = 'bob'" in zeroin("show", cwd=project).stdout


def test_secrets_given_for_this_run_alone(zeroin, project):
    """--env and --reset hold them as well as the environment does."""
    args = ("--env", "SHOP_TOKEN=sk-live-999999", "--reset", "echo sk-live-999999", "--")
    zeroin("run", *args, "sh", "-c", "echo $SHOP_TOKEN", cwd=project)
    shown = (
        zeroin("show", "--json", cwd=project).stdout + zeroin("show", "--env", cwd=project).stdout
    )
    assert "sk-live" not in shown
    assert zeroin("show", "--output", cwd=project).stdout == "<secret>\n"


def test_again_with_secrets(zeroin, project):
    """The secret comes from the environment, if it is still the same; else we say which is missing."""
    zeroin(
        "run",
        "--",
        "sh",
        "-c",
        "test $API_TOKEN = abcdef123",
        cwd=project,
        env={"API_TOKEN": "abcdef123"},
    )
    assert "abcdef123" not in zeroin("show", "--env", cwd=project).stdout
    assert zeroin("again", cwd=project, env={"API_TOKEN": "abcdef123"}).returncode == 0
    gone = zeroin("again", "1", cwd=project)
    assert (gone.returncode, "API_TOKEN" in gone.stderr) == (1, True)
