"""Putting a state of the payload on the disk, over the one before."""

import os

from zeroin.tools.shrink import world as worlds


def test_only_what_differs_is_written(tmp_path):
    """Of a folder, what the try before has left as it was is not written again; all else is."""
    source = tmp_path / "pkg"
    source.mkdir()
    for name in "abcd":
        (source / f"{name}.txt").write_text(f"{name} one\n{name} two\n")
    world = worlds.World(worlds.find(["pkg"], str(tmp_path)), lambda _path, _kind: None)
    whole = world.read((), {})
    put = tmp_path / "put"
    world.write(whole, str(put))
    before = {name: os.stat(put / "0" / f"{name}.txt") for name in "abcd"}
    (put / "0" / "b.txt").write_text("x" * 12)  # as long as it was, and as old
    os.utime(put / "0" / "b.txt", ns=(before["b"].st_atime_ns, before["b"].st_mtime_ns))
    (put / "0" / "c.txt").unlink()
    (put / "0" / "made.txt").write_text("by a try")
    world.write(whole.only({0, 1, 2}), str(put))
    assert sorted(os.listdir(put / "0")) == ["a.txt", "b.txt", "c.txt"]
    for name in "abc":
        text = (put / "0" / f"{name}.txt").read_text()
        assert text == (source / f"{name}.txt").read_text()
    after = {name: os.stat(put / "0" / f"{name}.txt") for name in "abc"}
    same = [name for name in "abc" if after[name].st_mtime_ns == before[name].st_mtime_ns]
    assert same == ["a"]
