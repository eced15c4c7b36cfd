"""`zeroin loop --profile`: whose time it is, on each Python."""

import json
import subprocess
import textwrap

import pytest

from looping import Looping

pytestmark = pytest.mark.xdist_group("profile")  # they share a run on each Python

PROGRAM = """\
import time


def nap(seconds):
    time.sleep(seconds)
    return seconds


def items():
    for i in range(4):
        time.sleep(0.05)
        yield i


def fails():
    raise KeyError


def main():
    for i in items():
        if i == 3:
            continue
        kept = nap(0.1)
        time.sleep(0.03)
    try:
        fails()
    except KeyError:
        time.sleep(0.04)
    for x in map(time.sleep, [0.06] * 3):
        y = x
    both = (nap(0.1), time.sleep(0.2))
    big = bytearray(b"x") * (40 << 20)
    del big
    return both


main()
"""


@pytest.fixture(scope="module")
def known():
    """Reports of PROGRAM that were made already, by the Python."""
    return {}


@pytest.fixture
def whole(profile, known):
    """The lines of PROGRAM; it is run once on each Python for all tests."""

    def rows(python="python"):
        if python not in known:
            known[python] = profile(PROGRAM, python=python)
        return known[python]

    return rows


@pytest.fixture
def profile(zeroin, project):
    """Run a program once; its lines, by their source."""

    def run(source, *options, python="python"):
        (project / "train.py").write_text(textwrap.dedent(source))
        words = ["loop", "--once", "--json", "--profile", *options, "--", python, "train.py"]
        done = zeroin(*words, cwd=project)
        (line,) = map(json.loads, done.stdout.splitlines())
        assert line["outcome"] == "passed", done.stderr
        return line["profile"]

    return run


def by_source(rows):
    return {row["source"]: row for row in rows}


def test_each_has_its_own_time(whole, python):
    """Without that of the functions it calls; a loop's head has that of fetching the items."""
    rows = by_source(whole(python))

    def seconds(source):
        return rows[source]["seconds"]

    # What sleeps can be late on a busy machine, but not by as much as another's time.
    assert 0.4 <= seconds("time.sleep(seconds)") < 0.6
    assert 0.2 <= seconds("time.sleep(0.05)") < 0.4
    assert 0.09 <= seconds("time.sleep(0.03)") < 0.29
    assert 0.04 <= seconds("time.sleep(0.04)") < 0.24
    assert 0.18 <= seconds("for x in map(time.sleep, [0.06] * 3):") < 0.38
    assert 0.2 <= seconds("both = (nap(0.1), time.sleep(0.2))") < 0.3
    for light in ("kept = nap(0.1)", "for i in items():", "fails()", "main()", "return seconds"):
        assert rows.get(light, {"seconds": 0.0})["seconds"] < 0.15, light


def test_counts_and_places(whole):
    """How often it was reached, where it is, and what part of all it had."""
    every = whole()
    rows = by_source(every)
    nap = rows["time.sleep(seconds)"]
    assert (nap["file"], nap["line"], nap["end_line"]) == ("train.py", 5, 5)
    assert (nap["count"], nap["sampled"]) == (4, False)
    assert rows["time.sleep(0.05)"]["count"] == 4
    assert rows["time.sleep(0.03)"]["count"] == 3
    assert sum(row["share"] for row in every) == pytest.approx(1.0, abs=0.01)
    assert [row["seconds"] for row in every] == sorted(
        (row["seconds"] for row in every), reverse=True
    )


def test_memory(whole, python):
    """The statement that takes it has it, the one that gives it back has it as well."""
    rows = by_source(whole(python))
    big = rows['big = bytearray(b"x") * (40 << 20)']
    assert big["memory"] > 35 << 20
    assert rows["del big"]["memory"] < -35 << 20


def test_a_segment_is_named_by_what_may_take_long(profile):
    """Short statements before it belong to it; all of their lines are told."""
    rows = profile(
        """\
        import time
        x = 1
        y = 2
        time.sleep(0.02)
        """
    )
    row = by_source(rows)["time.sleep(0.02)"]
    assert (row["line"], row["end_line"]) == (2, 4)


def test_the_longest(profile):
    """No more than were asked for."""
    source = "import time\n" + "".join(f"time.sleep(0.0{n})\n" for n in range(1, 6))
    assert len(profile(source)) > 3
    assert len(profile(source, "--top", "3")) == 3


