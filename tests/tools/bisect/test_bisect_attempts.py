"""`bisect attempts`: which of the differences between two recorded attempts broke it."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    import support

LIBRARY = """\
def scale(x):
    return x * 2


def shift(x, by=1):
    return x + by


def norm(x):
    return x / 3


def total(values):
    return sum(values)
"""
PROGRAM = """\
import os
import sys

import library


def main():
    rate = float(os.environ.get("RATE", "1"))
    values = [library.shift(library.scale(x)) for x in range(4)]
    assert library.total(values) * rate < 100, "too large"


main()
"""
SAME = "AssertionError at main(): too large"


class Story:
    """A project, runs of it, and what bisect says of them."""

    def __init__(self, zeroin: support.Zeroin, folder: Path) -> None:
        self.zeroin = zeroin
        self.folder = folder
        self.command = ["python", "program.py"]
        self.write("library.py", LIBRARY)
        self.write("program.py", PROGRAM)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def edit(self, name: str, *pairs: tuple[str, str]) -> None:
        text = (self.folder / name).read_text()
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        self.write(name, text)

    def run(self, *more: str, code: int, env: dict[str, str] | None = None, **options: str) -> None:
        given = [word for name, value in options.items() for word in (f"--{name}", value)]
        done = self.zeroin("run", *given, "--", *self.command, *more, cwd=self.folder, env=env)
        assert done.returncode == code, done.stderr

    def ask(self, *args: str, code: int = 0, verb: str = "bisect") -> dict:
        words = ["attempts", *args] if verb == "bisect" else list(args)
        done = self.zeroin(verb, *words, "--json", cwd=self.folder, timeout=200)
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)

    def names(self, *args: str) -> list[str]:
        told = self.ask(*args)
        assert told["verdict"] == "found"
        assert told["confirmed"]
        assert told["signature"] == SAME
        return [one["name"] for one in told["culprits"]]


@pytest.fixture
def story(zeroin: support.Zeroin, project: Path) -> Story:
    return Story(zeroin, project)


def noise(story: Story) -> None:
    """Change much that has nothing to do with it."""
    story.edit(
        "library.py", ("x / 3", "x / 3.0"), ("return sum(values)", "return sum(list(values))")
    )
    story.edit("program.py", ("import sys\n", "import sys\nimport json\n"))


def test_the_line_among_many_changes(story: Story) -> None:
    """One line broke it, among other lines, variables and arguments: it alone is named."""
    story.run("--a", "1", code=0)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"))
    story.run("--a", "2", "--b", code=1, env={"OTHER": "x", "MORE": "y"})
    told = story.ask("1", "2")
    (one,) = told["culprits"]
    assert (one["name"], one["old"], one["new"]) == (
        "library.py:5",
        "def shift(x, by=1):\n",
        "def shift(x, by=100):\n",
    )
    assert told["verdict"] == "found"
    assert told["confirmed"]
    assert told["about"]["cured"]
    assert told["about"]["changes"] == 8
    assert told["tries"] < 18


def test_either_order_and_the_names_of_the_last(story: Story) -> None:
    """Which one worked is in the record: order does not matter, and the last of each is default."""
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    assert story.names("2", "1") == ["library.py:5"]
    assert story.names() == ["library.py:5"]
    assert story.names("last-passed", "last-failed") == ["library.py:5"]


def test_a_variable(story: Story) -> None:
    """A variable broke it: its old and its new value are told."""
    story.run(code=0, env={"RATE": "1"})
    noise(story)
    story.run(code=1, env={"RATE": "50", "OTHER": "1"})
    told = story.ask()
    (one,) = told["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("RATE", "1", "50")


def test_a_line_and_a_variable_together(story: Story) -> None:
    """Neither a line nor a variable alone breaks it: both are named, and that it takes both."""
    story.run(code=0, env={"RATE": "1"})
    noise(story)
    story.edit("library.py", ("by=1", "by=10"))
    story.run(code=1, env={"RATE": "3"})
    told = story.ask()
    assert [one["name"] for one in told["culprits"]] == ["library.py:5", "RATE"]
    assert not any(one["about"]["comes_along"] for one in told["culprits"])
    text = story.zeroin("bisect", "attempts", cwd=story.folder).stdout
    assert "neither alone" in text
    assert "RATE: 1 → 3" in text


def test_arguments_and_settings(story: Story) -> None:
    """An argument is told by its option; --seed is told as the setting that it is."""
    story.edit("program.py", ("library.total(values) * rate", "int(sys.argv[2])"))
    story.run("--size", "5", "--x", code=0)
    story.run("--size", "500", "--y", code=1)
    told = story.ask()
    (one,) = told["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("--size", "5", "500")
    story.edit("program.py", ("int(sys.argv[2])", 'int(os.environ.get("PYTHONHASHSEED", 1))'))
    story.run(code=0, seed="3")
    story.run(code=1, seed="300", env={"OTHER": "1"})
    (one,) = story.ask()["culprits"]
    assert (one["name"], one["old"], one["new"]) == ("--seed", "3", "300")


def test_what_has_to_come_along(story: Story) -> None:
    """A line that uses a new function needs that function: it is named, but not blamed."""
    story.run(code=0)
    noise(story)
    story.edit(
        "library.py",
        ("def norm", "def grow(x):\n    return x * 100\n\n\ndef norm"),
        ("    return x * 2", "    return grow(x)"),
    )
    story.run(code=1)
    told = story.ask()
    roles = {one["name"]: one["about"]["comes_along"] for one in told["culprits"]}
    assert roles == {"library.py:2": False, "library.py:9": True}
    assert "NameError" in story.zeroin("bisect", "attempts", cwd=story.folder).stdout


def test_changes_that_need_each_other_are_not_named_in_vain(story: Story) -> None:
    """Two files that have to fit together changed both: neither can go alone, both go together."""
    story.write("a.txt", "1\n")
    story.write("z.txt", "1\n")
    check = (
        "if open('a.txt').read() != open('z.txt').read():\n        raise OSError('misfit')\n    "
    )
    story.edit("program.py", ("rate = ", f"{check}rate = "))
    story.run(code=0)
    story.write("a.txt", "2\n")
    story.write("z.txt", "2\n")
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    assert story.names("-j", "1") == ["library.py:5"]


def test_two_that_break_it_independently(story: Story) -> None:
    """Each of two lines breaks it by itself: both are found, and that one alone is no cure."""
    story.run(code=0)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"), ("x * 2", "x * 200"))
    story.run(code=1)
    told = story.ask()
    sets = {one["name"]: one["about"]["set"] for one in told["culprits"]}
    assert set(sets) == {"library.py:2", "library.py:5"}
    assert sorted(sets.values()) == [0, 1]
    assert told["about"]["cured"]


def test_files_that_come_and_go(story: Story) -> None:
    """A new file breaks it, next to a removed one; folders and modes are as they were."""
    story.write("plugins/__init__.py", "")
    story.write("plugins/a.py", "WEIGHT = 1\n")
    story.write("old.txt", "x\n")
    text = "import glob\nnames = sorted(glob.glob('plugins/*.py'))\n"
    story.edit(
        "program.py", ("import os\n", "import os\n" + text), ("rate <", "rate * len(names) <")
    )
    story.run(code=0)
    (story.folder / "old.txt").unlink()
    story.write("plugins/b.py", "".join(f"A{n} = {n}\n" for n in range(9)))
    story.edit("program.py", ("< 100", "< 45"))
    story.run(code=1)
    told = story.ask()
    assert [one["name"] for one in told["culprits"]] == ["plugins/b.py", "program.py:12"]
    assert told["culprits"][0]["old"] is None


def test_what_git_ignores_is_there_and_the_project_is_left_alone(
    story: Story, tmp_path: Path
) -> None:
    """Ignored data is seen as it is; no try writes to the project, and nothing stays behind."""
    story.write(".gitignore", "data/\nbig.bin\n")
    story.write("data/numbers.txt", "7\n")
    (story.folder / "big.bin").write_bytes(b"x" * (2 << 20))
    story.edit(
        "program.py",
        ("rate = ", "open('out.txt', 'a').write('x')\n    open('data/new', 'w')\n    rate = "),
        ("< 100", "< int(open('data/numbers.txt').read()) * len(open('big.bin').read()) / 1e5"),
    )
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    before = listing(story.folder)
    (tmp_path / "temporary").mkdir()
    env = {"TMPDIR": str(tmp_path / "temporary")}
    done = story.zeroin("bisect", "attempts", cwd=story.folder, env=env)
    assert "def shift(x, by=100)" in done.stdout
    assert listing(story.folder) == before
    assert os.listdir(tmp_path / "temporary") == []


DIRTY = {
    "a new file": "there = os.path.exists('out/made'); os.makedirs('out', exist_ok=True); open('out/made', 'w')",
    "a file of the project": "there = open('notes.txt').read(); open('notes.txt', 'a').write('x')",
    "a file that differs": "there = 'seen' in open('library.py').read(); open('library.py', 'a').write('# seen')",
}


@pytest.mark.parametrize("what", DIRTY)
def test_no_try_sees_what_another_one_wrote(story: Story, what: str) -> None:
    """A try that writes files, or changes the project's own, leaves nothing to the next one."""
    lines = f"    {DIRTY[what]}\n    if there:\n        raise OSError('dirty')\n    rate ="
    story.edit("program.py", ("    rate =", lines))
    story.write("notes.txt", "")
    story.run(code=0)
    (story.folder / "out" / "made").unlink(missing_ok=True)
    story.write("notes.txt", "")
    story.write("library.py", LIBRARY)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    assert story.names("-j", "1", "--cold") == ["library.py:5"]


