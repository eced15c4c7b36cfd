"""`zeroin bisect commits`: the commit that broke it, whatever lies about in the checkout."""

import json
import os
import select
import signal
import subprocess

import pytest

import packages
from repositories import BAD, GOOD
from zeroin.run import tree

COMMAND = ("--", "python", "repro.py")


def commits_run(done):
    """How many different commits were run."""
    return done.told["about"]["log"].count("git bisect ") - 1  # without its start


@pytest.fixture
def hundred(repository):
    """A hundred commits; the 38th breaks it."""
    texts = [
        {"src/pkg/core.py": GOOD if n < 37 else BAD, "number.txt": f"{n}\n"} for n in range(100)
    ]
    texts[37]["message"] = "Divide instead (#26681)\n\nWith a body."
    repository.shas = repository.commits(*texts)
    return repository


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


# --- what is in the way --------------------------------------------------------------------------


def test_same_size_within_a_second(bisect, repository):
    """Bytecode that looks fresh and is not: git's own way names the wrong commit, we don't."""
    one = "def add(x):\n    return x + {}\n"
    shas = repository.commits(*[one.format(1 if n < 23 else 2) for n in range(64)])
    repository.write("run.sh", "PYTHONPATH=src exec python repro.py\n")
    repository.git("bisect", "start", "HEAD", "HEAD~63")
    told = repository.git("bisect", "run", "sh", "run.sh")
    fooled = f"{shas[23]} is the first bad commit" not in told
    repository.git("bisect", "reset")
    subprocess.run(["find", "src", "-name", "__pycache__"], cwd=repository.folder, check=True)
    done = bisect("commits", "HEAD~63", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[23]
    assert fooled  # or this test would show nothing


def test_commits_that_tell_nothing(bisect, repository):
    """A stretch that can't be imported is skipped; where the answer is in it, it is a range."""
    broken = "def add(x:\n"
    texts = [GOOD] * 20 + [broken] * 6 + [BAD] * 20
    for number, text in enumerate(texts):
        texts[number] = {"src/pkg/core.py": text, "number.txt": f"{number}\n"}
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~45", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (0, "range")
    assert done.told["candidates"] == shas[20:27]
    assert {one["name"] for one in done.told["skipped"]} == set(shas[20:26])
    assert "SyntaxError" in done.told["skipped"][0]["reason"]


def test_data_that_git_ignores(bisect, repository):
    """It is there in each try, however large; what a try writes is not seen by anybody."""
    shas = repository.commits(*[GOOD if n < 5 else BAD for n in range(10)])
    repository.write(".gitignore", "data/\n")
    large = repository.write("data/large.bin", "x" * 3_000_000)
    repository.write("notes.txt", "small")
    repository.write(
        "repro.py",
        "from pathlib import Path\nfrom pkg.core import add\n"
        "assert len(Path('data/large.bin').read_text()) == 3_000_000\n"
        "assert Path('notes.txt').read_text() == 'small'\n"
        "for name in ('data/large.bin', 'notes.txt', 'data/new', 'src/pkg/core.py', 'new'):\n"
        "    Path(name).write_text('')\n"
        "assert add(1) == 2\n",
    )
    before = repository.state()
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[5]
    assert large.stat().st_size == 3_000_000
    assert (repository.folder / "notes.txt").read_text() == "small"
    assert not (repository.folder / "data" / "new").exists()
    assert repository.state()[1:] == before[1:]


def test_a_repro_that_is_changed(bisect, repository):
    """One that is committed, and changed since: it counts as it is; what else is changed, not."""
    repository.git("rm", "-q", "--cached", "--ignore-unmatch", "repro.py")
    first = {"src/pkg/core.py": GOOD, "repro.py": "pass\n"}
    shas = repository.commits(first, *[GOOD if n < 4 else BAD for n in range(9)])
    repository.write("repro.py", "from pkg.core import add\nassert add(1) == 2\n")
    repository.write("src/pkg/core.py", "raise MemoryError\n")
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[5]
    assert "src/pkg/core.py" in " ".join(done.told["notes"])


def test_a_repro_that_is_younger_than_the_code(bisect, repository):
    """Committed at last only: it is there in the old commits as well."""
    texts = [GOOD if n < 4 else BAD for n in range(9)]
    last = {"repro.py": "from pkg.core import add\nassert add(1) == 2\n"}
    (repository.folder / "repro.py").unlink()
    shas = repository.commits(*texts, last)
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[4]


def test_the_wrong_copy(bisect, repository, tmp_path):
    """Where the program loads another copy of the package, it is not tested but told."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    other = tmp_path / "elsewhere" / "pkg"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "core.py").write_text(BAD)
    text = f"import sys\nsys.path.insert(0, {str(other.parent)!r})\n"
    repository.write("repro.py", f"{text}from pkg.core import add\nassert add(1) == 2\n")
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert f"pkg was imported from {other}" in done.told["why"]
    assert shas


def test_an_installed_copy(bisect, repository, tmp_path):
    """A package that is also installed: the commit's own is what is tested."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    other = tmp_path / "site" / "pkg"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "core.py").write_text(BAD)
    site = {"PYTHONPATH": str(other.parent)}
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=repository.folder, env=site)
    assert done.told["first_bad"] == shas[4]


