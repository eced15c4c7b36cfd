"""Faults in settings, in the record and in what is open: warnings, and the command runs."""

from __future__ import annotations

import json
import os
import random
import re
import sqlite3
import subprocess

import pytest

import support

# What is wrong in a settings file → what the warning has to name.
SETTINGS = {
    "[tool]\nzeroin = 5\n": "no table of settings",
    "[tool.zeroin]\nstore_max = [1]\n": "store_max",
    "[tool.zeroin]\nsecrets = 5\n": "secrets",
    "[tool.zeroin]\nsecrets = [1, 2]\n": "secrets",
    "[tool.zeroin]\ncode = 'perhaps'\n": "code",
    "[tool.zeroin]\nnonsense = 1\n": "nonsense",
    "tool = 'zeroin'\n": "no table of settings",
    "[[tool.zeroin]]\ncode = false\n": "no table of settings",
    f"[tool.zeroin]\nstore_max = '{'9' * 5000}'\n": "store_max",
    "[tool.zeroin]\nstore_max = nan\n": "store_max",
    "[tool.zeroin]\ninclude = {a = 1}\n": "include",
}


def fails_with_seven(somebody, *options, **how):
    """Run a command that fails in its own way, and give what was said."""
    words = ("run", *options, "--", "sh", "-c", "echo ran; exit 7")
    return somebody(*words, **how)


def test_no_fault_of_settings_stops_a_command(somebody):
    """Odd values, wrong types, wrong names: one warning each, and the command's own exit code."""
    for text, named in SETTINGS.items():
        (somebody.project / "pyproject.toml").write_text(text)
        done = fails_with_seven(somebody)
        assert (done.returncode, done.stdout) == (7, "ran\n"), text
        assert (named in done.stderr, "warning" in done.stderr) == (True, True), text
        assert "Traceback" not in done.stderr


def test_settings_files_that_cannot_be_read(somebody):
    """A pipe without a writer, a folder, a device, deep nesting, a long number: passed over."""
    path = somebody.project / "pyproject.toml"
    deep = "[tool.zeroin]\na = " + "[" * 50_000
    number = "[tool.zeroin]\na = " + "1" * 10_000
    for make in (
        lambda: os.mkfifo(path),
        path.mkdir,
        lambda: path.symlink_to("/dev/zero"),
        lambda: path.write_text(deep),
        lambda: path.write_text(number),
        lambda: path.write_bytes(b"[tool.zeroin]\n\xff\xfe"),
    ):
        make()
        done = fails_with_seven(somebody, timeout=30)
        assert (done.returncode, done.stdout) == (7, "ran\n")
        assert "Traceback" not in done.stderr
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def change_record(somebody, statement, values=()):
    """Change the record behind zeroin's back."""
    with sqlite3.connect(somebody.project / ".zeroin/store.db") as opened:
        opened.execute(statement, values)
    opened.close()
    somebody.own()


def test_record_without_its_salt(somebody):
    """A new one is made, which is said once; the command runs and is recorded."""
    fails_with_seven(somebody)
    change_record(somebody, "DELETE FROM meta")
    done = fails_with_seven(somebody)
    assert (done.returncode, "its salt was lost" in done.stderr) == (7, True)
    assert "attempt 2" in done.stderr
    assert "salt" not in fails_with_seven(somebody).stderr


def test_damaged_parts_are_left_out_and_named(somebody):
    """Blobs and rows that are not what was kept: the rest is shown, and the next run is recorded."""
    for _ in range(3):
        fails_with_seven(somebody)
    change_record(somebody, "UPDATE blobs SET data=?", (b"rubbish",))
    shown = somebody("show", "3")
    assert (shown.returncode, "exit 7" in shown.stdout) == (0, True)
    assert "a part of it is damaged" in shown.stderr
    for column, value in (("command", "[1, 2"), ("settings", "[]"), ("seconds", "long")):
        change_record(somebody, f"UPDATE attempts SET {column}=? WHERE id=2", (value,))
        listed = somebody("log", "--json")
        assert [json.loads(line)["id"] for line in listed.stdout.splitlines()] == [3, 1]
        assert (listed.returncode, "attempt 2 is damaged" in listed.stderr) == (0, True)
    done = fails_with_seven(somebody)
    assert (done.returncode, "attempt 4" in done.stderr) == (7, True)


