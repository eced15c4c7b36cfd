"""`shrink` without root's rights, and on files of somebody else."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json
import os
import sys

with open("log", "a") as log:
    log.write("x")
with open(sys.argv[1]) as file:
    rows = [json.loads(line) for line in file if line.strip()]
if any(row.get("id") == 40 for row in rows if isinstance(row, dict)):
    raise ValueError(f"forty, by {os.getuid()}")
"""
COMMAND = ["shrink", "--json", "data.jsonl", "--", "python3", "train.py", "data.jsonl"]


@pytest.fixture
def found(plain):
    """Sixty rows, a program that also writes a log, and what shrink makes of it."""
    (plain.project / "train.py").write_text(PROGRAM)
    rows = "".join(json.dumps({"id": n}) + "\n" for n in range(60))
    (plain.project / "data.jsonl").write_text(rows)
    (plain.project / "log").write_text("before\n")

    def shrink(**group):
        plain.own(group)
        done = plain(*COMMAND)
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        assert (told["verdict"], told["confirmed"]) == ("found", True), told
        assert (plain.project / "data.min.jsonl").read_text() == '{"id":40}\n'
        assert (plain.project / "log").read_text() == "before\n"
        return told

    return shrink


def test_a_plain_user(found):
    """Finds the row, in views of his own, and what tries write is not there afterwards."""
    told = found()
    assert "by " in told["headline"]
    assert told["notes"] == []


def test_a_payload_that_is_for_reading_only(found, plain):
    """Each try has it so as well, and the result is like it."""
    (plain.project / "data.jsonl").chmod(0o444)
    found()
    assert (plain.project / "data.min.jsonl").stat().st_mode & 0o777 == 0o444


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to another group")
def test_a_file_of_another_group_is_changed_in_copies(found):
    """A view can't name that group, so the kernel refuses to change the file there."""
    (note,) = found(log=12_345)["notes"]
    assert "each try had a copy" in note
    assert "another owner or group" in note


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_payload_of_another_group(found):
    """It is only read, and replaced in the view: nothing else is needed."""
    assert found(**{"data.jsonl": 12_345})["notes"] == []


def test_what_a_program_writes_first_may_make_its_snapshot_useless(shrink, project):
    """Then the try is a whole run: the worker does not end of it, whoever it is."""
    (project / "train.py").write_text(PROGRAM)
    rows = "".join(json.dumps({"id": n}) + "\n" for n in range(60))
    (project / "data.jsonl").write_text(rows)
    (project / "log").write_text("before\n")
    done = shrink("data.jsonl", "--", "python", "train.py", "data.jsonl")
    assert (done.code, done.told.get("verdict")) == (0, "found"), done.err
    assert (project / "data.min.jsonl").read_text() == '{"id":40}\n'


@pytest.mark.skipif(os.geteuid() != 0, reason="root's rights are taken away")
@pytest.mark.needs("setpriv")
def test_root_without_capabilities(program, zeroin):
    """Each try has a copy then, of all that may be read."""
    (program / "secret").touch()
    (program / "secret").chmod(0)
    os.mkfifo(program / "pipe")
    words = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-m", "zeroin"]
    done = subprocess.run(
        [*words, *COMMAND], cwd=program, env=zeroin.env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "each try had a copy" in json.loads(done.stdout)["notes"][0]
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
