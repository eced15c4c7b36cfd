"""The line behind `reproduce:`, run as it is printed: it tests the result, not the payload."""

import re
import subprocess

import pytest

BAD = "[a]\nx = 1\n[b]\nbad = true\ny = 2\n"
HARMLESS = "[a]\nx = 1\n"
BUILT_IN = '#!/bin/sh\ngrep -q "bad = true" "conf.toml"\n'
ARGUMENT = '#!/bin/sh\ngrep -q "bad = true" "$1"\n'
BOTH = '#!/bin/sh\ngrep -q "bad = true" "$1" && grep -q "bad = true" "more conf.toml"\n'
FOLDER = '#!/bin/sh\ngrep -qr "bad = true" conf\n'
READS = "import pathlib, sys\nassert 'bad' not in pathlib.Path({}).read_text()\n"
CHECK = ("--interesting", "./check it.sh")

# The check, the payloads, the words, whether the line is the plain one with the result's name.
CASES = {
    "built in": (BUILT_IN, ["conf.toml"], [*CHECK, "conf.toml"], False),
    "argument": (ARGUMENT, ["conf.toml"], [*CHECK, "conf.toml"], True),
    "spaces": (ARGUMENT, ["a conf.toml"], [*CHECK, "a conf.toml"], True),
    "spaces built in": (
        BUILT_IN.replace("conf.toml", "it's a conf.toml"),
        ["it's a conf.toml"],
        [*CHECK, "it's a conf.toml"],
        False,
    ),
    "several": (BOTH, ["conf.toml", "more conf.toml"], [*CHECK, "conf.toml", "more conf.toml"], False),
    "folder": (FOLDER, ["conf/one.toml", "conf/two.toml"], [*CHECK, "conf"], False),
    "out": (BUILT_IN, ["conf.toml"], [*CHECK, "-o", "small/result.toml", "conf.toml"], False),
    "out, argument": (ARGUMENT, ["conf.toml"], [*CHECK, "-o", "small/r.toml", "conf.toml"], True),
    "a dot": (ARGUMENT, ["conf.toml"], [*CHECK, "./conf.toml"], True),
    "a program": (None, ["conf.toml"], ["conf.toml", "--", "python", "app.py"], False),
    "an option": (None, ["conf.toml"], ["conf.toml", "--", "python", "app.py", "-c=conf.toml"], False),
    "an unread argument": (None, ["conf.toml"], ["conf.toml", "--", "python", "app.py", "conf.toml"], False),
}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "elsewhere"),
    [
        *(pytest.param(case, False, id=name) for name, case in CASES.items()),
        pytest.param(CASES["built in"], True, id="built in, another folder"),
        pytest.param(CASES["out, argument"], True, id="argument, another folder"),
    ],
)
def test_the_printed_line_tests_the_result(zeroin, tmp_path, case, elsewhere):
    """Whatever is in the payload by then; which stays as it is."""
    check, payloads, words, is_plain = case
    folder = tmp_path / "the project"
    folder.mkdir()
    for name in payloads:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(BAD)
    (folder / "app.py").write_text(READS.format("'conf.toml'"))
    if check:
        (folder / "check it.sh").write_text(check)
        (folder / "check it.sh").chmod(0o755)
    if elsewhere:
        words = [str(folder / "check it.sh") if word == CHECK[1] else word for word in words]
        words = ["--cwd", str(folder), *words]
    here = tmp_path if elsewhere else folder
    done = zeroin("shrink", "--cold", "-j", "1", *words, cwd=here)
    assert "confirmed cold" in done.stdout, done.stderr
    (line,) = re.findall("reproduce: (.*)", done.stdout)
    assert ("sh -c" not in line) is is_plain
    for name in payloads:
        (folder / name).write_text(HARMLESS)
    before = sorted(folder.rglob("*"))
    again = subprocess.run(["sh", "-c", line], cwd=here, env=zeroin.env, check=False)
    assert again.returncode == (0 if check else 1)
    assert sorted(folder.rglob("*")) == before
    assert {(folder / name).read_text() for name in payloads} == {HARMLESS}
    for result in re.findall("written: (.*)", done.stdout)[0].split(", "):
        subprocess.run(["rm", "-r", here / result], check=True)
    again = subprocess.run(
        ["sh", "-c", line], cwd=here, env=zeroin.env, check=False, capture_output=True
    )
    assert again.returncode != 0
    assert {(folder / name).read_text() for name in payloads} == {HARMLESS}