@pytest.mark.parametrize("seed", range(4))
def test_record_with_random_damage(project, zeroin, seed):
    """Bytes of the database overwritten at random: the command always runs, and exits as it does."""
    for _ in range(3):
        zeroin("run", "-q", "--", "true", cwd=project)
    store = project / ".zeroin/store.db"
    chosen = random.Random(seed)
    data = bytearray(store.read_bytes())
    for _ in range(6):
        at = chosen.randrange(16, len(data))
        data[at : at + 64] = chosen.randbytes(min(64, len(data) - at))
    store.write_bytes(data)
    done = zeroin("run", "--", "sh", "-c", "exit 7", cwd=project)
    assert done.returncode == 7, done.stderr
    for words in (("log",), ("show",), ("gc", "--to", "1k"), ("diff", "1", "2")):
        assert zeroin(*words, cwd=project).returncode != 3


def test_few_open_files(somebody):
    """Whatever `ulimit -n` says, the command runs with its own exit code, and we say what lacks."""
    for most in (40, 20, 16, 13, 11, 9, 8):
        before = ("sh", "-c", f'ulimit -n {most}; exec "$@"', "sh")
        done = fails_with_seven(somebody, before=before)
        assert (done.returncode, done.stdout) == (7, "ran\n"), (most, done.stderr)
        assert "Traceback" not in done.stderr
    assert "too few files may be open" in done.stderr


@pytest.mark.parametrize("verb", ["leak", "files", "nan", "shapes", "stacks"])
def test_few_open_files_for_who_looks_inside(somebody, verb):
    """Verbs that can't answer without agents say what lacks; none of that is a bug of ours."""
    (somebody.project / "a.py").write_text("x = 1\n")
    words = ("shapes", "a.py") if verb == "shapes" else (verb,)
    for most in (13, 11, 9):
        before = ("sh", "-c", f'ulimit -n {most}; exec "$@"', "sh")
        done = somebody(*words, "--", "python", "a.py", before=before)
        assert done.returncode != 3, (most, done.stderr)
        assert "Traceback" not in done.stderr, (most, done.stderr)
    assert re.search("too (few|many)( open)? files", done.stderr), done.stderr


# --- a full disk ------------------------------------------------------------------------------------

FULL = """\
mount -t tmpfs -o size=1m none .zeroin || exit 99
for n in $(seq 26); do
  ZEROIN run -q --no-agent -- head -c 20000 /dev/urandom > /dev/null || exit 98
done
dd if=/dev/zero of=.zeroin/ballast bs=4096 2> /dev/null
test $(df --output=avail .zeroin | tail -n 1) = 0 || exit 97
DO
"""


def on_full_disk(somebody, script):
    """Run shell lines in a project whose record has no room left."""
    own = "exec unshare -Urm" if os.geteuid() or somebody.identity else "exec unshare -m"
    (somebody.project / ".zeroin").mkdir()
    somebody.own()
    driver = " ".join(somebody.words)
    lines = FULL.replace("DO", script).replace("ZEROIN", driver)
    done = subprocess.run(
        ["sh", "-c", f'{own} sh -c "$0"', lines],
        cwd=somebody.project,
        env=somebody.env,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **somebody.identity,
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        if support.IN_CI:
            pytest.fail(done.stderr)
        pytest.skip("needs namespaces: zeroin doctor tells how")
    return done


@pytest.mark.slow
def test_reading_on_full_disk(somebody):
    """`log`, `show` and `diff` need no room."""
    done = on_full_disk(somebody, "ZEROIN log -n 2 && ZEROIN show 26 && ZEROIN diff 25 26")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("head -c 20000") >= 3
    assert "disk I/O error" not in done.stderr


@pytest.mark.slow
def test_gc_on_full_disk(somebody):
    """What the hint says works: the oldest attempts go, and the next run is recorded again."""
    again = "ZEROIN run -- true; ZEROIN gc --to 1k; ZEROIN run -- true; ZEROIN log -n 1 --json"
    done = on_full_disk(somebody, again)
    assert done.returncode == 0, done.stderr
    assert "zeroin gc --to 100M" in done.stderr  # at the first run
    assert "took 6 attempts" in done.stdout
    assert json.loads(done.stdout.splitlines()[-1])["outcome"] == "passed"
    assert "disk I/O error" not in done.stderr
