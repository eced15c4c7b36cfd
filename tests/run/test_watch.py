"""Watching files: what counts as touched, whatever way an editor writes."""

import os
import select
import shutil
from pathlib import Path

import pytest

from zeroin.run import watch as watching
from zeroin.run.watch import Stamp, Watch, stamp


@pytest.fixture
def watch():
    one = Watch()
    yield one
    one.close()


def touched(watch):
    """What is told. The kernel queues an event before the call that made it returns."""
    found = set()
    while more := watch.read():
        found |= more
    return found


def nothing(watch):
    """Whether what happened so far was told to nobody."""
    return touched(watch) == set()


def in_place(path):
    path.write_text("new\n")


def by_rename(path):
    new = path.with_name(path.name + ".new")
    new.write_text("new\n")
    new.replace(path)


def like_vim(path):
    """A test file, the old one moved aside, a new one written, the old one removed."""
    probe = path.with_name("4913")
    probe.write_text("")
    probe.unlink()
    backup = path.with_name(path.name + "~")
    path.rename(backup)
    path.write_text("new\n")
    backup.unlink()


def like_git(path):
    path.unlink()
    path.write_text("new\n")


def by_link(path):
    new = path.with_name("target")
    new.write_text("new\n")
    link = path.with_name("link")
    link.symlink_to(new)
    link.replace(path)


@pytest.mark.parametrize("save", [in_place, by_rename, like_vim, like_git, by_link])
def test_each_way_to_save_is_told(tmp_path, watch, save):
    """Twice, since the second time there is another file in the old one's place."""
    file = tmp_path / "train.py"
    file.write_text("old\n")
    watch.follow([str(file)])
    save(file)
    assert touched(watch) == {str(file)}
    file.write_text("newer\n")
    assert touched(watch) == {str(file)}


def test_other_files_are_nobodys_business(tmp_path, watch):
    """Swap and backup files, and neighbours; unless one of them is followed itself."""
    file = tmp_path / "train.py"
    file.write_text("old\n")
    watch.follow([str(file), str(tmp_path / "used.swp")])
    for name in (".train.py.swp", "4913", "train.py~", "#train.py#", "other.py"):
        (tmp_path / name).write_text("x")
        (tmp_path / name).unlink()
    assert nothing(watch)
    (tmp_path / "used.swp").write_text("x")
    assert touched(watch) == {str(tmp_path / "used.swp")}


def test_reading_and_touching_times_is_not_told(tmp_path, watch):
    """Nobody wrote."""
    file = tmp_path / "data"
    file.write_text("old\n")
    watch.follow([str(file)])
    file.read_text()
    os.utime(file)
    file.chmod(0o600)
    assert nothing(watch)


def test_it_can_be_polled(tmp_path, watch):
    """Ready when there is something to read, and only then."""
    file = tmp_path / "data"
    watch.follow([str(file)])
    assert select.select([watch], [], [], 0)[0] == []
    file.write_text("x")
    assert select.select([watch], [], [], 0)[0] == [watch]


def test_a_writer_is_told_of_when_it_is_done(tmp_path, watch):
    """Not when it has emptied the file."""
    file = tmp_path / "data"
    file.write_text("old\n")
    watch.follow([str(file)])
    with file.open("w") as writer:
        writer.write("half")
        writer.flush()
        assert nothing(watch)
        writer.write("whole\n")
    assert touched(watch) == {str(file)}


def test_a_missing_file_that_appears(tmp_path, watch):
    """Also when its folders come first."""
    deep = tmp_path / "a" / "b" / "settings.py"
    watch.follow([str(deep)])
    deep.parent.mkdir(parents=True)
    assert touched(watch) == {str(deep)}
    deep.write_text("x")
    assert touched(watch) == {str(deep)}


def test_folders_that_come_and_go(tmp_path, watch):
    """A folder far above is moved away, and another put in its place."""
    file = tmp_path / "a" / "b" / "c.txt"
    file.parent.mkdir(parents=True)
    file.write_text("old")
    watch.follow([str(file)])
    (tmp_path / "a").rename(tmp_path / "z")
    assert touched(watch) == {str(file)}
    file.parent.mkdir(parents=True)
    file.write_text("new")
    assert touched(watch) == {str(file)}
    shutil.rmtree(tmp_path / "a")
    assert touched(watch) == {str(file)}
    file.parent.mkdir(parents=True)
    assert touched(watch) == {str(file)}


