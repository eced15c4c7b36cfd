"""`zeroin bisect commits`: the commit that broke it."""

import glob
import os
import subprocess
import tempfile
import time

import pytest

from repositories import BAD, GOOD
from zeroin.axes.commits import history
from zeroin.axes.commits.git import Git
from zeroin.axes.commits.likely import touching
from zeroin.tools import folders

COMMAND = ("--", "python", "repro.py")


def commits_run(done):
    """How many different commits were run."""
    return done.told["about"]["log"].count("git bisect ") - 1  # without its start


def test_the_commit(bisect, hundred):
    """It is named with all there is to tell, and the repository is as it was, to the last ref."""
    hundred.git("remote", "add", "origin", "git@example.org:team/pkg.git")
    (hundred.folder / ".zeroin").mkdir()  # ours, and there before
    (hundred.folder / ".zeroin" / ".gitignore").write_text("*\n")
    before = hundred.state()
    done = bisect("commits", "HEAD~99", "HEAD", *COMMAND, cwd=hundred.folder)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (0, "found", True)
    assert done.told["first_bad"] == hundred.shas[37]
    assert done.told["last_good"] == hundred.shas[36]
    commit = done.told["about"]["commit"]
    assert (commit["pull_request"], commit["author"]) == ("26681", "A. Author <author@example.org>")
    assert commit["link"] == "https://example.org/team/pkg/pull/26681"
    assert {file["path"] for file in commit["files"]} == {"src/pkg/core.py", "number.txt"}
    assert commits_run(done) <= 13  # of a hundred, several at once; the answer is run more often
    assert hundred.state() == before


@pytest.mark.parametrize(
    "words",
    [
        ("python", "repro.py"),  # the failure tells where it is
        ("sh", "-c", "! grep -q '/ 0' src/pkg/core.py"),
    ],
    ids=["by the failure", "by the command"],
)
def test_commits_that_touch_what_it_is_about_come_first(bisect, hundred, words):
    """One of a hundred changes the file: both sides of it are tried first."""
    done = bisect("commits", "HEAD~99", "-j", "1", "--", *words, cwd=hundred.folder)
    assert done.told["first_bad"] == hundred.shas[37]
    assert commits_run(done) <= 6


@pytest.mark.parametrize(
    ("host", "request_", "commit"),
    [
        ("github.com", "pull", "commit"),
        ("gitlab.com", "-/merge_requests", "-/commit"),
        ("bitbucket.org", "pull-requests", "commits"),
    ],
)
def test_links(repository, host, request_, commit):
    """They are written as each host has its pages."""
    repository.git("remote", "add", "origin", f"git@{host}:team/pkg.git")
    one, other = repository.commits({"message": "One (#7)", "a.txt": "1\n"}, GOOD)
    git = Git(str(repository.folder))
    base = f"https://{host}/team/pkg"
    assert history.link(git, history.read(git, one)) == f"{base}/{request_}/7"
    assert history.link(git, history.read(git, other)) == f"{base}/{commit}/{other}"


def test_git_replays_it(bisect, hundred, tmp_path):
    """The log that is written leads git to the same commit."""
    log = tmp_path / "log"
    bisect("commits", "HEAD~99", "--log", str(log), *COMMAND, cwd=hundred.folder)
    said = hundred.git("bisect", "replay", str(log))
    assert f"{hundred.shas[37]} is the first bad commit" in said


def test_without_a_good_one(bisect, hundred):
    """It is looked for, further and further back."""
    done = bisect("commits", *COMMAND, cwd=hundred.folder)
    assert done.told["first_bad"] == hundred.shas[37]
    assert commits_run(done) <= 20


def test_names_of_ends(bisect, hundred):
    """A tag by its version, a date, a branch."""
    hundred.git("tag", "release-1.2.0", hundred.shas[20])
    hundred.git("branch", "old", hundred.shas[10])
    for name in ("==1.2", "2020-09-14", "old", "main~70"):
        done = bisect("commits", name, *COMMAND, cwd=hundred.folder)
        assert done.told["first_bad"] == hundred.shas[37], name