def test_a_loop_in_a_rush(profile, python):
    """Not each pass is seen: the time is shared as in those that are, and costs little more."""
    source = """
        import time

        def heavy(k):
            return sum(range(2000))

        def light(k):
            return k

        def main():
            began = time.perf_counter()
            a = b = 0
            while time.perf_counter() - began < 0.6:
                a = heavy(1)
                b = light(2)
            return a + b

        main()
        """
    rows = by_source(profile(source, python=python))
    heavy = rows["return sum(range(2000))"]
    assert heavy["sampled"]
    assert heavy["share"] > 0.6
    assert rows["return k"]["share"] < 0.2
    assert 0.3 < sum(row["seconds"] for row in rows.values()) < 0.9  # without taking snapshots


def test_the_outcome_is_that_of_a_plain_run(zeroin, project, python):
    """Returns, generators, `finally` and recursion do what they do, and the output is the same."""
    source = """
        def count(n):
            try:
                return n if n < 2 else count(n - 1) + count(n - 2)
            finally:
                seen.append(n)

        def numbers():
            for i in range(5):
                if i == 2:
                    continue
                yield i
            return "end"

        def through():
            got = yield from numbers()
            print("got", got)

        class Box:
            def __enter__(self):
                return self
            def __exit__(self, *error):
                print("left by", error[0])
                return True

        def leaves():
            with Box():
                return 1
            return 2

        def raises():
            with Box():
                raise KeyError("plum")

        async def waits():
            return await other()

        async def other():
            return 7

        seen = []
        import asyncio
        print(count(12), len(seen), list(through()), leaves(), raises(), asyncio.run(waits()))
        print([f() for f in (lambda: 1, lambda: 2)])
        while True:
            for i in range(3):
                break
            else:
                print("never")
            break
        undefined
        """
    (project / "train.py").write_text(textwrap.dedent(source))
    plain = subprocess.run(
        [python, "train.py"],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    done = zeroin("loop", "--once", "--profile", "--", python, "train.py", cwd=project)
    assert (done.stdout, done.returncode) == (plain.stdout, 1)
    assert plain.stderr in done.stderr


def test_a_resumed_run_has_the_profile_of_the_whole(zeroin, project):
    """What ran before the snapshot counts as it was measured then, at the lines of now."""
    source = (
        "import time\n\n\ndef main():\n    time.sleep(0.3)\n    x = 1\n    print({})\n\n\nmain()\n"
    )
    (project / "train.py").write_text(source.format(1))
    with Looping(zeroin, project, "--profile") as loop:
        first = by_source(loop.line()["profile"])
        loop.edit("train.py", "# a line more\n" + source.format(2))
        second = loop.line()
    assert second["mode"] == "resumed"
    rows = by_source(second["profile"])
    nap = rows["time.sleep(0.3)"]
    assert nap["seconds"] == pytest.approx(first["time.sleep(0.3)"]["seconds"], abs=0.001)
    assert (nap["line"], nap["count"]) == (6, 1)
    assert "print(2)" in rows
    assert "print(1)" not in rows


def test_nothing_without_it(zeroin, project):
    """And nothing of a program that was killed."""
    (project / "train.py").write_text("print(1)\n")
    done = zeroin("loop", "--once", "--json", "--", "python", "train.py", cwd=project)
    assert json.loads(done.stdout)["profile"] == []
    (project / "train.py").write_text("import os\nos.kill(os.getpid(), 9)\n")
    done = zeroin("loop", "--once", "--json", "--profile", "--", "python", "train.py", cwd=project)
    assert json.loads(done.stdout)["profile"] == []


def test_the_table(zeroin, project):
    """For people: above the run's own line."""
    (project / "train.py").write_text("import time\n\ntime.sleep(0.7)\nx = 1\n")
    options = ["--once", "--profile", "--top", "2"]
    done = zeroin("loop", *options, "--", "python", "train.py", cwd=project)
    head, first, second, last = done.stderr.splitlines()
    assert head.split() == ["seconds", "share", "count", "memory", "statement"]
    assert first.split()[2:] == ["1", "train.py:3", "time.sleep(0.7)"]
    assert first.split()[0].startswith("0.")
    assert "%" in second
    assert last.startswith("[1] ")
