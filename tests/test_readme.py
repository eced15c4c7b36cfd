"""The README shows what `make demo` prints."""

import re
import subprocess
import sys

import support


def masked(text):
    """Without what differs from run to run and from machine to machine."""
    rules = [
        (r"/tmp/[\w.-]*tmp\.\w+|~(?=/shop)", "~"),
        (r"python     .*", "python"),
        (r"tree \w+ on commit \w+", "tree"),
        (r"process \d+", "process"),
        (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\d\d:\d\d:\d\d", "TIME"),
        (r" *\d+\.\d+ s\b", " SECONDS"),
        (r" *\d+(\.\d+)? MB\b", " MEMORY"),
        (r"^ *[~^]+ *$\n", ""),  # carets are drawn by newer Pythons only
    ]
    for pattern, word in rules:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return text.strip()


def test_the_transcript_is_the_demos(tmp_path):
    """Every command and every line, apart from times, sizes and folders."""
    readme = (support.ROOT / "README.md").read_text()
    transcript = readme.partition("```console\n")[2].partition("\n```")[0]
    env = support.clean_environment(tmp_path)
    tools = support.tools_of(tmp_path)
    (tools / "zeroin").write_text(f'#!/bin/sh\nexec {sys.executable} -m zeroin "$@"\n')
    (tools / "zeroin").chmod(0o755)
    env["TMPDIR"] = "/tmp"
    script = support.ROOT / "demo" / "run.sh"
    done = subprocess.run(["sh", script], env=env, capture_output=True, text=True, check=True)
    assert masked(done.stdout) == masked(transcript)
