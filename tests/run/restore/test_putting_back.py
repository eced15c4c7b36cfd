"""`--restore PATH`: exactly the first state, whatever the program did."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest
from trees import OLD, put, state

from zeroin.run.restore import (
    Restored,
    RestoreRefused,
    put_back,
    putting,
    save,
    saving,
)
from zeroin.run.restore import baseline as baseline_folder


class TestPuttingBack:
    def test_everything_a_program_may_do(self, tree, baseline):
        """Content, mode, time, absence and presence are put back, and counted."""
        before = state(tree)
        save(str(tree), baseline)
        (tree / "a.txt").write_text("ALPHA")
        (tree / "b.sh").chmod(0o600)
        os.utime(tree / "deep/er/d.bin")
        shutil.rmtree(tree / "empty")
        put(tree / "new/x/y")
        (tree / "link").unlink()
        (tree / "link").symlink_to("b.sh")
        assert put_back(str(tree), baseline) == Restored(4, 3, 1)
        assert state(tree) == before

    def test_nothing_to_do(self, tree, baseline):
        """An untouched folder stays untouched, down to inodes and change times."""
        save(str(tree), baseline)
        before = {p: (p.lstat().st_ino, p.lstat().st_ctime_ns) for p in tree.rglob("*")}
        assert put_back(str(tree), baseline) == Restored(0, 0, 0)
        assert {p: (p.lstat().st_ino, p.lstat().st_ctime_ns) for p in tree.rglob("*")} == before

    def test_a_single_file(self, tmp_path, baseline):
        """A file is put back after a change, a removal, and a folder or link in its place."""
        path = put(tmp_path / "model.bin", "first", 0o640)
        before, around = state(path), set(os.listdir(tmp_path))
        save(str(path), baseline)
        path.write_text("second")
        assert put_back(str(path), baseline) == Restored(1, 0, 0)
        assert state(path) == before
        path.unlink()
        assert put_back(str(path), baseline) == Restored(0, 0, 1)
        assert state(path) == before
        path.unlink()
        put(path / "inner/x")
        assert put_back(str(path), baseline) == Restored(1, 2, 0)
        assert state(path) == before
        path.unlink()
        path.symlink_to("elsewhere")
        put_back(str(path), baseline)
        assert state(path) == before
        assert set(os.listdir(tmp_path)) == around | {"store"}

    def test_absence_is_a_state(self, tmp_path, baseline):
        """What was not there at first is removed, file or folder, also if its parent was not."""
        path = tmp_path / "parent" / "out"
        save(str(path), baseline)
        assert put_back(str(path), baseline) == Restored(0, 0, 0)
        put(path / "deep" / "x")
        assert put_back(str(path), baseline) == Restored(0, 3, 0)
        put(path)
        assert put_back(str(path), baseline) == Restored(0, 1, 0)
        assert not path.exists()
        assert put_back(str(path), baseline) == Restored(0, 0, 0)

    def test_the_parent_is_gone(self, tmp_path, baseline):
        """The folder around PATH is not ours to make: the error says so."""
        path = put(tmp_path / "parent" / "file")
        save(str(path), baseline)
        shutil.rmtree(path.parent)
        with pytest.raises(RestoreRefused, match="make it again"):
            put_back(str(path), baseline)

    def test_many_rounds(self, tree, baseline):
        """Put back twenty times, the state is still the first one."""
        before = state(tree)
        save(str(tree), baseline)
        for number in range(20):
            (tree / "a.txt").write_text(f"{number}")
            (tree / "one").write_text("other")
            assert put_back(str(tree), baseline).changed > 0
            assert state(tree) == before

    def test_the_first_state_is_kept(self, tree, baseline, monkeypatch):
        """Saving again changes nothing: the first attempt's state is the one."""
        before = state(tree)
        save(str(tree), baseline)
        (tree / "a.txt").write_text("later")
        monkeypatch.setattr(saving, "_Saving", None)  # nor does it cost anything
        save(str(tree), baseline)
        put_back(str(tree), baseline)
        assert state(tree) == before

    def test_a_change_of_the_same_size_in_the_same_tick(self, tmp_path, baseline):
        """Rewritten at once, with size and time as before, a file is still found out."""
        path = tmp_path / "data"
        for number in range(30):
            put(path / f"{number}", "first")
        save(str(path), baseline)
        for _ in range(3):
            for number in range(30):
                put(path / f"{number}", "worse")
            assert put_back(str(path), baseline).changed == 30
            assert {p.read_text() for p in path.iterdir()} == {"first"}

    def test_young_files_are_not_trusted(self, tmp_path, monkeypatch):
        """A change time tells nothing until the clock has moved on from it for good."""
        info = put(tmp_path / "f").stat()
        assert baseline_folder.telling(info) == 0
        later = time.time_ns() + 3_000_000_000
        monkeypatch.setattr(time, "time_ns", lambda: later)
        assert baseline_folder.telling(info) == info.st_ctime_ns

    def test_old_files_are_not_read(self, tmp_path, baseline, monkeypatch):
        """Files known by their change time are not opened again, restored ones once they are old."""
        path = tmp_path / "data"
        for number in range(5):
            put(path / f"{number}", "first")
        monkeypatch.setattr(baseline_folder, "_YOUNG", -1_000_000_000)  # all are old enough
        save(str(path), baseline)
        put(path / "3", "worse")
        put_back(str(path), baseline)
        compared = []
        monkeypatch.setattr(putting, "is_same_content", lambda *_: compared.append(1) or True)
        assert put_back(str(path), baseline) == Restored(0, 0, 0)
        assert compared == []

    def test_odd_names(self, tmp_path, baseline):
        """Names with newlines, quotes and bytes that aren't UTF-8 are names."""
        root = tmp_path / "data"
        for name in ("a\nb", '"', os.fsdecode(b"\xff\xfe"), "-x", " ", "é"):
            put(root / name, name.encode("utf-8", "surrogateescape"))
        before = state(root)
        save(str(root), baseline)
        for path in list(root.iterdir()):
            path.unlink()
        assert put_back(str(root), baseline).created == 6
        os.utime(root, ns=(0, before[str(root)][2]))
        assert state(root) == before

    def test_sparse_files_stay_sparse(self, tmp_path, baseline):
        """A file of holes takes no more room in the baseline, nor when it is put back."""
        path = tmp_path / "sparse"
        with path.open("wb") as file:
            file.seek(40_000_000)
            file.write(b"end")
            file.truncate(80_000_000)
        save(str(path), baseline)
        content = path.read_bytes()
        path.write_bytes(b"dense")
        put_back(str(path), baseline)
        assert path.read_bytes() == content
        copies = [*Path(baseline, "files").iterdir(), path]
        assert all(each.stat().st_blocks * 512 < 1_000_000 for each in copies)

    def test_attributes(self, tree, baseline):
        """Extended attributes come back, those added go, also on read-only files."""
        try:
            os.setxattr(tree / "ro/c.txt", "user.kept", b"1")
        except OSError:
            pytest.skip("no extended attributes here")
        os.setxattr(tree / "deep", "user.folder", b"f")
        before = state(tree)
        save(str(tree), baseline)
        os.setxattr(tree / "ro/c.txt", "user.kept", b"2")
        os.setxattr(tree / "a.txt", "user.added", b"3")
        os.removexattr(tree / "deep", "user.folder")
        put_back(str(tree), baseline)
        assert state(tree) == before

    @pytest.mark.skipif(os.getuid() != 0, reason="only root may give files away")
    def test_owners(self, tree, baseline):
        """As root, owners come back, and the set-user-id bit that a change of owner clears."""
        (tree / "b.sh").chmod(0o4755)
        os.utime(tree / "b.sh", ns=(OLD, OLD))
        os.lchown(tree / "link", 1234, 1234)
        before = state(tree)
        save(str(tree), baseline)
        for name in ("b.sh", "deep"):
            os.chown(tree / name, 65534, 65534)
        os.lchown(tree / "link", 0, 0)
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert (tree / "link").lstat().st_uid == 1234
        assert (tree / "deep").stat().st_uid == 0
