"""`watch` without a terminal: lines that grep well, JSON, CSV, exit codes."""

from __future__ import annotations

import csv
import datetime as dt
import json
import os
import re
import signal
import subprocess
import sys

import pytest


def keeper(tmp_path, name, size=0):
    """A program that runs until its input ends."""
    script = tmp_path / name
    script.write_text(f"import sys; x = bytearray({size}); print(flush=True); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process


def watching(zeroin, *args, **options):
    return subprocess.Popen(
        [*zeroin.driver, "watch", *args],
        cwd=zeroin.base,
        env=zeroin.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_lines(zeroin, tmp_path):
    """Each has a time, what was asked for, the measures with their names; the end is told once."""
    process = watching(zeroin, "zw-line.py", "-n", "100ms", "--until", "zw-line.py gone")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d zw-line.py  waiting for 'zw-line.py'\n", process.stdout.readline()
    )
    one = keeper(tmp_path, "zw-line.py")
    line = process.stdout.readline()
    assert re.fullmatch(
        rf"\S+ zw-line.py  pid {one.pid}  memory \S+ MB  peak .*  threads 1  files \d+ .*zw-line.py\n",
        line,
    )
    one.communicate("")
    out, err = process.communicate(timeout=30)
    assert len(re.findall(rf"pid {one.pid}  ended after \d+ s  peak", out)) == 1
    assert out.count("all have ended") == 1
    assert "watched for" in err
    assert process.returncode == 0


def test_ctrl_c_prints_the_peaks(zeroin):
    """And ends with 0: that is how one leaves."""
    process = watching(zeroin, "memory")
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, "memory: at most" in err) == (0, True)


def test_a_reader_who_has_seen_enough(zeroin):
    """`| head -1` is no error."""
    process = watching(zeroin, "memory", "-n", "50ms")
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait(30) == 0
    process.stderr.close()


def test_json_is_an_object_a_sample(zeroin, tmp_path):
    """With numbers, not texts."""
    one = keeper(tmp_path, "zw-json.py", 50_000_000)
    process = watching(zeroin, "zw-json.py", "cpu", "--json", "-n", "100ms")
    lines = [process.stdout.readline() for _ in range(3)]
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    one.communicate("")
    samples = [json.loads(line) for line in lines]
    assert {sample["schema"] for sample in samples} == {1}
    last = samples[-1]["panels"][0]
    (thing,) = last["things"]
    assert (last["what"], last["kind"], last["count"]) == ("zw-json.py", "processes", 1)
    assert (thing["pid"], thing["threads"]) == (one.pid, 1)
    assert thing["cpu"] >= 0
    dt.datetime.fromisoformat(samples[0]["time"])


def test_csv_is_appended_with_one_header(zeroin, tmp_path):
    """A row for each thing and sample; odd characters quoted."""
    one = keeper(tmp_path, 'zw "csv", odd.py')
    for _ in range(2):
        zeroin(
            "watch",
            'zw "csv"',
            "memory",
            "--csv",
            "log.csv",
            "-n",
            "100ms",
            "--for",
            "0.4s",
            cwd=tmp_path,
        )
    one.communicate("")
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    processes = [row for row in rows if row["kind"] == "processes"]
    assert {row["pid"] for row in processes} == {str(one.pid)}
    assert all(int(row["memory"]) > 0 and "odd.py" in row["name"] for row in processes)
    machine = [row for row in rows if row["name"] == "machine"]
    assert len(machine) >= 2
    assert all(int(row["used"]) + int(row["free"]) == int(row["total"]) for row in machine)
    assert "time" not in {row["time"] for row in rows}


def test_a_csv_of_somebody_else_is_not_touched(zeroin, tmp_path):
    """Nor one that can't be written."""
    (tmp_path / "mine.csv").write_text("a,b\n1,2\n")
    done = zeroin("watch", "cpu", "--once", "--csv", "mine.csv", cwd=tmp_path)
    assert (done.returncode, "it has other columns already" in done.stderr) == (2, True)
    assert (tmp_path / "mine.csv").read_text() == "a,b\n1,2\n"
    done = zeroin("watch", "cpu", "--once", "--csv", "no/such/folder.csv", cwd=tmp_path)
    assert (done.returncode, "no such file or directory" in done.stderr) == (1, True)


def test_a_full_disk_is_told_and_watching_goes_on(zeroin):
    """Also where not even the header fits."""
    process = watching(zeroin, "memory", "--csv", "/dev/full", "-n", "100ms")
    assert process.stdout.readline()
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "--csv /dev/full: no space left on device: rows are missing" in err


