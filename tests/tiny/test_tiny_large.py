"""Files that are larger than the memory that `tiny data` may have."""

import json
import resource
import subprocess
import sys

import pytest

import support
from zeroin.tiny import fake_arrays

SIZE = 120 << 20  # bytes of a file,
LIMIT = 100 << 20  # of address space: less than the file
PEAK = 50 << 20  # of memory that is really used, at most; Python itself takes a third of it
PROGRAM = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, ({0}, {0})); from zeroin.fronts.cli import main; sys.exit(main(sys.argv[1:]))"

MEASURE = "import os, subprocess, sys; one = subprocess.Popen(sys.argv[1:]); _, status, usage = os.wait4(one.pid, 0); print(usage.ru_maxrss, flush=True); os._exit(os.waitstatus_to_exitcode(status))"


def limited(cwd, *words, limit=LIMIT):
    """Run it with so much address space: exit code, report, peak memory in bytes."""
    code = PROGRAM.format(limit or resource.RLIM_INFINITY)
    done = subprocess.run(  # by a small process: its memory is the least that can be told
        [
            sys.executable,
            "-c",
            MEASURE,
            sys.executable,
            "-c",
            code,
            "tiny",
            "data",
            *words,
            "--json",
        ],
        cwd=cwd,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    out, peak = done.stdout.splitlines()
    return json.loads(out), int(peak) * 1024


def rows_of_json(count, odd):
    """Rows of a kilobyte, of which one has no label."""
    for number in range(count):
        row = {"id": number, "text": "x" * 970, "label": "ab"[number % 2]}
        if number == odd:
            del row["label"]
        yield row


def write_lines(path):
    """JSON Lines."""
    row = len(json.dumps({"id": 1, "text": "x" * 970, "label": "a"}))
    count = SIZE // row
    with path.open("w") as file:
        file.writelines(json.dumps(one) + "\n" for one in rows_of_json(count, count - 7))
    return count


def write_list(path):
    """A JSON list, all of it in one line."""
    row = len(json.dumps({"id": 1, "text": "x" * 970, "label": "a"}))
    count = SIZE // row
    with path.open("w") as file:
        rows = rows_of_json(count, count - 7)
        file.write("[" + json.dumps(next(rows)))
        file.writelines(", " + json.dumps(one) for one in rows)
        file.write("]\n")
    return count


def write_array(path):
    """Rows of 2,000 numbers."""
    count = SIZE // 8000
    one = fake_arrays.Array("float32", (2000,))
    row = fake_arrays.content(one, fake_arrays.values(one, None))
    odd = fake_arrays.content(one, [float("nan")] * 2000)
    head = fake_arrays.Npy(b"\1\0", "<f4", False, (count, 2000), 0).head((count, 2000))
    with path.open("wb") as file:
        file.write(head)
        file.writelines(row if number != count - 7 else odd for number in range(count))
    return count


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write"),
    [("a.jsonl", write_lines), ("a.json", write_list), ("a.npy", write_array)],
)
def test_a_file_that_is_larger_than_memory(tmp_path, rows_of, name, write):
    """120 MB with 100 MB of address space; and the odd row near its end is found."""
    count = write(tmp_path / name)
    assert (tmp_path / name).stat().st_size > LIMIT
    told, peak = limited(tmp_path, name, "-n", "20")
    assert (told["rows"], told["seen"], told["kinds"]) == (20, count, told["shown"])
    assert peak < PEAK, peak
    found = rows_of(tmp_path / told["result"])
    if name == "a.npy":
        assert sum(row["NaN"] for row in found) == 1
    else:
        assert [row["id"] for row in found if "label" not in row] == [count - 7]
    (tmp_path / name).unlink()


PARQUET = """
import random, pyarrow as pa, pyarrow.parquet as pq
n = 62_000
drawn = random.Random(1).randbytes(5000 + n)
bodies = pa.py_buffer(b"".join(drawn[one : one + 5000] for one in range(n)))
table = pa.table({
    "id": range(n),
    "body": pa.Array.from_buffers(pa.binary(5000), n, [None, bodies]).cast(pa.binary()),
    "label": [None if one == n - 7 else "a" for one in range(n)],
})
pq.write_table(table, "a.parquet", compression="none", row_group_size=n // GROUPS)
"""
ASK = """
import json, os, resource, subprocess, sys
talk = subprocess.Popen([sys.executable, sys.argv[1]], stdin=-1, stdout=-1, text=True)
def ask(order):
    talk.stdin.write(json.dumps(order) + chr(10))
    talk.stdin.flush()
    return json.loads(talk.stdout.readline())
assert ask({"open": "a.parquet", "kind": "parquet"}) == {"noun": "row"}
seen = 0
while rows := ask({"more": 1}):
    seen += len(rows)
assert ask({"make": [3, seen - 7], "to": "b.parquet"}) is None
talk.stdin.close()
print(seen, os.wait4(talk.pid, 0)[2].ru_maxrss)
talk.returncode = 0
"""


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 62])
def test_a_parquet_file_is_read_and_written_a_few_rows_at_a_time(tmp_path, libs, groups):
    """The interpreter that reads 300 MB never holds them, also where they are one group of rows."""
    make = PARQUET.replace("GROUPS", str(groups))
    subprocess.run([libs, "-c", make], cwd=tmp_path, check=True)
    assert (tmp_path / "a.parquet").stat().st_size > 290 << 20
    script = support.SRC / "zeroin" / "run" / "rows_script.py"
    command = [libs, "-c", ASK, script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    seen, peak = map(int, done.stdout.split())
    assert (seen, peak < 256 << 10) == (62_000, True), peak
    (tmp_path / "a.parquet").unlink()
