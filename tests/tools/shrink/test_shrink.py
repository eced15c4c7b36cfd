"""`zeroin shrink`: what a user gets, and what he is told when there is nothing to get."""

import json
import signal
import subprocess
import sys
import time

import pytest

COMMAND = ["--", "python", "train.py", "data.jsonl"]


def test_the_rows_that_matter(shrink, program):
    """Of sixty rows the one is left that has the number and no label; the payload itself stays."""
    before = (program / "data.jsonl").read_bytes()
    done = shrink("data.jsonl", *COMMAND)
    assert done.code == 0, done.err
    told = done.told
    assert (told["verdict"], told["confirmed"]) == ("found", True)
    (payload,) = told["payloads"]
    assert (payload["parts_before"], payload["parts_after"]) == (60, 1)
    assert json.loads((program / payload["result"]).read_text()) == {"id": 40}
    assert (program / "data.jsonl").read_bytes() == before
    assert told["command"] == ["python", "train.py", "data.min.jsonl"]


def test_what_it_prints_reproduces_it(shrink, program, zeroin):
    """The last line is a command, and it fails the same way."""
    done = shrink("data.jsonl", *COMMAND, text=True)
    last = done.out.splitlines()[-1]
    assert last.startswith("reproduce: ")
    again = subprocess.run(
        last.removeprefix("reproduce: "),
        shell=True,
        cwd=program,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.stderr.endswith("KeyError: 'label'\n")


def test_other_failures_are_counted_not_taken(shrink, program):
    """An empty file fails as well, but in another way; one example of it is kept."""
    done = shrink("data.jsonl", *COMMAND)
    others = {one["signature"]: one for one in done.told["other_failures"]}
    (empty,) = [one for name, one in others.items() if "ValueError" in name]
    assert (program / empty["example"]).is_dir()


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_worker_and_three_find_the_same(shrink, program, jobs):
    """What is tried ahead does not change the result."""
    done = shrink("data.jsonl", "-j", str(jobs), *COMMAND)
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
    assert done.told["confirmed"]


def test_tries_are_warm(shrink, program):
    """The program goes on from where it opens the payload: what comes before runs once a worker."""
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(f"import time\ntime.sleep(0.5)\n{source}")
    begun = time.monotonic()
    done = shrink("data.jsonl", "-j", "1", *COMMAND)
    assert done.told["warm"], done.err
    assert done.told["tries"] * 0.5 > 2 * (time.monotonic() - begun)


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


def test_it_does_not_fail(shrink, program):
    """Then there is nothing to shrink: exit code 1, and nothing is written."""
    (program / "data.jsonl").write_text('{"id": 1, "label": "a"}\n')
    done = shrink("data.jsonl", *COMMAND)
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert not (program / "data.min.jsonl").exists()


def test_a_command_that_ignores_the_payload(shrink, program):
    """It fails the same way with nothing: that is the result, and it is said."""
    (program / "train.py").write_text("raise KeyError('label')\n")
    done = shrink("data.jsonl", *COMMAND)
    assert done.code == 0
    assert (program / "data.min.jsonl").read_text() == ""
    assert "does not depend" in " ".join(done.told["notes"])


def test_an_empty_payload(shrink, program):
    """There is nothing to leave out, and that is no error."""
    (program / "data.jsonl").write_text("")
    done = shrink("data.jsonl", *COMMAND)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (0, "found", True)


def test_what_can_not_be_shrunk(shrink, program):
    """No such file, no permission, no command: a usage error with a hint."""
    done = shrink("nothing.json", *COMMAND)
    assert done.code == 2
    assert "nothing.json: no such file" in done.err
    assert shrink("data.jsonl").code == 2
    assert shrink(*COMMAND).code == 2
    done = shrink("data.jsonl", "data.jsonl", *COMMAND)
    assert (done.code, "name only one" in done.err) == (2, True)


def test_ctrl_c_keeps_the_best_and_the_same_command_goes_on(shrink, program, zeroin):
    """After an interruption the answers that are known are not asked for again."""
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(
        f"{source}\n".replace(
            "    if not rows:", "    import time; time.sleep(0.05)\n    if not rows:"
        )
    )
    words = [sys.executable, "-m", "zeroin", "shrink", "--json", "-j", "1", "data.jsonl", *COMMAND]
    with subprocess.Popen(
        words,
        cwd=program,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        log = None
        while log is None or log.read_text().count("\n") < 5:
            assert running.poll() is None
            log = next(iter(program.glob(".zeroin/shrink/*/tries.jsonl")), None)
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=30)
    assert running.returncode == 130
    told = json.loads(out)
    assert told["verdict"] == "interrupted"
    known = log.read_text().count("\n")
    done = shrink("data.jsonl", "-j", "1", *COMMAND)
    assert done.told["verdict"] == "found"
    assert done.told["resumed"] >= known - 1


def test_several_payloads(shrink, program):
    """Each is made smaller."""
    (program / "more.json").write_text(json.dumps({"a": {"b": [1, 2, 3]}, "on": True}))
    source = (
        (program / "train.py")
        .read_text()
        .replace(
            "    if not rows:",
            '    if not json.load(open("more.json"))["on"]:\n        return\n    if not rows:',
        )
    )
    (program / "train.py").write_text(source)
    done = shrink("data.jsonl", "more.json", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
    assert (program / "more.min.json").read_text() == '{"on":true}'


def test_arguments_that_matter(shrink, program):
    """Of a long command line, what is needed."""
    words = ["python", "train.py", "data.jsonl", "--lr", "0.1", "--quiet", "--seed=1"]
    done = shrink("--args", "--", *words)
    (args,) = done.told["payloads"]
    assert args["text"] == "train.py data.jsonl"
    assert done.told["command"] == ["python", "train.py", "data.jsonl"]


def test_a_script(shrink, program):
    """The program itself: a small one that fails the same way."""
    done = shrink("train.py", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    small = (program / "train.min.py").read_text()
    assert len(small) < 150, small
    assert "collate" in small


def test_a_package(shrink, project):
    """Files that are not needed go, and the package stays importable."""
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from .a import run\n")
    (package / "a.py").write_text("from .b import fail\n\ndef run():\n    fail({})\n\nx = 1\n")
    (package / "b.py").write_text("import json\n\ndef fail(d):\n    return d['k']\n\ny = 2\n")
    for number in range(20):
        (package / f"other{number}.py").write_text(f"value = {number}\n")
    (project / "main.py").write_text("import pkg\npkg.run()\n")
    done = shrink("pkg", "--", "python", "main.py")
    assert done.told["verdict"] == "found", done.err
    left = sorted(path.name for path in (project / "pkg.min").iterdir() if path.is_file())
    assert left == ["__init__.py", "a.py", "b.py"]


@pytest.mark.parametrize(
    ("words", "left"),
    [(["--match", "KeyError"], b"{"), (["--exit", "1"], b"")],
)
def test_what_counts_as_the_same(shrink, program, words, left):
    """Any exit code 1 is an empty file; what must say KeyError is not."""
    done = shrink("data.jsonl", *words, *COMMAND)
    assert done.told["verdict"] == "found"
    assert (program / "data.min.jsonl").read_bytes()[:1] == left


def test_interesting_as_others_have_it(shrink, program):
    """A script that ends with 0 for what is of interest."""
    script = program / "check.sh"
    script.write_text("#!/bin/sh\ngrep -q '\"id\": 40' data.jsonl\n")
    script.chmod(0o755)
    done = shrink("--interesting", "./check.sh", "data.jsonl")
    assert done.told["verdict"] == "found", done.err
    assert (program / "data.min.jsonl").read_text().strip() == '{"id": 40}'


@pytest.mark.parametrize("passes", [{3}, {2}])
def test_a_flaky_failure(shrink, program, tmp_path, passes):
    """One that shows two times of three: seen at the start, or only at the end."""
    count = tmp_path / "count"
    flaky = f"""
import os
with open({str(count)!r}, "a") as file:
    file.write("x")
if (os.path.getsize({str(count)!r}) - 1) % 3 + 1 in {passes}:
    os._exit(0)
"""
    (program / "train.py").write_text(flaky + (program / "train.py").read_text())
    lines = [json.dumps({"id": n, **({} if n == 40 else {"label": 1})}) for n in range(38, 43)]
    (program / "data.jsonl").write_text("\n".join(lines) + "\n")
    done = shrink("data.jsonl", "--cold", "-j", "1", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    assert done.told["confirmed"]
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'


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


def test_a_payload_that_changes_meanwhile(program, zeroin):
    """The result is about what it was; that is said."""
    words = [sys.executable, "-m", "zeroin", "shrink", "--json", "-j", "1", "data.jsonl", *COMMAND]
    with subprocess.Popen(
        words, cwd=program, env=zeroin.env, stdout=subprocess.PIPE, text=True
    ) as running:
        while not list(program.glob(".zeroin/shrink/*/tries.jsonl")):
            assert running.poll() is None
            time.sleep(0.01)
        (program / "data.jsonl").write_text("{}\n")
        out, _ = running.communicate(timeout=60)
    told = json.loads(out)
    assert told["verdict"] == "found"
    assert any("changed meanwhile" in note for note in told["notes"]), told


def test_kill_9_leaves_no_process_and_its_folder_goes_with_the_next(
    shrink, program, zeroin, tmp_path
):
    """Workers and what they run end with the driver; what was found out is there for the next."""
    env = zeroin.env | {"TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "zeroin", "shrink", "--json", "data.jsonl", *COMMAND]
    with subprocess.Popen(
        words, cwd=program, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        logs = program.glob
        while not any(
            path.read_text().count("\n") > 1 for path in logs(".zeroin/shrink/*/tries.jsonl")
        ):
            assert running.poll() is None
            time.sleep(0.01)
        running.kill()
    assert list(tmp_path.glob("zeroin-shrink-*"))
    done = shrink("data.jsonl", *COMMAND, env={"TMPDIR": str(tmp_path)})
    assert done.told["resumed"] >= 1
    assert not list(tmp_path.glob("zeroin-shrink-*"))


@pytest.mark.slow
def test_a_file_that_is_not_held(shrink, program):
    """More than is read into memory: one bad row of 40 MB is found."""
    row = json.dumps({"id": 1, "label": "a", "text": "x" * 1000}) + "\n"
    with (program / "data.jsonl").open("w") as file:
        for number in range(40_000):
            file.write(row if number != 31_313 else '{"id": 40}\n')
    done = shrink("data.jsonl", *COMMAND, timeout=200)
    assert done.told["verdict"] == "found", done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
    assert done.told["tries"] < 80


def test_answers_of_another_program_do_not_count(shrink, program):
    """After an edit nothing is taken over: what was no failure then may be one now."""
    shrink("data.jsonl", *COMMAND)
    assert shrink("data.jsonl", *COMMAND).told["resumed"] > 10
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(source.replace('row.get("id") == 40', 'row.get("id") == 41'))
    done = shrink("data.jsonl", *COMMAND)
    assert done.told["resumed"] == 0
    assert (program / "data.min.jsonl").read_text() == '{"id":41}\n'
