"""How the tries of a search are run: warm where they can be, and always apart."""

import json
import subprocess
import sys

import pytest

COMMAND = ["--", "python", "train.py", "data.jsonl"]


def test_tries_are_warm(shrink, program, tmp_path, python):
    """On each Python it goes on from where it opens the payload: what comes before runs in few."""
    count = tmp_path / "count"
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(f"open({str(count)!r}, 'a').write('x')\n{source}")
    done = shrink("data.jsonl", "-j", "1", "--", python, "train.py", "data.jsonl")
    assert done.told["warm"], done.err
    assert done.told["tries"] > 20
    # Two for the baseline, of which one has the snapshot, three to confirm the result, and one to
    # see that the line which is printed tests that.
    assert count.read_text() == "x" * 6


WRITES = """
import json, os, sys

with open(sys.argv[1]) as file:
    rows = [json.loads(line) for line in file if line.strip()]
assert open("log.txt").read() == "kept\\n", "changed"
assert not os.path.exists("out"), "made"
with open("log.txt", "a") as log:
    log.write("more\\n")
os.mkdir("out")
open("out/x", "w").close()
os.unlink("gone.txt")
if any(row.get("id") == 40 for row in rows):
    [row["label"] for row in rows]
"""


@pytest.mark.parametrize("words", [[], ["--args"]])
def test_what_tries_write_is_gone(shrink, program, words):
    """Each finds the folder as it was, warm as well as cold: made, changed and removed files."""
    (program / "train.py").write_text(WRITES)
    (program / "log.txt").write_text("kept\n")
    (program / "gone.txt").write_text("here\n")
    done = shrink("data.jsonl", "-j", "1", *words, *COMMAND)
    assert done.told["verdict"] == "found", (done.out, done.err)
    assert done.told["warm"] is not bool(words)
    seen = " ".join(one["headline"] for one in done.told["other_failures"])
    assert "AssertionError" not in seen
    assert "FileNotFound" not in seen
    assert (program / "log.txt").read_text() == "kept\n"
    assert not (program / "out").exists()
    assert (program / "gone.txt").exists()


BY_C = """
import ctypes, sys, time

time.sleep(0.3)  # what would be imports
libc = ctypes.CDLL(None)
fd = libc.open(sys.argv[1].encode(), 0)
buffer = ctypes.create_string_buffer(1 << 20)
size = libc.read(fd, buffer, 1 << 20)
text = buffer.raw[:size].decode()
if '"id": 40' in text or '"id":40' in text:
    raise KeyError("label")
"""


def test_a_payload_that_compiled_code_opens(shrink, program):
    """Python does not see it, but the kernel does: tries go on from before that."""
    (program / "train.py").write_text(BY_C)
    done = shrink("data.jsonl", "-j", "1", *COMMAND)
    assert done.told["warm"], done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'


def test_threads_forbid_warm_tries(shrink, program):
    """Then all tries are whole runs, and it is said why."""
    source = (program / "train.py").read_text()
    thread = "import threading, time\nthreading.Thread(target=time.sleep, args=[9], daemon=True).start()\n"
    (program / "train.py").write_text(f"{thread}{source}")
    done = shrink("data.jsonl", *COMMAND, text=True)
    assert "cold: train.py:11: a thread (Thread-1 (sleep)) is running" in done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'


@pytest.mark.parametrize(
    ("end", "code"),
    [("sys.exit(3)", 3), ("raise SystemExit(3)", 3), ("sys.exit('bad')", 1), ("os._exit(3)", 3)],
)
def test_exit_codes_of_warm_tries(shrink, program, end, code):
    """What ends in another way than by an exception ends so in tries, too."""
    text = f"""
import json, os, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
try:
    sys.exit(5)
except SystemExit:
    pass
if any(row.get("id") == 40 for row in rows if isinstance(row, dict)):
    {end}
"""
    (program / "train.py").write_text(text)
    done = shrink("data.jsonl", "--exit", str(code), *COMMAND)
    assert done.told["verdict"] == "found", done.err
    assert done.told["warm"], done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'


def test_an_exit_that_nobody_sees_coming(shrink, program):
    """What `-c` and `exit` end with is known at the end only: it counts the same in all runs."""
    done = shrink("data.jsonl", "--", "python", "-c", "raise SystemExit(3)", text=True)
    assert "exit 3, twice out of twice" in done.err
    (program / "train.py").write_text("open('data.jsonl').read()\nexit(3)\n")
    done = shrink("data.jsonl", *COMMAND, text=True)
    assert "exit 3, twice out of twice · warm" in done.err


def test_a_try_runs_all_that_comes_after_the_payload(shrink, program, tmp_path):
    """So what a warm try is said to take is what it takes, the first one as well."""
    told = tmp_path / "told"
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(
        source.replace("if not rows", f"open({str(told)!r}, 'a').write('x')\n    if not rows")
    )
    done = shrink("data.jsonl", "-j", "1", *COMMAND)
    assert done.told["warm"]
    assert len(told.read_text()) == done.told["tries"]


REFUSED = "for kind in user mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done"


@pytest.mark.parametrize("name", ["data.jsonl", "{project}/data.jsonl", "{outside}/data.jsonl"])
def test_without_namespaces(program, zeroin, tmp_path, name):
    """Each try has a copy, also of a payload that lies elsewhere; the user's files stay."""
    (program / "train.py").write_text(
        f"open('log.txt', 'a').write('x')\n{(program / 'train.py').read_text()}"
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "data.jsonl").write_bytes((program / "data.jsonl").read_bytes())
    payload = name.format(project=program, outside=outside)
    words = [
        sys.executable,
        "-m",
        "zeroin",
        "shrink",
        "--json",
        payload,
        "--",
        "python",
        "train.py",
        payload,
    ]
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f'{REFUSED}; exec "$@"', "sh", *words],
        cwd=program,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    assert told["verdict"] == "found", done.stderr
    assert "copy" in told["notes"][0]
    assert (program / told["payloads"][0]["result"]).read_text() == '{"id":40}\n'
    assert not (program / "log.txt").exists()