def listing(folder: Path) -> dict[str, bytes]:
    """All files but the record."""
    return {
        str(path): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".zeroin" not in path.parts and "__pycache__" not in path.parts
    }


def test_other_failures_are_not_taken_for_it(story: Story) -> None:
    """Half of a change that breaks the imports fails otherwise: that is never the answer."""
    story.run(code=0)
    story.edit("library.py", ("def total", "def summed"), ("by=1", "by=100"), ("x / 3", "x / 4"))
    story.edit("program.py", ("library.total", "library.summed"))
    story.run(code=1)
    assert story.names() == ["library.py:5"]


def test_the_patch_takes_it_back(story: Story) -> None:
    """What --patch writes is taken back by git, and then it works."""
    story.run(code=0)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    story.ask("--patch", "broke.diff")
    subprocess.run(["git", "apply", "-R", "broke.diff"], cwd=story.folder, check=True)
    story.run(code=0)


def test_the_patch_is_of_the_code_that_fails(story: Story) -> None:
    """It can be taken back also where the lines beside it have changed."""
    story.run(code=0)
    text = (story.folder / "library.py").read_text()
    rows = [row.replace("by=1", "by=100") for row in text.splitlines()]
    story.write("library.py", "\n".join(f"{row}  # {n}" for n, row in enumerate(rows)) + "\n")
    story.run(code=1)
    story.ask("--patch", "broke.diff")
    subprocess.run(["git", "apply", "-R", "broke.diff"], cwd=story.folder, check=True)
    story.run(code=0)