def test_options_may_stand_anywhere(zeroin):
    """Also between two things to watch."""
    done = zeroin("watch", "memory", "--once", "cpu", "--json", "net")
    (sample,) = map(json.loads, done.stdout.splitlines())
    assert [panel["what"] for panel in sample["panels"]] == ["memory", "cpu", "net"]


def test_once(zeroin, tmp_path):
    """As a table; exit code 1 if there is nobody."""
    one = keeper(tmp_path, "zw-once.py")
    done = zeroin(
        "watch", "zw-once.py", "memory", f"disk:{tmp_path}", "--once", "--", "echo", "hello"
    )
    one.communicate("")
    assert done.returncode == 0
    row = re.search(rf"^ *{one.pid} .*zw-once.py", done.stdout, re.MULTILINE)
    assert "–" not in row[0]  # all of our own process is known, rates too
    assert all(part in done.stdout for part in ("── memory", "── disk:/", "hello"))
    done = zeroin("watch", "zw-once.py", "--once")
    assert (done.returncode, "waiting for 'zw-once.py'" in done.stdout) == (1, True)


def test_who_started_it_is_none_of_them(zeroin, tmp_path):
    """A script that calls it, with the word in its own name."""
    script = tmp_path / "zw-starter.sh"
    script.write_text(f"{sys.executable} -m zeroin watch zw-starter --once\nexit $?\n")
    done = subprocess.run(
        ["bash", script], env=zeroin.env, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, "waiting for 'zw-starter'" in done.stdout) == (1, True), done.stdout


def test_until_and_for(zeroin):
    """The time is over before: 1. A command that fails: 0, since that was the question."""
    assert zeroin("watch", "memory", "--until", "memory free < 1K", "--for", "0.2s").returncode == 1
    assert zeroin("watch", "-n", "50ms", "--until", "fails", "--", "false").returncode == 0
    assert zeroin("watch", "-n", "50ms", "--until", "passes", "--", "true").returncode == 0
    done = zeroin("watch", "-n", "50ms", "--until", "changes", "--", "date", "+%N")
    assert done.returncode == 0
    assert len(re.findall(r"│ \d+$", done.stdout, re.MULTILINE)) == 2


def test_a_line_for_the_shell(zeroin):
    """In quotes, as watch(1) has it."""
    done = zeroin("watch", "-n", "50ms", "--until", "passes", "--", "echo one two | wc -w")
    assert "│ 2" in done.stdout


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (["-n", "0"], 2, "at most 20 times a second"),
        (["-n", "soon"], 2, "no time span"),
        (["--top", "0"], 2, "--top takes a number"),
        (["--"], 2, "which command?"),
        (["--user", "no-such-user"], 2, "there is no user"),
        (["--until", "fails"], 2, "is about a command"),
        (["99999999"], 1, "there is no process 99999999"),
        (["attempt"], 1, "nothing has been recorded in this folder yet"),
        (["--", "no-such-command"], 127, "command not found"),
    ],
)
def test_what_is_wrong_is_said(zeroin, args, code, says):
    """With what to type instead."""
    done = zeroin("watch", *args)
    assert (done.returncode, says in done.stderr, len(done.stderr.splitlines()) <= 2) == (
        code,
        True,
        True,
    )


def test_the_attempt_that_runs(zeroin, project):
    """All that it started, without zeroin itself."""
    (project / "zw_attempt.py").write_text("print('up', flush=True)\ninput()\n")
    running = subprocess.Popen(
        [*zeroin.driver, "run", "--", "python", "zw_attempt.py"],
        cwd=project,
        env=zeroin.env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    running.stdout.readline()
    done = zeroin("watch", "attempt", "--json", "--once", cwd=project)
    running.communicate("\n")
    (sample,) = map(json.loads, done.stdout.splitlines())
    names = [thing["name"] for thing in sample["panels"][0]["things"]]
    assert [name for name in names if "zw_attempt.py" in name] == ["python zw_attempt.py"]
    assert not any("zeroin run" in name for name in names)


def test_other_users_are_left_out_on_demand(zeroin):
    """And processes of others show what is public."""
    done = zeroin("watch", "all", "--json", "--once", "--user", str(os.getuid()), "--top", "5000")
    (sample,) = map(json.loads, done.stdout.splitlines())
    users = {thing["user"] for thing in sample["panels"][0]["things"]}
    assert len(users) == 1


def test_on_every_python(zeroin, driver):
    """That the driver runs on."""
    done = zeroin(
        "watch", "all", "cpu", "memory", "net", "disk", "--once", "--", "true", driver=driver
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "── cpu load" in done.stdout


def test_as_a_plain_user(plain):
    """Nothing needs rights."""
    done = plain("watch", "all", "cpu", "memory", "--once", "--top", "500")
    assert (done.returncode, done.stderr) == (0, "")
    assert "sleeping" in done.stdout
