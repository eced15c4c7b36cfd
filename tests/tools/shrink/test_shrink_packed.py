"""Packed payloads: as what is in them where that can be read, and else it is said."""

import bz2
import gzip
import json
import lzma
import sys
import textwrap

import pytest
import zstandard

import support


@pytest.fixture
def packed(project):
    """Sixty rows, of which one matters, in two frames."""
    rows = [json.dumps({"id": n, "text": "lorem ipsum"}) + "\n" for n in range(60)]
    halves = ["".join(rows[:30]).encode(), "".join(rows[30:]).encode()]
    (project / "data.jsonl.zst").write_bytes(b"".join(map(zstandard.compress, halves)))
    return project


@pytest.mark.slow
def test_rows_in_a_packed_file(shrink, packed):
    """The one row that matters is left, packed again; also where the file has several frames."""
    (packed / "train.py").write_text(
        textwrap.dedent(
            f"""
            import json
            import sys

            sys.path[:0] = {[path for path in sys.path if "site-packages" in path]!r}
            import zstandard

            with open(sys.argv[1], "rb") as file:
                stream = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
                rows = [json.loads(line) for line in stream.read().splitlines()]
            if any(row.get("id") == 40 for row in rows):
                raise ValueError("forty")
            """
        )
    )
    done = shrink("data.jsonl.zst", "--", "python", "train.py", "data.jsonl.zst", timeout=200)
    assert done.told["verdict"] == "found", (done.out, done.err)
    assert done.told["notes"] == []
    left = (packed / "data.min.jsonl.zst").read_bytes()
    assert zstandard.ZstdDecompressor().decompressobj().decompress(left) == b'{"id":40}\n'


def test_without_a_library_it_is_said(shrink, packed):
    """Its bytes are made fewer, and a note says what to install."""
    (packed / "train.py").write_text(
        "import sys\nassert b'\\x28\\xb5\\x2f\\xfd' not in open(sys.argv[1], 'rb').read()\n"
    )
    words = ["data.jsonl.zst", "--", "python", "train.py", "data.jsonl.zst"]
    done = shrink(*words, driver=support.bare_driver())
    assert done.told["verdict"] == "found", (done.out, done.err)
    (note,) = done.told["notes"]
    assert "Zstandard" in note
    assert "pip install 'zeroin[zstd]'" in note


@pytest.mark.parametrize("packing", [bz2, gzip, lzma], ids=lambda one: one.__name__)
def test_a_packed_file_stays_one(shrink, program, packing):
    """It is looked into, and the result is packed and called alike."""
    end = {"bz2": "bz2", "gzip": "gz", "lzma": "xz"}[packing.__name__]
    (program / f"data.jsonl.{end}").write_bytes(
        packing.compress((program / "data.jsonl").read_bytes())
    )
    source = (program / "train.py").read_text().replace("with open(", "with opener.open(")
    source = source.replace("sys.argv[1])", "sys.argv[1], 'rt')")
    (program / "train.py").write_text(f"import {packing.__name__} as opener\n{source}")
    done = shrink(f"data.jsonl.{end}", "--", "python", "train.py", f"data.jsonl.{end}")
    assert done.told["payloads"][0]["result"] == f"data.min.jsonl.{end}", done.err
    with packing.open(program / f"data.min.jsonl.{end}", "rt") as file:
        assert file.read() == '{"id":40}\n'