def test_diff_why(story: Story) -> None:
    """`diff A B --why` is the same question."""
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    told = story.ask("1", "2", "--why", verb="diff")
    assert [one["name"] for one in told["culprits"]] == ["library.py:5"]


def test_nothing_changed_and_it_flips(story: Story) -> None:
    """The same code, variables and arguments, and it flips: it is flaky, with its rate.

    The command that is said to be next is one that a shell takes as it stands.
    """
    story.write(".gitignore", "count\n")
    coin = "import random\nassert random.random() < 0.5, 'unlucky'\n"
    story.write("program.py", coin)
    codes = set()
    while codes != {0, 1}:
        done = story.zeroin("run", "--", *story.command, "two words", cwd=story.folder)
        codes.add(done.returncode)
    told = story.ask(code=1)
    assert shlex.split(told["hint"])[-1] == "two words"
    assert told["verdict"] == "not-reproduced"
    assert "flaky" in told["why"]
    assert 0 < told["about"]["rate"] < 1


def test_fails_only_sometimes(story: Story) -> None:
    """A line lets it fail in half of the runs: it is found by repeating, and how sure that is."""
    story.run(code=0)
    noise(story)
    coin = "    coin = __import__('random').randrange(2)\n"
    story.edit(
        "program.py", ("    assert", f"{coin}    assert"), ("* rate <", "* rate * (1 + 9 * coin) <")
    )
    while not story.zeroin("run", "--", *story.command, cwd=story.folder).returncode:
        pass
    told = story.ask("1", "last-failed", "--repeat", "20")
    culprits = {one["name"]: one["about"]["comes_along"] for one in told["culprits"]}
    assert culprits == {"program.py:11": False}
    assert told["confidence"] == 0.95


