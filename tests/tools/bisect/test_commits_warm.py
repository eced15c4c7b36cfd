"""`zeroin bisect commits`: tries that go on from a snapshot."""

from types import SimpleNamespace

import pytest

from repositories import BAD, GOOD
from zeroin.agent.warm import resume
from zeroin.tools.bisect.viewed import MOST_HOOKS

COMMAND = ("--", "python", "repro.py")
LONG_ENOUGH = 2 * resume.LEAST  # seconds before the first use of a commit: for a snapshot


@pytest.fixture
def early(repository):
    """What a program does first: it takes long enough for a snapshot, and counts its starts."""
    starts = repository.folder.parent / "starts"
    starts.touch()

    def count():
        return len(starts.read_text())

    early = SimpleNamespace(count=count)
    early.text = f"""\
open({str(starts)!r}, "a").write("x")
import time
time.sleep({LONG_ENOUGH})
"""
    return early


def test_warm_tries(bisect, repository):
    """What all commits have in common is run once a worker; the answer is confirmed cold."""
    # All of them touch the file: which one it was can't be guessed.
    shas = repository.commits(*[f"{GOOD if n < 200 else BAD}# {n}\n" for n in range(300)])
    starts = repository.folder.parent / "starts"
    repository.write(
        "repro.py",
        f"open({str(starts)!r}, 'a').write('x')\n"
        "import time\n"
        "time.sleep(1.1)\n"
        "from pkg.core import add\n"
        "assert add(1) == 2\n",
    )
    done = bisect("commits", "HEAD~299", "-j", "1", "--warm", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[200]
    assert done.told["tries"] >= 9
    assert len(starts.read_text()) <= 5  # the first run, and those that confirm it


def test_what_was_written_before_the_snapshot(bisect, repository, early):
    """A file that the program made early is as it was in each try."""
    shas = repository.commits(*[GOOD if n < 20 else BAD for n in range(40)])
    repository.write(
        "repro.py",
        f"open('made.txt', 'w').write('1')\n{early.text}"
        "from pkg.core import add\n"
        "assert open('made.txt').read() == '1'\n"
        "open('made.txt', 'a').write('2')\n"
        "assert add(1) == 2\n",
    )
    done = bisect("commits", "HEAD~39", "--warm", *COMMAND, cwd=repository.folder)
    assert (done.told["first_bad"], done.told["flaky"]) == (shas[20], False)


@pytest.mark.slow
@pytest.mark.parametrize("good", [["HEAD~5"], []])
def test_numbers_that_were_drawn_before_the_snapshot(bisect, repository, tmp_path, good):
    """An end that works by luck is run again from the start: warm runs all draw the same."""
    shas = repository.commits(GOOD, GOOD, "def broken(", BAD, BAD, BAD)
    drawn = tmp_path / "drawn"
    repository.write(
        "repro.py",
        "import os, time\n"
        f"drawn = os.open({str(drawn)!r}, os.O_WRONLY | os.O_CREAT | os.O_APPEND)\n"
        "os.write(drawn, b'x')\n"
        "luck = os.fstat(drawn).st_size <= 3\n"  # of the first whole runs
        "os.close(drawn)\n"
        f"time.sleep({LONG_ENOUGH})\n"
        "from pkg.core import add\n"
        "assert luck or add(1) == 2\n",
    )
    done = bisect("commits", *good, "-j", "1", "--warm", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] != shas[2], done.told
    assert done.told["verdict"] in ("found", "range"), done.told
    assert shas[3] in done.told["candidates"]


@pytest.mark.parametrize("text", ["def broken(", None])
def test_what_was_read_and_had_not_run(bisect, repository, text):
    """A snapshot between the two is of no use where the next commit's text can't be read."""
    texts = [{"lib.py": one} for one in ("GOOD = 1\n", text, "GOOD = 0\n")]
    shas = repository.commits(*texts)
    check = ("--", "python", "-c", "import lib; assert lib.GOOD")
    done = bisect("commits", "HEAD~2", "-j", "1", "--warm", *check, cwd=repository.folder)
    assert (done.told["verdict"], done.told["candidates"]) == ("range", shas[1:])
    assert [one["name"] for one in done.told["skipped"]] == [shas[1]]


ENDS = {
    "exit": "exit(3)",
    "raise": "raise SystemExit(3)",
    "by a library": "import runpy\nruns = runpy.run_path('leave.py')",
    "os": "import os\nos._exit(3)",
    "a hook": "import sys\nsys.excepthook = lambda *_: exit(3)\nraise ValueError",
    "said before": "import sys\ntry:\n    sys.exit(0)\nfinally:\n    sys.exit(3)",
}


@pytest.mark.parametrize("name", ENDS)
def test_the_code_of_a_try_is_the_interpreters_own(bisect, repository, early, name):
    """However a program leaves: what its try ends with is what a whole run ends with."""
    wrong = GOOD.replace("1", "2")
    shas = repository.commits(*[GOOD if n < 3 else wrong for n in range(5)])
    repository.write("leave.py", "raise SystemExit(3)\n")
    leave = "\n".join(f"    {line}" for line in ENDS[name].splitlines())
    text = f"{early.text}from pkg.core import add\nif add(1) != 2:\n{leave}\n"
    repository.write("repro.py", text)
    done = bisect("commits", "HEAD~4", "-j", "1", "--warm", *COMMAND, cwd=repository.folder)
    assert (done.told["first_bad"], done.told["confirmed"]) == (shas[3], True)
    assert early.count() < done.told["tries"]


def test_a_script_that_is_not_there(bisect, repository):
    """It fails with each commit; a try that runs nothing has not worked."""
    repository.commits(GOOD, GOOD, BAD)
    done = bisect("commits", "HEAD~2", "--", "python", "nothere.py", cwd=repository.folder)
    assert done.told["verdict"] == "not-reproduced"
    assert "can't open file" in str(done.told)


def test_a_working_folder_that_is_made_anew(bisect, repository, early):
    """The script is not committed, and its folder is not there in old commits: it is put there."""
    texts = [{"src/pkg/core.py": GOOD if n < 7 else BAD} for n in range(12)]
    texts[10] = {"late/x.txt": "1"}
    shas = repository.commits(*texts)
    script = f"{early.text}from pkg.core import add\nassert add(1) == 2\n"
    repository.write("late/repro.py", f"{script}open('repro.py').read()\n")
    folder = repository.folder / "late"
    done = bisect("commits", "HEAD~11", "-j", "1", "--warm", *COMMAND, cwd=folder)
    assert done.told["first_bad"] == shas[7], done.told
    assert early.count() < done.told["tries"]


def test_a_resumed_try_that_cannot_go_on_is_run_again(bisect, repository):
    """A run that was ended because its snapshot is of no use is no outcome: SIGKILL is ours."""
    # A generator that had been made before the snapshot can't be given the next commit's code.
    source = "def numbers():\n    # {}\n    yield {}\n"
    shas = repository.commits(*[{"lib.py": source.format(n, int(n < 14))} for n in range(20)])
    repository.write(
        "repro.py",
        f"import lib, time\nmade = lib.numbers()\ntime.sleep({LONG_ENOUGH})\nassert next(made)\n",
    )
    done = bisect("commits", "HEAD~19", "-j", "1", "--warm", *COMMAND, cwd=repository.folder)
    assert (done.told["first_bad"], done.told["verdict"]) == (shas[14], "found")
    assert done.told["skipped"] == []


def test_a_large_package(bisect, repository, early):
    """Of what tries don't watch statement by statement, a change counts as a whole."""
    large = "".join(f"def f{n}(x):\n    y = x\n    return y + {n}\n\n\n" for n in range(100))
    large *= 1 + MOST_HOOKS // len(large)
    core = "from pkg import large\n\n\ndef add(x):\n    return large.add(x)\n"
    shas = repository.commits(
        *[
            {
                "src/pkg/core.py": f"{core}# {n % 3}\n",
                "src/pkg/large.py": f"{large}{GOOD if n < 30 else BAD}# {n}\n",
            }
            for n in range(60)
        ],
    )
    watched = repository.folder.parent / "watched"
    repository.write(
        "repro.py",
        f"{early.text}from pkg import core\nimport os, sys\n"
        "steps = [one for name, one in sys.modules.items() if name.endswith('.stepping.steps')]\n"
        "files = sorted(os.path.basename(path) for one in steps for path in one.files)\n"
        f"open({str(watched)!r}, 'a').write(f'{{files}}\\n')\n"
        "assert core.add(1) == 2\n",
    )
    words = ("commits", "HEAD~59", "-j", "1", "--warm", *COMMAND)
    done = bisect(*words, cwd=repository.folder)
    assert done.told["first_bad"] == shas[30]
    assert early.count() < done.told["tries"]
    seen = ["__init__.py", "core.py", "repro.py"]
    assert set(watched.read_text().splitlines()) == {"[]", f"{seen}"}  # cold, and warm
