"""Files of a checkout have times that go by what is in them, and git knows these times."""

import os
import shutil
import subprocess

import pytest

from zeroin.axes.commits.stamps import LONG_AGO, stamp

NAMES = [
    "plain.py",
    "a b/with space.py",
    "ümlaut/naïve.py",
    "new\nline.py",
    "no.txt",
    "/".join(["deep" * 20] * 48) + "/end.py",  # longer than the index has a number for
]


@pytest.fixture
def git(tmp_path):
    """Git in a repository with one commit."""

    def run(*words):
        words = ("git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words)
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    run("init", "-q", "-b", "main")
    run("config", "core.trustctime", "false")
    for number, name in enumerate(NAMES):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"x = {number}\n")
    (tmp_path / "link.py").symlink_to("plain.py")
    run("add", ".")
    run("commit", "-q", "-m", "One")
    return run


def times(folder, names=NAMES):
    return {name: (folder / name).lstat().st_mtime for name in names}


def wanted(git, name):
    return LONG_AGO + int(git("rev-parse", f"HEAD:{name}")[:7], 16)


def test_times_go_by_what_is_in_the_files(git, tmp_path):
    """Those that end as asked for; links too, and names of all kinds."""
    before = times(tmp_path)
    assert stamp(str(tmp_path), str(tmp_path / ".git" / "index"), ".py")
    after = times(tmp_path, [*NAMES, "link.py"])
    expected = {name: wanted(git, name) for name in [*NAMES, "link.py"] if name.endswith(".py")}
    assert after == expected | {"no.txt": before["no.txt"]}


def test_git_takes_the_files_for_unchanged_without_reading_them(git, tmp_path):
    """By their times alone, as another text with the same time and size shows."""
    stamp(str(tmp_path), str(tmp_path / ".git" / "index"), ".py")
    assert git("diff-files", "--name-only") == ""
    git("fsck", "--no-dangling")
    when = wanted(git, "plain.py")
    with open(tmp_path / "plain.py", "r+") as file:
        file.write("x = 9\n")
    assert git("diff-files", "--name-only") == "plain.py\n"
    os.utime(tmp_path / "plain.py", (when, when))
    assert git("diff-files", "--name-only") == ""


def test_the_next_checkout_leaves_what_is_the_same(git, tmp_path):
    """Only what differs is written, and has its own time then."""
    index = str(tmp_path / ".git" / "index")
    (tmp_path / "plain.py").write_text("x = 7\n")
    git("commit", "-q", "-a", "-m", "Two")
    stamp(str(tmp_path), index, ".py")
    before = {name: (tmp_path / name).lstat().st_ctime_ns for name in NAMES}
    git("checkout", "-q", "--force", "HEAD~1")
    stamp(str(tmp_path), index, ".py")
    after = {name: (tmp_path / name).lstat().st_ctime_ns for name in NAMES}
    assert {name for name in NAMES if after[name] != before[name]} == {"plain.py"}
    assert times(tmp_path)["plain.py"] == wanted(git, "plain.py")


@pytest.mark.parametrize("version", ["3", "4"])
def test_another_kind_of_index_is_left_to_git(git, tmp_path, version):
    """And so is one that was cut off, or is not there."""
    index = tmp_path / ".git" / "index"
    (tmp_path / "new.py").write_text("")
    git("add", "--intent-to-add", "new.py")  # which the third version is for
    git("update-index", "--index-version", version)
    before = times(tmp_path)
    assert not stamp(str(tmp_path), str(index), ".py")
    data = index.read_bytes()
    for broken in (data[:30], b"", data[:-1] + b"?"):
        index.write_bytes(broken)
        assert not stamp(str(tmp_path), str(index), ".py")
    index.unlink()
    assert not stamp(str(tmp_path), str(index), ".py")
    assert times(tmp_path) == before


def test_what_is_not_checked_out_stays_out(git, tmp_path):
    """A file that is in the index only."""
    shutil.rmtree(tmp_path / "a b")
    assert stamp(str(tmp_path), str(tmp_path / ".git" / "index"), ".py")
    assert not os.path.exists(tmp_path / "a b")
    assert git("diff-files", "--name-only") == "a b/with space.py\n"