def test_what_can_not_be_answered(story: Story) -> None:
    """Each question that makes no sense is answered by what is wrong, with the right exit code."""

    def said(*args: str, code: int) -> str:
        done = story.zeroin("bisect", "attempts", *args, cwd=story.folder)
        assert done.returncode == code, done.stderr
        return done.stderr + done.stdout

    assert "nothing has been recorded" in said(code=1)
    story.run(code=0)
    assert "no last-failed attempt" in said(code=1)
    story.run(code=0)
    assert "both passed" in said("1", "2", code=1)
    assert "twice" in said("1", "1", code=2)
    assert "no attempt 99" in said("1", "99", code=1)
    assert "names no attempt" in said("1", "x", code=2)
    assert "own command" in said("1", "2", "--", "true", code=2)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    story.run(code=1)
    assert "failed in the same way" in said("3", "4", code=1)


def test_code_that_was_not_kept(story: Story) -> None:
    """Without the code of an attempt nothing can be mixed, and that is said."""
    story.write(".zeroin/config.toml", "code = false\n")
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    done = story.zeroin("bisect", "attempts", cwd=story.folder)
    assert done.returncode == 1
    assert "code of attempt 1 was not kept" in done.stderr


def test_what_the_record_does_not_hold(story: Story) -> None:
    """Ignored data made the difference: both work now, and it is said where to look."""
    story.write(".gitignore", "limit\n")
    story.write("limit", "100\n")
    story.edit("program.py", ("< 100", "< int(open('limit').read())"))
    story.run(code=0)
    story.edit("library.py", ("x / 3", "x / 4"))
    story.write("limit", "1\n")
    story.run(code=1)
    story.write("limit", "100\n")
    told = story.ask(code=1)
    assert told["verdict"] == "not-reproduced"
    assert "both work" in told["why"]
    assert "not in the record" in told["hint"]


REFUSED = "for kind in user mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done"


def test_without_namespaces(story: Story) -> None:
    """Where the kernel keeps nobody apart, tries run in folders of their own; data is linked."""
    story.write(".gitignore", "data/\n")
    story.write("data/numbers.txt", "100\n")
    story.edit("program.py", ("< 100", "< int(open('data/numbers.txt').read())"))
    story.run(code=0)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    before = listing(story.folder)
    words = [*story.zeroin.driver, "bisect", "attempts", "--json"]
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f'{REFUSED}; exec "$@"', "sh", *words],
        cwd=story.folder,
        env=story.zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    assert [one["name"] for one in told["culprits"]] == ["library.py:5"]
    assert "without namespaces" in told["notes"][0]
    assert listing(story.folder) == before


def test_goes_on_after_ctrl_c(story: Story, tmp_path: Path) -> None:
    """After Ctrl-C the same command goes on: what was tried is not tried again."""
    pace = tmp_path / "pace"
    pace.write_text("0")
    wait = f"__import__('time').sleep(float(open({str(pace)!r}).read()))\n    rate = "
    story.edit("program.py", ("rate = ", wait))
    story.run(code=0)
    noise(story)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1, env={"A": "1", "B": "2"})
    pace.write_text("0.3")
    words = [*story.zeroin.driver, "bisect", "attempts", "-j", "1"]
    process = subprocess.Popen(
        words, cwd=story.folder, env=story.zeroin.env, stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if line.startswith("  5"):
            break
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    assert process.wait(30) == 130
    process.stderr.close()
    assert time.monotonic() - began < 10
    pace.write_text("0")
    told = story.ask("-j", "1")
    assert told["resumed"] >= 4
    assert [one["name"] for one in told["culprits"]] == ["library.py:5"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_full_temporary_folder(story: Story, tmp_path: Path) -> None:
    """Exit code 125 and what to do; nothing is left there."""
    story.write("large.txt", "x\n" * 50_000)
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", small], check=True)
    try:
        words = ("bisect", "attempts")
        done = story.zeroin(*words, cwd=story.folder, env={"TMPDIR": str(small)})
        assert done.returncode == 125, done.stderr
        assert "set TMPDIR" in done.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_a_reset_is_run_before_each_try(story: Story, tmp_path: Path) -> None:
    """What the search is asked for holds for all tries, beside what the attempts had."""
    counted = tmp_path / "counted"
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    told = story.ask("--reset", f"printf x >> {counted}")
    assert told["verdict"] == "found"
    assert len(counted.read_text()) >= told["tries"]


def test_a_reset_that_fails_is_no_culprit(story: Story) -> None:
    """Changes with which the reset fails tell nothing, though its exit code is not 0."""
    story.run(code=0)
    story.edit("library.py", ("by=1", "by=100"))
    story.run(code=1)
    reset = "! grep -q by=100 library.py"
    told = story.ask("--reset", reset, code=1)
    assert told["verdict"] == "not-reproduced"
    assert f"can't be tested: exit 125: the reset failed: {reset}" in told["why"]
