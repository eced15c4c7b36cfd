"""What a search says and leaves when there is nothing to find, or when it is disturbed."""

import json
import signal
import subprocess
import sys
import time

import pytest

COMMAND = ["--", "python", "train.py", "data.jsonl"]


def test_it_does_not_fail(shrink, program):
    """Then there is nothing to shrink: exit code 1, and nothing is written."""
    (program / "data.jsonl").write_text('{"id": 1, "label": "a"}\n')
    done = shrink("data.jsonl", *COMMAND)
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert not (program / "data.min.jsonl").exists()


def test_a_command_that_ignores_the_payload(shrink, program):
    """It fails the same way with nothing: that is said with the next command, and code 1."""
    (program / "train.py").write_text("raise KeyError('label')\n")
    done = shrink("data.jsonl", *COMMAND)
    assert (done.code, done.told["verdict"]) == (1, "independent")
    assert not (program / "data.min.jsonl").exists()
    done = shrink("data.jsonl", "--", "python", "trian.py", "data.jsonl", text=True)
    assert (done.code, "with nothing in the payload" in done.out) == (1, True)
    assert "zeroin run -- python trian.py data.jsonl" in done.out


def test_what_is_not_confirmed_is_no_result(shrink, program, tmp_path):
    """What stops failing amidst the search leaves neither a file nor a line to reproduce it."""
    runs = tmp_path / "runs"
    (program / "train.py").write_text(
        f"open({str(runs)!r}, 'a').write('x')\n"
        f"if len(open({str(runs)!r}).read()) <= 5: raise KeyError(open('data.jsonl').read(1))\n"
    )
    done = shrink("data.jsonl", "--cold", "-j", "1", *COMMAND)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (1, "unconfirmed", False)
    assert (done.told["payloads"], list(program.glob("*.min.*"))) == ([], [])
    runs.unlink()
    done = shrink("data.jsonl", "--cold", "-j", "1", "--fresh", *COMMAND, text=True)
    assert "nothing is written" in done.out
    assert "reproduce:" not in done.out


def test_an_empty_payload(shrink, program):
    """There is nothing to leave out, which is said, and no error."""
    (program / "data.jsonl").write_text("")
    done = shrink("data.jsonl", *COMMAND)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (0, "found", True)
    assert done.told["notes"] == ["it is empty already: there is nothing to leave out"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--match", "nothere"], "it fails, but not that way: 13 runs as it is, KeyError"),
        (["--exit", "7"], "so there is nothing to shrink for exit 7"),
        (["--interesting", "./no.sh"], "and never no.sh ends with 0"),
    ],
)
def test_another_failure_than_the_one_that_is_meant(shrink, program, words, told):
    """It is said what was seen, and what to run next."""
    (program / "no.sh").write_text("#!/bin/sh\nexit 1\n")
    (program / "no.sh").chmod(0o755)
    command = [] if "--interesting" in words else COMMAND
    done = shrink(*words, "data.jsonl", *command, text=True)
    assert (done.code, told in done.out) == (1, True), done.out


def test_what_can_not_be_shrunk(shrink, program):
    """No such file, no permission, no command: a usage error with a hint."""
    done = shrink("nothing.json", *COMMAND)
    assert done.code == 2
    assert "nothing.json: no such file" in done.err
    assert shrink("data.jsonl").code == 2
    assert shrink(*COMMAND).code == 2
    done = shrink("data.jsonl", "data.jsonl", *COMMAND)
    assert (done.code, "name only one" in done.err) == (2, True)
    done = shrink("--match", "(", "data.jsonl", *COMMAND)
    assert (done.code, "( is no regular expression" in done.err) == (2, True)
    assert shrink("-j", "0", "data.jsonl", *COMMAND).code == 2


