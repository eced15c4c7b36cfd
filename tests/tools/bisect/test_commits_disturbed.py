"""`zeroin bisect commits`: Ctrl-C, kill -9, two at once, no namespaces, failures that come and go."""

import glob
import json
import os
import select
import signal
import subprocess
import time

import pytest

from repositories import BAD, GOOD
from zeroin.axes.commits.git import Git
from zeroin.axes.commits.worktree import Worktree, borrow
from zeroin.run import tree as processes

COMMAND = ("--", "python", "repro.py")


@pytest.fixture
def slowly(repository, zeroin, tmp_path):
    """A search that is under way: the driver, and what it has said so far."""
    shas = repository.commits(*[GOOD if n < 37 else BAD for n in range(100)])
    repository.shas = shas
    pace = tmp_path / "pace"
    script = (
        f"import time\nfrom pkg.core import add\ntime.sleep(float(open({str(pace)!r}).read()))\n"
    )
    repository.write("repro.py", f"{script}assert add(1) == 2\n")
    started = []

    def start(*words, seconds=0.3):
        pace.write_text(str(seconds))
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

    start.pace = pace  # seconds that each try takes from now on
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
    slowly.pace.write_text("0")
    words = ("HEAD~99", "-j", "2", "--cold")
    done = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == repository.shas[37]
    assert done.told["resumed"] >= 5
    again = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert again.told["resumed"] == 0  # answered: a new question


def test_killed(slowly, repository, tmp_path):
    """After kill -9 of the driver its tries end, and the repository is as it was."""
    before, shown = repository.state(), repository.git("status", "--porcelain")
    process = slowly()
    _until(process, 4)
    workers = processes.descendants(process.pid)
    assert workers
    ends = [os.pidfd_open(pid) for pid in workers]
    process.kill()
    process.wait()
    for end in ends:
        assert select.select([end], [], [], 20)[0]
        os.close(end)
    assert repository.state()[1:] == before[1:]
    assert repository.git("status", "--porcelain") == shown
    own = str(tmp_path / "zeroin-bisect-*")
    until = time.monotonic() + 20
    while glob.glob(own):  # its guard removes them as soon as the last try has ended
        assert time.monotonic() < until
        time.sleep(0.02)


def test_killed_while_it_builds(repository, zeroin, tmp_path):
    """What the build has started in the background ends as well, and the folders go."""
    repository.commits(GOOD, BAD)
    seen = tmp_path / "seen"
    line = f"(echo $$ > {seen}.part; mv {seen}.part {seen}; sleep 1000; true) & wait"
    words = [*zeroin.driver, "bisect", "commits", "HEAD~1", "--build", line, *COMMAND]
    env = {**zeroin.env, "TMPDIR": str(tmp_path)}
    until = time.monotonic() + 30
    with subprocess.Popen(words, cwd=repository.folder, env=env) as driver:
        while not seen.exists():
            assert time.monotonic() < until
            time.sleep(0.02)
        below = [os.pidfd_open(pid) for pid in processes.descendants(driver.pid)]
        driver.kill()
    for end in below:
        assert select.select([end], [], [], 20)[0]
        os.close(end)
    while glob.glob(str(tmp_path / "zeroin-bisect-*")):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_two_at_once(slowly, repository):
    """Each has its own folders."""
    both = [slowly("--json", "--fresh", seconds=0.1) for _ in range(2)]
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
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert told["first_bad"] == shas[7], done.stderr
    assert "without namespaces" in " ".join(told["notes"])


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


@pytest.mark.parametrize("left", ["folder", "known to git"])
def test_a_worktree_that_was_never_finished(repository, tmp_path, left):
    """A worker that is killed while it makes its folder leaves one that the next can't use."""
    shas = repository.commits(GOOD, BAD)
    git = Git(str(repository.folder))
    borrowed = borrow(git, str(tmp_path / "own"))
    folder = tmp_path / "tree"
    if left == "folder":
        folder.mkdir()
    else:
        Worktree(borrowed, str(folder), git, (), shas[0])
        (folder / ".git").unlink()
    tree = Worktree(borrowed, str(folder), git, (), shas[0])
    tree.switch(shas[1])
    assert (folder / "src" / "pkg" / "core.py").read_text() == BAD


@pytest.mark.parametrize("name", ["HEAD.lock", "index.lock"])
def test_git_was_killed_in_a_worktree(repository, tmp_path, name):
    """A try that is given up amid a checkout leaves a lock, which the next one must not wait for."""
    shas = repository.commits(GOOD, BAD)
    git = Git(str(repository.folder))
    borrowed = borrow(git, str(tmp_path / "own"))
    tree = Worktree(borrowed, str(tmp_path / "tree"), git, (), shas[0])
    tree.switch(shas[0])
    (own,) = (tmp_path / "own" / "worktrees").iterdir()
    (own / name).write_text("")
    tree.switch(shas[1])
    assert (tmp_path / "tree" / "src" / "pkg" / "core.py").read_text() == BAD


def test_few_files_that_differ_keep_their_times(repository, tmp_path):
    """Bytecode goes by them: the same text has the same time, whatever was checked out between."""
    texts = [{f"m{n}.py": f"x = {n + (n == k)}\n" for n in range(80)} for k in (-1, 3, 5)]
    shas = repository.commits(*texts)
    git = Git(str(repository.folder))
    tree = Worktree(borrow(git, str(tmp_path / "own")), str(tmp_path / "tree"), git, (), shas[0])

    def times():
        return {path.name: path.stat().st_mtime for path in (tmp_path / "tree").glob("m*.py")}

    seen = {}
    for sha in (*shas, *reversed(shas), shas[1]):
        tree.switch(sha)
        assert seen.setdefault(sha, times()) == times()
    assert seen[shas[0]]["m4.py"] == seen[shas[1]]["m4.py"]
    assert seen[shas[0]]["m3.py"] != seen[shas[1]]["m3.py"]