def test_only_what_touches_a_path(bisect, repository):
    """With --path the others are no candidates."""
    texts = [{"src/pkg/core.py": GOOD if n < 30 else BAD} for n in range(60)]
    for number in range(60):
        if number % 10:
            texts[number] = {"number.txt": f"{number}\n"}
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~59", "--path", "src/pkg", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[30]
    assert commits_run(done) <= 6  # all that touch it


def test_what_broke_it_touches_no_such_path(bisect, repository):
    """Then no commit that does is blamed; and a path that nobody touches is said at once."""
    texts = [{"src/pkg/core.py": GOOD if n < 30 else BAD} for n in range(60)]
    for number in range(5, 60, 10):
        texts[number] = {"number.txt": f"{number}\n"}
    repository.commits(*texts)
    done = bisect("commits", "HEAD~59", "--path", "number.txt", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert "what broke it does not touch number.txt" in done.told["why"]
    done = bisect("commits", "HEAD~59", "--path", "nothere", *COMMAND, cwd=repository.folder)
    assert (done.code, "no commit between the two touches nothere" in done.err) == (2, True)


def test_a_message_that_differs_in_each_commit(bisect, repository):
    """The same exception in the same function: the words are not what tells commits apart."""
    words = [{"word.txt": "abcdefghijkl"[n:], "fails.txt": str(n >= 7)} for n in range(12)]
    shas = repository.commits(*words)
    repository.write(
        "repro.py",
        "def check(word):\n    assert open('fails.txt').read() == 'False', word\n"
        "check(open('word.txt').read())\n",
    )
    done = bisect("commits", "HEAD~11", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[7]
    assert "in the same place, but in other words" in " ".join(done.told["notes"])


def test_what_repaired_it_without_a_good_one(bisect, repository):
    """The end that fails is looked for, further and further back."""
    shas = repository.commits(*[BAD if n < 9 else GOOD for n in range(20)])
    done = bisect("commits", "--fixed", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["first_bad"]) == (0, shas[9])


def test_what_repaired_it(bisect, repository):
    """--fixed: the old end fails and the new one works."""
    shas = repository.commits(*[BAD if n < 9 else GOOD for n in range(20)])
    done = bisect("commits", "HEAD~19", "--fixed", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["first_bad"]) == (0, shas[9])


def test_it_fails_at_both_ends_in_two_ways(bisect, repository):
    """An exit code of 1 everywhere: what counts is since when it fails in the new way."""
    repository.write("repro.py", "from pkg.core import add\nadd(1)\nraise SystemExit('still no')\n")
    shas = repository.commits(*[GOOD if n < 5 else BAD for n in range(12)])
    done = bisect("commits", "HEAD~11", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["first_bad"]) == (0, shas[5])
    assert "ZeroDivisionError" in done.told["headline"]
    assert "still no" in done.told["about"]["before"]


# --- merges --------------------------------------------------------------------------------------


@pytest.fixture
def merged(repository):
    """A branch whose fourth commit breaks it, brought in by a merge."""
    first = repository.commits(GOOD, *[{"number.txt": f"{n}\n"} for n in range(5)])
    repository.git("branch", "side", first[2])
    texts = [{"other.txt": f"{n}\n"} for n in range(8)]
    texts[3] = {"src/pkg/core.py": BAD}
    repository.side = repository.commits(*texts, branch="side")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge pull request #12 from side", "side")
    repository.merge = repository.git("rev-parse", "HEAD").strip()
    repository.commits(*[{"number.txt": f"later {n}\n"} for n in range(5)])
    repository.first = first[0]
    return repository


def test_into_a_merge(bisect, merged):
    """The commit in it is named, and the merge that brought it."""
    done = bisect("commits", merged.first, *COMMAND, cwd=merged.folder)
    assert done.told["first_bad"] == merged.side[3]
    assert "Merge pull request #12" in " ".join(done.told["notes"])
    assert done.told["about"]["commit"]["pull_request"] == "12"


def test_the_merge_itself(bisect, merged):
    """With --first-parent the pull request is the answer."""
    done = bisect("commits", merged.first, "--first-parent", *COMMAND, cwd=merged.folder)
    assert done.told["first_bad"] == merged.merge
    assert done.told["about"]["commit"]["pull_request"] == "12"


def test_neither_side_alone(bisect, repository):
    """Two sides that work, and don't together: it is the merge."""
    repository.write("repro.py", "import a, b\nassert a.X + b.Y < 2\n")
    first = repository.commits({"a.py": "X = 0\n", "b.py": "Y = 0\n"})
    repository.git("branch", "side")
    repository.commits({"b.py": "Y = 1\n"}, {"number.txt": "9"}, branch="side")
    repository.commits({"a.py": "X = 1\n"}, {"c.txt": "9"})
    repository.git("merge", "-q", "--no-ff", "-m", "Both", "side")
    merge = repository.git("rev-parse", "HEAD").strip()
    repository.commits({"c.txt": "10"})
    done = bisect("commits", first[0], *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == merge
    assert "neither side" in " ".join(done.told["notes"])


def test_good_on_another_branch(bisect, repository):
    """A release branch: it begins where that left."""
    shas = repository.commits(*[GOOD if n < 6 else BAD for n in range(12)])
    repository.git("branch", "release", shas[3])
    release = repository.commits({"number.txt": "release"}, branch="release")
    done = bisect("commits", release[0], *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[6]
    assert "another branch" in " ".join(done.told["notes"])


def test_files_that_a_failure_names(repository):
    """By their path, its end, or as a module; a name that many files have says nothing."""
    named = ["src/pkg/core.py", "a b/ü.txt", "-x.cfg", *(f"{n}/same.py" for n in range(9))]
    (first, *rest) = repository.commits({"0.txt": "0\n"}, *({one: "1\n"} for one in named))
    git, touched = Git(str(repository.folder)), dict(zip(named, rest, strict=True))
    for text, files in {
        "KeyError at src/pkg/core.py add()": ["src/pkg/core.py"],
        "at core.py:12": ["src/pkg/core.py"],
        "python -m pkg.core": ["src/pkg/core.py"],
        "cat ./-x.cfg; core": ["-x.cfg"],
        "in ü.txt": ["a b/ü.txt"],
        "in 3/same.py": ["3/same.py"],
        "same.py 0.txt": [],
    }.items():
        found = touching(git, first, rest[-1], [text])
        assert found == {touched[one] for one in files}, text


@pytest.fixture
def memory(monkeypatch):
    """A folder in memory, in which programs can be started."""
    monkeypatch.delenv("TMPDIR", raising=False)
    if folders.quick_base() != folders.MEMORY:
        pytest.skip(f"{folders.MEMORY} is not for programs here")


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("size", [10, 300 << 20], ids=["small", "large"])
def test_small_commits_are_laid_out_in_memory(monkeypatch, size):
    """What would take much of the memory is not; nor is anything if TMPDIR says where."""
    monkeypatch.setattr(folders, "free_memory", lambda: 4 << 30)
    assert folders.quick_base(size) == (folders.MEMORY if size == 10 else tempfile.gettempdir())
    monkeypatch.setenv("TMPDIR", "/tmp")
    assert folders.quick_base(size) == tempfile.gettempdir()


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("text", ["", "*.bin filter=lfs\n"], ids=["plain", "filtered"])
def test_what_a_filter_fetches_is_not_laid_out_in_memory(zeroin, repository, tmp_path, text):
    """The listing has the size of pointers: how much comes in their place is not known."""
    where = ["stat", "-f", "-c", "%T"]
    on_disk = subprocess.check_output([*where, tempfile.gettempdir()], text=True)
    if on_disk == "tmpfs\n":
        pytest.skip("the folder for temporary files is in memory as well")
    core = "src/pkg/core.py"
    repository.commits({core: GOOD, "a  b/.gitattributes": text, " \t": "odd\n"}, BAD)
    seen = tmp_path / "seen"
    line = f"{' '.join(where)} . > {seen}; ! grep -q '/ 0' {core}"
    env = {key: value for key, value in zeroin.env.items() if key != "TMPDIR"}
    words = [*zeroin.driver, "bisect", "commits", "HEAD~1", "--fresh", "--", "sh", "-c", line]
    assert subprocess.run(words, cwd=repository.folder, env=env, check=False).returncode == 0
    assert seen.read_text() == (on_disk if text else "tmpfs\n")


def test_another_failure_may_hide_it(bisect, repository):
    """The good end fails otherwise, as some others do, while some work: a note says what to ask."""
    hidden = "import not_there\n" + GOOD
    texts = [hidden, GOOD, GOOD, "import not_there\n" + BAD, BAD, BAD]
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~5", "--cold", "-j", "1", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[4]
    (note,) = (one for one in done.told["notes"] if "may hide the failure" in one)
    better = note.partition(" works, and ")[0]
    assert better in (shas[1][:10], shas[2][:10])
    again = bisect("commits", better, *COMMAND, cwd=repository.folder)
    assert again.told["candidates"] == [shas[3], shas[4]]
    assert not any("may hide" in one for one in again.told["notes"])


def test_a_failure_that_hides_it_everywhere(bisect, repository):
    """What could not be imported tells nothing: all such commits are left, and a note says why."""
    hidden = ("import not_there\n" + GOOD, "import not_there\n# more\n" + BAD)
    shas = repository.commits(*hidden, BAD, BAD + "# more\n")
    done = bisect("commits", "HEAD~3", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"], done.told["confirmed"]) == (1, "range", False)
    assert done.told["candidates"] == shas[1:3]
    (note,) = done.told["notes"]
    assert note.startswith(f"no commit works: those before {shas[2][:10]} fail as the good end")
    assert "No module named 'not_there'), which may hide the failure, and it may be older" in note


def test_two_failures_one_after_the_other(bisect, repository):
    """Where the older failure is another one of the program's, the newer one has its commit."""
    other = GOOD.replace("x + 1", "x[1]")
    shas = repository.commits(other, other + "# more\n", BAD, BAD + "# more\n")
    done = bisect("commits", "HEAD~3", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"], done.told["first_bad"]) == (0, "found", shas[2])
    assert any("may hide the failure" in one for one in done.told["notes"])


@pytest.mark.usefixtures("memory")
def test_nothing_is_left_in_memory(zeroin, hundred):
    """Also of a driver that was killed: a guard removes it once its workers have ended."""
    env = {key: value for key, value in zeroin.env.items() if key != "TMPDIR"}
    words = [*zeroin.driver, "bisect", "commits", "HEAD~99", "--fresh", "--", "sh", "-c", "sleep 9"]
    with subprocess.Popen(words, cwd=hundred.folder, env=env, stderr=subprocess.DEVNULL) as driver:
        own = f"{folders.MEMORY}/zeroin-bisect-{driver.pid}-*"
        until = time.monotonic() + 60
        while not glob.glob(f"{own}/0/tree/number.txt"):
            assert time.monotonic() < until
            time.sleep(0.02)
        driver.kill()
    while glob.glob(own):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_index_of_the_user_stays_as_it_is(project, zeroin):
    """A file whose time has changed, and not its text: git would write that into the index."""
    for number in range(3):
        (project / "shop.py").write_text(f"price = {number}\n")
        for words in (("add", "-A"), ("commit", "-q", "-m", f"number {number}")):
            subprocess.run(["git", *words], cwd=project, env=zeroin.env, check=True)
    os.utime(project / "shop.py", (1, 1))
    before = (project / ".git/index").read_bytes()
    command = ("python", "-c", "import shop; assert shop.price < 2")
    done = zeroin("bisect", "commits", "HEAD~2", "HEAD", "--", *command, cwd=project)
    assert done.returncode == 0, done.stderr
    assert (project / ".git/index").read_bytes() == before
