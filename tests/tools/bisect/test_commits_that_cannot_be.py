"""`zeroin bisect commits`: ends, words and places that don't do."""

import os

import pytest

from repositories import BAD, GOOD

COMMAND = ("--", "python", "repro.py")


def test_ends_that_are_not_ends(bisect, hundred):
    """Good that fails, bad that works, both the other way round: said, with what to type."""
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=hundred.folder)
    assert (done.code, "fails in the same way" in done.told["why"]) == (1, True)
    done = bisect("commits", "HEAD~99", "HEAD~80", *COMMAND, cwd=hundred.folder)
    assert (done.code, "both ends work" in done.told["why"]) == (1, True)
    hundred.commits(GOOD)
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=hundred.folder)
    assert (done.code, "--fixed" in done.told["hint"]) == (1, True)


def test_only_the_middle_fails(bisect, repository):
    """Both ends work: the first bad one is found, and since when it works again."""
    texts = [BAD if 5 <= n < 11 else GOOD for n in range(20)]
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~19", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["first_bad"]) == (0, shas[5])
    assert f"works again since {shas[11][:10]}" in " ".join(done.told["notes"])


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["HEAD"], "the same commit"),
        (["HEAD", "HEAD~5"], "older than the good one"),
        (["nothing"], "no such commit"),
        (["==9.9"], "no tag is named so"),
        (["1999-01-01"], "no commit that is so old"),
        (["lonely"], "no history in common"),
        (["HEAD~9", "--confidence", "2"], "from 0.5"),
    ],
)
def test_wrong_words(bisect, hundred, words, text):
    """Exit code 2, and why; nothing was run."""
    tree = hundred.git("mktree", stdin=b"").strip()
    lonely = hundred.git("commit-tree", tree, "-m", "alone").strip()
    hundred.git("branch", "lonely", lonely)
    done = bisect("commits", *words, *COMMAND, cwd=hundred.folder)
    assert (done.code, text in done.err) == (2, True), done.err


def test_a_shallow_clone(bisect, hundred, tmp_path, zeroin):
    """What is there is searched; what is not, is said with the way out."""
    clone = tmp_path / "clone"
    hundred.git("clone", "-q", "--depth", "70", f"file://{hundred.folder}", str(clone))
    (clone / "repro.py").write_text((hundred.folder / "repro.py").read_text())
    done = bisect("commits", "HEAD~69", *COMMAND, cwd=clone)
    assert done.told["first_bad"] == hundred.shas[37]
    done = bisect("commits", "HEAD~80", *COMMAND, cwd=clone)
    assert (done.code, "git fetch --unshallow" in done.err) == (2, True), done.err
    hundred.git("clone", "-q", "--depth", "5", f"file://{hundred.folder}", str(tmp_path / "few"))
    (tmp_path / "few" / "repro.py").write_text((hundred.folder / "repro.py").read_text())
    done = bisect("commits", *COMMAND, cwd=tmp_path / "few")
    assert (done.code, "git fetch --unshallow" in done.told["hint"]) == (1, True)


def test_no_repository(bisect, tmp_path):
    """Exit code 2."""
    (tmp_path / "plain").mkdir()
    done = bisect("commits", "HEAD~1", *COMMAND, cwd=tmp_path / "plain")
    assert (done.code, "in no git repository" in done.err) == (2, True)


def test_from_another_folder(bisect, hundred, tmp_path):
    """--repo: the repro lies elsewhere."""
    repro = tmp_path / "else" / "repro.py"
    repro.parent.mkdir()
    repro.write_text("from pkg.core import add\nassert add(1) == 2\n")
    words = ("HEAD~99", "--repo", str(hundred.folder))
    done = bisect("commits", *words, *COMMAND, cwd=repro.parent)
    assert done.told["first_bad"] == hundred.shas[37]


def test_a_folder_that_an_old_commit_lacks(bisect, repository):
    """Run from there, the old commits tell nothing, and that is said."""
    texts = [{"src/pkg/core.py": GOOD, "number.txt": f"{n}"} for n in range(4)]
    repository.commits(*texts, {"sub/x.txt": "1"}, BAD)
    script = os.path.join(repository.folder, "repro.py")
    done = bisect("commits", "HEAD~5", "--", "python", script, cwd=repository.folder / "sub")
    assert (done.code, "not there in this commit" in done.told["why"]) == (1, True)


def test_it_comes_and_goes_at_both_ends(bisect, repository):
    """That nothing between tells them apart is said with both rates, after few runs."""
    repository.commits(*[{"number.txt": f"{n}"} for n in range(40)])
    counter = repository.folder.parent / "runs"
    repository.write(
        "repro.py",
        "import os\n"
        f"file = os.open({str(counter)!r}, os.O_CREAT | os.O_APPEND | os.O_RDWR)\n"
        "os.write(file, b'x')\n"
        "assert os.lseek(file, 0, os.SEEK_CUR) % 3, 'by turns'\n",
    )
    done = bisect("commits", "HEAD~39", "-j", "1", *COMMAND, cwd=repository.folder)
    assert done.told["verdict"] == "not-reproduced"
    assert "it is flaky at both ends alike: HEAD~39 fails in" in done.told["why"]
    assert done.told["tries"] < 120


def test_what_zeroin_can_not_look_into(bisect, repository, tmp_path):
    """`python -I`: nobody knows which copy was imported, and that is said."""
    repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    text = f"import sys\nsys.path.insert(0, {str(tmp_path / 'site')!r})\n"
    other = tmp_path / "site" / "pkg"
    other.mkdir(parents=True)
    (other / "core.py").write_text(BAD)
    repository.write("repro.py", f"{text}from pkg.core import add\nassert add(1) == 2\n")
    done = bisect("commits", "HEAD~8", "--", "python", "-I", "repro.py", cwd=repository.folder)
    assert done.told["verdict"] == "not-reproduced"
    assert "no try could tell from where it imported" in " ".join(done.told["notes"])


def test_a_reset_that_fails_is_no_culprit(bisect, repository):
    """A commit at which the reset fails tells nothing, though its exit code is not 0."""
    repository.commits(GOOD, GOOD, BAD)
    reset = "python -c 'from pkg.core import add; assert add(1) == 2'"
    words = ("commits", "HEAD~2", "--reset", reset, "--", "python", "-c", "import pkg.core")
    done = bisect(*words, cwd=repository.folder, env={"PYTHONPATH": "src"})
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert f"can't be tested: exit 125: the reset failed: {reset}" in done.told["why"]


def test_commits_at_which_the_reset_fails_are_skipped(bisect, repository):
    """They hide the answer, and that is all that is said: what was not begun imported nothing."""
    skipped = [f"{GOOD}# not now\n", f"{BAD}# not now\n"]
    shas = repository.commits(GOOD, GOOD, *skipped, BAD)
    words = ("commits", "HEAD~4", "--reset", "! grep -q now src/pkg/core.py", *COMMAND)
    done = bisect(*words, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (1, "range")
    assert done.told["candidates"] == shas[2:]
    assert [one["name"] for one in done.told["skipped"]] == shas[2:4]
    assert done.told["notes"] == []