def test_ctrl_c_keeps_the_best_and_the_same_command_goes_on(shrink, program, zeroin):
    """After an interruption the answers that are known are not asked for again."""
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(
        f"{source}\n".replace(
            "    if not rows:", "    import time; time.sleep(0.02)\n    if not rows:"
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
    lines = [json.dumps({"id": n, **({} if n == 40 else {"label": 1})}) for n in (40, 41)]
    (program / "data.jsonl").write_text("\n".join(lines) + "\n")
    done = shrink("data.jsonl", "--cold", "-j", "1", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    assert done.told["confirmed"]
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'


def test_a_failure_that_does_not_show_at_first(shrink, program, tmp_path):
    """Two runs that pass do not mean that it never fails."""
    runs = tmp_path / "runs"
    late = f"import os\nopen({str(runs)!r}, 'a').write('x')\n"
    late += f"if os.path.getsize({str(runs)!r}) <= 2: os._exit(0)\n"
    (program / "train.py").write_text(late + (program / "train.py").read_text())
    (program / "data.jsonl").write_text('{"id": 40}\n')
    done = shrink("data.jsonl", *COMMAND, text=True)
    assert "10 of 12 times" in done.err
    assert "confirmed cold ✓" in done.out


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
    runs, block = tmp_path / "runs", tmp_path / "block"
    block.touch()  # after some tries it waits, so that it is killed amidst the search
    train = program / "train.py"
    train.write_text(
        f"import os, time\nopen({str(runs)!r}, 'a').write('x')\n"
        f"while os.path.getsize({str(runs)!r}) > 5 and os.path.exists({str(block)!r}):\n"
        f"    time.sleep(0.01)\n{train.read_text()}"
    )
    env = zeroin.env | {"TMPDIR": str(tmp_path)}
    words = [sys.executable, "-m", "zeroin", "shrink", "--json", "data.jsonl", "--cold", *COMMAND]
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
    block.unlink()
    assert list(tmp_path.glob("zeroin-shrink-*"))
    done = shrink("data.jsonl", "--cold", *COMMAND, env={"TMPDIR": str(tmp_path)})
    assert done.told["resumed"] >= 1
    assert not list(tmp_path.glob("zeroin-shrink-*"))


@pytest.mark.slow
def test_a_file_that_is_not_held(shrink, program):
    """More than is read into memory: one bad row of 17 MB is found."""
    row = json.dumps({"id": 1, "label": "a", "text": "x" * 1000}) + "\n"
    with (program / "data.jsonl").open("w") as file:
        for number in range(17_000):
            file.write(row if number != 15_313 else '{"id": 40}\n')
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


def on_a_small_disk(zeroin, disk, cwd, script, *words, env=None):
    """Run it where a folder is a disk of 64 KB; a shell script comes first."""
    mount = f'mount -t tmpfs -o size=64k none "{disk}" && {script} && cd "{cwd}" && exec "$@"'
    own = [sys.executable, "-m", "zeroin", "shrink", *words]
    return subprocess.run(
        ["unshare", "-Urm", "sh", "-c", mount, "sh", *own],
        env=zeroin.env | (env or {}),
        capture_output=True,
        text=True,
        check=False,
    )


FILL = "dd if=/dev/zero bs=1k 2>/dev/null count="


def test_a_full_disk_does_not_lose_the_result(program, zeroin, tmp_path):
    """It is written elsewhere, that is said, and no half file is left."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'cp "{program}"/train.py "{program}"/data.jsonl "{disk}"; touch "{disk}"/setup.py; {FILL}200 of="{disk}"/x; true'
    env = {"TMPDIR": str(tmp_path)}
    done = on_a_small_disk(zeroin, disk, disk, script, "--json", "data.jsonl", *COMMAND, env=env)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (payload,) = told["payloads"]
    with open(payload["result"], encoding="utf-8") as file:
        assert file.read() == '{"id":40}\n'
    assert "data.min.jsonl can't be written: no space left on device" in told["notes"]
    assert told["command"][-1] == payload["result"]


def test_no_room_for_tries(program, zeroin, tmp_path):
    """It says where room is needed: exit code 125."""
    disk = tmp_path / "disk"
    disk.mkdir()
    script = f'({FILL}60 of="{disk}"/x; true)'
    env = {"TMPDIR": str(disk)}
    done = on_a_small_disk(zeroin, disk, program, script, "data.jsonl", *COMMAND, env=env)
    assert done.returncode == 125, done.stderr
    assert "no space left on device" in done.stderr
    assert "TMPDIR" in done.stderr


def test_odd_names(shrink, program):
    """Blanks, quotes, a line break, and what looks like an option; the result is named as it is."""
    for name in ("a b'ü\nx.jsonl", "co:lo,n\\.jsonl", "./-dash.jsonl"):
        (program / name).write_text('{"id": 40}\n{"id": 41}\n')
        done = shrink(name, "--", "python", "train.py", name)
        (payload,) = done.told["payloads"]
        assert payload["result"] == name.replace(".jsonl", ".min.jsonl"), done.err
        assert (program / payload["result"]).read_text() == '{"id":40}\n'


def test_in_the_root_folder(shrink, program, zeroin):
    """Only what the command names is looked at; what tries write is not undone, which is said."""
    script, payload = program / "train.py", program / "data.jsonl"
    done = zeroin("shrink", "--json", payload, "--", "python", script, payload, cwd="/")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["verdict"], "stays" in told["notes"][0]) == ("found", True), told["notes"]


def test_answers_of_a_fresh_search_are_kept(shrink, program):
    """The same command without --fresh needs no tries for them, wherever its output goes."""
    first = shrink("--fresh", "data.jsonl", *COMMAND)
    for name in ("one", "two"):
        words = [sys.executable, "-m", "zeroin", "shrink", "--json", "data.jsonl", *COMMAND]
        with (program / name).open("w") as out:
            subprocess.run(words, cwd=program, stdout=out, check=True)
        told = json.loads((program / name).read_text())
        assert told["resumed"] > 0, name
        assert told["tries"] < first.told["tries"]


def begun(program, zeroin, go_on):
    """A search whose program waits for a file before it ends, from the tenth run on."""
    source = (program / "train.py").read_text()
    (program / "train.py").write_text(
        f"import os, time\nruns = {str(go_on)!r}\nopen(runs, 'a').write('x')\n"
        "while os.path.getsize(runs) > 9 and not os.path.exists(runs + '-on'):\n"
        f"    time.sleep(0.01)\n{source}"
    )
    words = [sys.executable, "-m", "zeroin", "shrink", "--cold", "--json", "-j", "1"]
    process = subprocess.Popen(
        [*words, "data.jsonl", *COMMAND],
        cwd=program,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    end = time.monotonic() + 60
    while not go_on.exists() or go_on.stat().st_size < 10:
        assert time.monotonic() < end
        time.sleep(0.01)
    return process


def test_sigterm_keeps_the_best(program, zeroin, tmp_path):
    """As Ctrl-C does: `timeout 60 zeroin shrink ...` has something to show."""
    with begun(program, zeroin, tmp_path / "runs") as process:
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=60)
    assert (process.returncode, json.loads(out)["verdict"]) == (130, "interrupted")
    assert (program / "data.min.jsonl").stat().st_size < (program / "data.jsonl").stat().st_size


def test_a_payload_that_goes_meanwhile(program, zeroin, tmp_path):
    """It is said, and the best until then is written."""
    with begun(program, zeroin, tmp_path / "runs") as process:
        (program / "data.jsonl").rename(tmp_path / "data.jsonl")
        (tmp_path / "runs-on").touch()
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "data.jsonl is gone" in json.loads(out)["notes"][0]
    assert (program / "data.min.jsonl").stat().st_size < (tmp_path / "data.jsonl").stat().st_size