def test_through_links(tmp_path, watch):
    """What a link leads to, and the link itself, also where it is a folder's."""
    for version in ("v1", "v2"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "data.txt").write_text(version)
    current = tmp_path / "current"
    current.symlink_to("v1")
    single = tmp_path / "single.txt"
    single.symlink_to("v1/data.txt")
    inside = current / "data.txt"
    watch.follow([str(inside), str(single)])
    (tmp_path / "v1" / "data.txt").write_text("changed")
    assert touched(watch) == {str(inside), str(single)}
    new = tmp_path / "new"
    new.symlink_to("v2")
    new.replace(current)
    assert touched(watch) == {str(inside)}
    (tmp_path / "v2" / "data.txt").write_text("changed")
    assert touched(watch) == {str(inside)}


def test_a_folder_is_its_names(tmp_path, watch):
    """A program that lists a folder depends on which files are in it; litter is none."""
    folder = tmp_path / "images"
    folder.mkdir()
    watch.follow([str(folder)])
    before = stamp(str(folder))
    (folder / ".1.png.swp").write_text("x")
    assert nothing(watch)
    assert stamp(str(folder)).same(before)
    (folder / "1.png").write_text("x")
    assert touched(watch) == {str(folder)}
    assert not stamp(str(folder)).same(before)


def test_only_what_is_followed_now(tmp_path, watch):
    """The next set of files takes the place of the last, and its watches are let go of."""
    one, two = tmp_path / "one" / "f", tmp_path / "two" / "f"
    for file in (one, two):
        file.parent.mkdir()
        file.write_text("x")
    watch.follow([str(one)])
    watch.follow([str(two)])
    one.write_text("y")
    assert nothing(watch)
    two.write_text("y")
    assert touched(watch) == {str(two)}
    inside = [f for f in watch._folders if f.startswith(str(tmp_path))]
    assert sorted(inside) == [str(tmp_path), str(tmp_path / "two")]


def test_too_much_at_once(tmp_path, watch):
    """When the kernel lost count, everything counts as touched."""
    files = [tmp_path / f"{n}" for n in range(3)]
    watch.follow(map(str, files))
    queued = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    # Each is another event: the kernel drops one that equals the last.
    for n in range(queued + 10):
        files[n % 2].touch()
        if n < 2:
            continue
        os.unlink(files[n % 2])
    assert touched(watch) == set(map(str, files))


def test_without_watches_there_is_a_pace(tmp_path, watch, monkeypatch):
    """All watches of the user are taken: somebody has to look."""
    watch.follow([str(tmp_path / "a")])
    assert watch.pace is None
    monkeypatch.setattr(watch, "_add", lambda *_: False)
    watch.follow([str(tmp_path / "b")])
    assert watch.pace == watching.PACE


def test_remote_file_systems_are_looked_at(monkeypatch, tmp_path):
    """Another machine may write there, and our kernel would not know."""
    assert not watching._is_remote(os.stat("/proc").st_dev)
    device = os.stat(tmp_path).st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    row = f"36 35 {number} / /data rw,noatime master:1 - nfs4 server:/data rw\n"
    table = tmp_path / "mountinfo"
    table.write_text(row)
    real = open
    monkeypatch.setattr("builtins.open", lambda path, *a, **k: real(table, *a, **k))
    assert watching._is_remote(device)


# --- stamps -----------------------------------------------------------------------------------


def test_the_same_content_is_the_same_file(tmp_path):
    """Whatever its time and inode say."""
    file = tmp_path / "f"
    file.write_text("one")
    before = stamp(str(file))
    os.utime(file, (1, 1))
    assert stamp(str(file)).same(before)
    by_rename(file)
    file.write_text("one")
    assert stamp(str(file)).same(before)
    file.write_text("two")
    assert not stamp(str(file)).same(before)
    file.unlink()
    assert stamp(str(file)) == Stamp("")


def test_two_writes_in_one_tick_are_told_apart(tmp_path):
    """Same size, same time, same inode: the content is read again while that can be."""
    file = tmp_path / "f"
    file.write_text("one")
    before = stamp(str(file))
    file.write_text("two")
    os.utime(file, ns=(before.time, before.time))
    assert not stamp(str(file), before).same(before)


def test_what_is_quiet_is_not_read_again(tmp_path):
    """Thousands of data files cost a look each."""
    file = tmp_path / "f"
    file.write_text("one")
    os.utime(file, (1, 1))
    before = stamp(str(file))
    file.write_text("two")
    os.utime(file, (1, 1))
    assert stamp(str(file), before) is before


def test_large_files_go_by_size_and_time(tmp_path):
    """They are not read."""
    file = tmp_path / "f"
    file.write_text("one")
    before = stamp(str(file), whole=2)
    assert before.content is None
    assert stamp(str(file), whole=2).same(before)
    os.utime(file, (1, 1))
    assert not stamp(str(file), whole=2).same(before)
