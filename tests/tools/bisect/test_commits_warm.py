"""`zeroin bisect commits`: tries that go on from a snapshot."""

import pytest

from repositories import BAD, GOOD

COMMAND = ("--", "python", "repro.py")


def test_warm_tries(bisect, repository):
    """What all commits have in common is run once a worker; the answer is confirmed cold."""
    shas = repository.commits(*[GOOD if n < 200 else BAD for n in range(300)])
    starts = repository.folder.parent / "starts"
    repository.write(
        "repro.py",
        f"open({str(starts)!r}, 'a').write('x')\n"
        "import time\n"
        "time.sleep(1.1)\n"
        "from pkg.core import add\n"
        "assert add(1) == 2\n",
    )
    done = bisect("commits", "HEAD~299", "-j", "1", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[200]
    assert done.told["tries"] >= 9
    assert len(starts.read_text()) <= 5  # the first run, and those that confirm it


def test_what_was_written_before_the_snapshot(bisect, repository):
    """A file that the program made early is as it was in each try."""
    shas = repository.commits(*[GOOD if n < 20 else BAD for n in range(40)])
    repository.write(
        "repro.py",
        "open('made.txt', 'w').write('1')\n"
        "import time\n"
        "time.sleep(0.4)\n"
        "from pkg.core import add\n"
        "assert open('made.txt').read() == '1'\n"
        "open('made.txt', 'a').write('2')\n"
        "assert add(1) == 2\n",
    )
    done = bisect("commits", "HEAD~39", *COMMAND, cwd=repository.folder)
    assert (done.told["first_bad"], done.told["confidence"]) == (shas[20], 1.0)


@pytest.mark.parametrize("text", ["def broken(", None])
def test_what_was_read_and_had_not_run(bisect, repository, text):
    """A snapshot between the two is of no use where the next commit's text can't be read."""
    texts = [{"lib.py": one} for one in ("GOOD = 1\n", text, "GOOD = 0\n")]
    shas = repository.commits(*texts)
    check = ("--", "python", "-c", "import lib; assert lib.GOOD")
    done = bisect("commits", "HEAD~2", "-j", "1", *check, cwd=repository.folder)
    assert (done.told["verdict"], done.told["candidates"]) == ("range", shas[1:])
    assert [one["name"] for one in done.told["skipped"]] == [shas[1]]