def test_builds(bisect, repository):
    """With --build each commit is built first; one that does not is skipped."""
    build = "cp src/pkg/core.py built.py"
    texts = [{"src/pkg/core.py": GOOD if n < 6 else BAD, "ok": "1"} for n in range(12)]
    texts[5]["ok"] = None
    texts[7]["ok"] = None
    shas = repository.commits(*texts)
    repository.write("repro.py", "from built import add\nassert add(1) == 2\n")
    repository.write("built.py", "raise MemoryError\n")  # of the user's own checkout
    repository.write(".gitignore", "built.py\n")
    line = f"test -e ok && {build}"
    done = bisect("commits", "HEAD~11", "--build", line, *COMMAND, cwd=repository.folder)
    assert (done.told["verdict"], done.told["candidates"]) == ("range", shas[5:7])
    assert "does not build" in done.told["skipped"][0]["reason"]


def test_submodules(bisect, repository, tmp_path, zeroin):
    """They are at the commit that belongs to each, without a network."""
    inner = type(repository)(tmp_path / "inner", zeroin.env)
    versions = inner.commits({"lib.py": "V = 1\n"}, {"lib.py": "V = 2\n"})
    allow = ("-c", "protocol.file.allow=always")
    repository.commits({"src/pkg/core.py": GOOD})
    repository.git(*allow, "submodule", "--quiet", "add", str(inner.folder), "lib")
    for number in range(8):
        repository.git("-C", "lib", "checkout", "-q", versions[number >= 5])
        repository.write("number.txt", str(number))
        repository.git("commit", "-q", "-a", "-m", f"{number}")
    repository.write(
        "repro.py", "import sys\nsys.path.append('lib')\nimport lib\nassert lib.V == 1\n"
    )
    shas = repository.git("log", "--reverse", "--format=%H").split()
    done = bisect("commits", shas[1], *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[6]
    assert repository.git("-C", "lib", "rev-parse", "HEAD").strip() == versions[1]


@pytest.mark.parametrize("name", ["a repo, ü [1]", "a:b"])
def test_odd_names(bisect, repository, name):
    """Of the repository, and of what is not committed; where PYTHONPATH can't say it, that is said."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    repository.write("new\nline.txt", "x")
    repository.write("da:ta/big [1]*.bin", "x" * 2_000_000)
    folder = repository.folder.rename(repository.folder.parent / name)
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=folder)
    if ":" in name:
        assert "PYTHONPATH can't name" in done.told["why"]
    else:
        assert done.told["first_bad"] == shas[4]
    assert (folder / "da:ta" / "big [1]*.bin").stat().st_size == 2_000_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
@pytest.mark.parametrize("size", ["16k", "100k"])
def test_a_full_temporary_folder(repository, zeroin, tmp_path, size):
    """Exit code 125 and what to do; nothing is left there."""
    repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small], check=True)
    try:
        words = ("bisect", "commits", "HEAD~8", *COMMAND)
        done = zeroin(*words, cwd=repository.folder, env={"TMPDIR": str(small)})
        assert done.returncode == 125, done.stderr
        assert "set TMPDIR" in done.stderr  # git's own words differ by what it was at
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


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


# --- what can't be -------------------------------------------------------------------------------


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


# --- tries that go on from a snapshot ------------------------------------------------------------


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


# --- disturbed -----------------------------------------------------------------------------------


@pytest.fixture
def slowly(repository, zeroin, tmp_path):
    """A search that is under way: the driver, and what it has said so far."""
    shas = repository.commits(*[GOOD if n < 37 else BAD for n in range(100)])
    repository.shas = shas
    script = "import time\nfrom pkg.core import add\ntime.sleep(0.3)\nassert add(1) == 2\n"
    repository.write("repro.py", script)
    started = []

    def start(*words):
        process = subprocess.Popen(
            [*zeroin.driver, "bisect", "commits", "HEAD~99", "-j", "2", "--cold", *words, *COMMAND],
            cwd=repository.folder,
            env={**zeroin.env, "TMPDIR": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def _until(process, tries):
    """Wait for so many tries."""
    for line in process.stderr:
        if line.split()[0] == str(tries):
            return


def test_ctrl_c_and_on(slowly, repository, bisect):
    """What was found out is not asked for again."""
    process = slowly()
    _until(process, 5)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=20)
    assert (process.returncode, "the same command goes on" in out) == (130, True)
    words = ("HEAD~99", "-j", "2", "--cold")
    done = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == repository.shas[37]
    assert done.told["resumed"] >= 5
    again = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert again.told["resumed"] == 0  # answered: a new question


def test_killed(slowly, repository, tmp_path):
    """After kill -9 of the driver its tries end, and the repository is as it was."""
    before = repository.state()
    process = slowly()
    _until(process, 4)
    workers = tree.descendants(process.pid)
    assert workers
    ends = [os.pidfd_open(pid) for pid in workers]
    process.kill()
    process.wait()
    for end in ends:
        assert select.select([end], [], [], 20)[0]
        os.close(end)
    assert repository.state()[1:] == before[1:]
    left = [path.name for path in tmp_path.iterdir() if path.name.startswith("zeroin-bisect-")]
    assert len(left) == 1
    again = slowly()
    again.communicate(timeout=60)
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("zeroin-bisect-")]


def test_two_at_once(slowly, repository):
    """Each has its own folders."""
    both = [slowly("--json", "--fresh"), slowly("--json", "--fresh")]
    for one in both:
        out, err = one.communicate(timeout=60)
        assert json.loads(out)["first_bad"] == repository.shas[37], err


REFUSED = "for kind in user mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done"


def test_without_namespaces(repository, zeroin):
    """The tries run in folders of their own, and come to the same answer."""
    shas = repository.commits(*[GOOD if n < 7 else BAD for n in range(20)])
    repository.write("data/x.txt", "1")
    script = "from pkg.core import add\nassert open('data/x.txt').read()\nassert add(1) == 2\n"
    repository.write("repro.py", script)
    words = [*zeroin.driver, "bisect", "commits", "HEAD~19", "--json", *COMMAND]
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f'{REFUSED}; exec "$@"', "sh", *words],
        cwd=repository.folder,
        env=zeroin.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    told = json.loads(done.stdout)
    assert told["first_bad"] == shas[7], done.stderr
    assert "without namespaces" in " ".join(told["notes"])


def test_resets(bisect, repository):
    """They are run before each try, and see what the try sees."""
    shas = repository.commits(*[GOOD if n < 7 else BAD for n in range(20)])
    repository.write("counted.txt", "")
    script = (
        "from pkg.core import add\nassert open('counted.txt').read() == 'x'\nassert add(1) == 2\n"
    )
    repository.write("repro.py", script)
    words = ("HEAD~19", "--reset", "printf x > counted.txt")
    done = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[7]
    assert (repository.folder / "counted.txt").read_text() == ""


def test_it_fails_sometimes(bisect, repository, tmp_path):
    """A failure that shows in every second run: the right commit, and how sure that is."""
    flaky = (
        "def add(x):\n"
        f"    with open({str(tmp_path)!r} + '/runs' + open('number.txt').read(), 'a') as runs:\n"
        "        runs.write('x')\n"
        "        runs.flush()\n"
        "        return x + 1 + runs.tell() % 2\n"
    )
    texts = [
        {"src/pkg/core.py": GOOD if number < 11 else flaky, "number.txt": f"{number}"}
        for number in range(16)
    ]
    shas = repository.commits(*texts)
    words = ("HEAD~15", "--cold", "--confidence", "0.99")
    done = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (0, "found"), done.told
    assert done.told["first_bad"] == shas[11]
    assert 0.99 <= done.told["confidence"] < 1


@pytest.mark.parametrize("text", ["def broken(", None])
def test_what_was_read_and_had_not_run(bisect, repository, text):
    """A snapshot between the two is of no use where the next commit's text can't be read."""
    texts = [{"lib.py": one} for one in ("GOOD = 1\n", text, "GOOD = 0\n")]
    shas = repository.commits(*texts)
    check = ("--", "python", "-c", "import lib; assert lib.GOOD")
    done = bisect("commits", "HEAD~2", "-j", "1", *check, cwd=repository.folder)
    assert (done.told["verdict"], done.told["candidates"]) == ("range", shas[1:])
    assert [one["name"] for one in done.told["skipped"]] == [shas[1]]


PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "pkg"
version = "{version}"
dependencies = ["{needs}"]
"""


@pytest.mark.slow
@packages.needs_index()
def test_what_each_commit_requires(bisect, repository):
    """--editable: an environment for each state of the requirements, and the commit itself in it."""
    use = "import importlib.metadata as m\nimport iniconfig\n\ndef add(x):\n    return x + {}\n"
    texts = [
        {
            "pyproject.toml": PROJECT.format(version="1.0", needs="iniconfig==2.0.0"),
            "src/pkg/core.py": use.format("(m.version('iniconfig') != '2.0.0') + 1"),
            "number.txt": f"{number}\n",
        }
        for number in range(9)
    ]
    for one in texts[5:]:
        one["pyproject.toml"] = PROJECT.format(version="2.0", needs="iniconfig==1.1.1")
    shas = repository.commits(*texts)
    words = ("commits", "HEAD~8", "--editable", *COMMAND)
    done = bisect(*words, cwd=repository.folder, env=packages.online(), timeout=200)
    assert done.told["first_bad"] == shas[5], done.told["why"]
    assert done.told["about"]["commit"]["files"][1]["path"] == "pyproject.toml"
    assert not list(repository.folder.glob("**/*.egg-info"))
