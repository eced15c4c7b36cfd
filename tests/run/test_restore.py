"""`--restore PATH`: exactly the first state, nothing outside PATH, whatever the program did."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeroin.run.restore import (
    Restored,
    RestoreError,
    RestoreRefused,
    check,
    checks,
    put_back,
    putting,
    save,
    saving,
)
from zeroin.run.restore import baseline as baseline_folder
from zeroin.run.restore.folders import Folder

OLD = 1_500_000_000_123_456_789


def state(path: Path | str) -> dict[str, tuple[object, ...]]:
    """Describe a tree entirely: kinds, modes, times, contents, links, attributes, hard links."""
    found: dict[str, tuple[object, ...]] = {}
    groups: dict[int, str] = {}

    def look(each: str) -> None:
        info = os.lstat(each)
        kind = stat.S_IFMT(info.st_mode)
        mode = stat.S_IMODE(info.st_mode)
        if kind == stat.S_IFDIR:
            found[each] = ("folder", mode, info.st_mtime_ns, os.listxattr(each))
            for name in sorted(os.listdir(each)):
                look(os.path.join(each, name))
        elif kind == stat.S_IFLNK:
            found[each] = ("link", info.st_mtime_ns, os.readlink(each))
        elif kind == stat.S_IFREG:
            group = groups.setdefault(info.st_ino, each)
            marks = [(name, os.getxattr(each, name)) for name in os.listxattr(each)]
            owner = (info.st_uid, info.st_gid)
            content = Path(each).read_bytes() if os.access(each, os.R_OK) else None
            found[each] = (mode, info.st_mtime_ns, content, group, marks, owner)
        else:
            found[each] = ("special", kind)

    if os.path.lexists(path):
        look(str(path))
    return found


def put(path: Path, content: str | bytes = "x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    os.utime(path, ns=(OLD, OLD))
    return path


@pytest.fixture
def tree(tmp_path):
    """Make a folder with a bit of everything."""
    root = tmp_path / "data"
    put(root / "a.txt", "alpha")
    put(root / "b.sh", "beta", 0o755)
    put(root / "ro" / "c.txt", "gamma", 0o444)
    put(root / "deep/er/d.bin", os.urandom(3_000))
    (root / "empty").mkdir()
    (root / "link").symlink_to("a.txt")
    (root / "dangling").symlink_to("nothing")
    put(root / "one", "twin")
    os.link(root / "one", root / "deep/two")
    (root / "ro").chmod(0o555)
    for folder in ("deep/er", "deep", "ro", "empty", "."):
        os.utime(root / folder, ns=(OLD, OLD))
    return root


@pytest.fixture
def baseline(tmp_path):
    return str(tmp_path / "store" / "restore" / "key")


@pytest.fixture
def outside(tmp_path):
    """Make a folder that no putting back may touch."""
    put(tmp_path / "outside" / "precious", "precious")
    return tmp_path / "outside"


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


class TestNothingOutside:
    def test_a_folder_swapped_for_a_link(self, tree, baseline, outside):
        """A folder that the program replaced by a link is made again, not written through."""
        before, safe = state(tree), state(outside)
        save(str(tree), baseline)
        shutil.rmtree(tree / "deep")
        (tree / "deep").symlink_to(outside)
        (tree / "empty").rmdir()
        (tree / "empty").symlink_to(outside)
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert state(outside) == safe

    def test_path_itself_swapped_for_a_link(self, tree, baseline, outside):
        """The same holds for PATH itself."""
        before, safe = state(tree), state(outside)
        save(str(tree), baseline)
        shutil.rmtree(tree)
        tree.symlink_to(outside)
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert state(outside) == safe

    def test_a_file_swapped_for_a_link(self, tree, baseline, outside):
        """A file replaced by a symbolic or hard link to one outside leaves that one alone."""
        before, safe = state(tree), state(outside)
        save(str(tree), baseline)
        (tree / "a.txt").unlink()
        (tree / "a.txt").symlink_to(outside / "precious")
        (tree / "b.sh").unlink()
        os.link(outside / "precious", tree / "b.sh")
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert state(outside) == safe
        assert (outside / "precious").stat().st_nlink == 1

    def test_a_twin_outside_with_the_same_content(self, tree, baseline, outside):
        """A hard link to a file outside is cut even when content, mode and time are right."""
        save(str(tree), baseline)
        twin = put(outside / "twin", "alpha")
        (tree / "a.txt").unlink()
        os.link(twin, tree / "a.txt")
        put_back(str(tree), baseline)
        assert not os.path.samefile(twin, tree / "a.txt")

    @pytest.mark.parametrize("name", ["deep", "a.txt", "empty"])
    def test_swapped_under_our_hands(self, tree, baseline, outside, monkeypatch, name):
        """A link put in place between looking and opening is not followed either."""
        save(str(tree), baseline)
        (tree / "a.txt").write_text("ALPHA")
        put(tree / "empty/new")
        put(tree / "deep/new")
        put(outside / "new")
        safe = state(outside)
        real = Folder.stat

        def swap(self, looked_at):
            info = real(self, looked_at)
            if looked_at == name and not (tree / name).is_symlink():
                (tree / name).rename(tree.parent / "aside")
                (tree / name).symlink_to(outside / ("precious" if name == "a.txt" else ""))
            return info

        monkeypatch.setattr(Folder, "stat", swap)
        with pytest.raises(RestoreError):
            put_back(str(tree), baseline)
        assert state(outside) == safe

    def test_new_links_are_removed_not_followed(self, tree, baseline, outside):
        """New links to folders outside go; what they led to stays."""
        safe = state(outside)
        save(str(tree), baseline)
        (tree / "new").symlink_to(outside)
        put(tree / "sub/x")
        (tree / "sub/up").symlink_to("../..")
        assert put_back(str(tree), baseline) == Restored(0, 4, 0)
        assert state(outside) == safe

    def test_the_live_file_is_not_the_saved_one(self, tmp_path, baseline):
        """A program that writes in place does not reach the saved copy."""
        path = put(tmp_path / "f", "first")
        save(str(path), baseline)
        with path.open("r+b") as file:
            file.write(b"WRITE")
        put_back(str(path), baseline)
        assert path.read_text() == "first"
        with path.open("r+b") as file:
            file.write(b"AGAIN")
        put_back(str(path), baseline)
        assert path.read_text() == "first"

    def test_hard_links_inside(self, tree, baseline):
        """Files that were one stay one and files that were two stay two."""
        before = state(tree)
        save(str(tree), baseline)
        (tree / "one").unlink()
        put(tree / "one", "twin")
        (tree / "b.sh").unlink()
        os.link(tree / "a.txt", tree / "b.sh")
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert os.path.samefile(tree / "one", tree / "deep/two")
        with (tree / "one").open("r+b") as file:
            file.write(b"T")
        put_back(str(tree), baseline)
        assert state(tree) == before

    @pytest.mark.parametrize("name", ["deep/two", "one"])
    def test_a_name_leaks_out(self, tree, baseline, outside, name):
        """A file given a name outside, even in exchange for one inside, is not shared afterwards."""
        before = state(tree)
        save(str(tree), baseline)
        os.link(tree / "a.txt", outside / "a")
        os.link(tree / "link", outside / "link", follow_symlinks=False)
        (tree / name).rename(outside / "two")
        safe = state(outside)
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert state(outside) == safe
        assert not shared(str(tree), str(outside))

    @pytest.mark.parametrize("change", ["chmod", "touch", "write"])
    def test_a_file_that_was_shared(self, tree, baseline, outside, change):
        """A file that always had a name outside is left, or cut off before anything is changed."""
        put(outside / "a", "alpha")
        (tree / "a.txt").unlink()
        os.link(outside / "a", tree / "a.txt")
        os.utime(tree, ns=(OLD, OLD))
        before = state(tree)
        save(str(tree), baseline)
        assert put_back(str(tree), baseline) == Restored(0, 0, 0)
        assert os.path.samefile(tree / "a.txt", outside / "a")
        if change == "chmod":
            (tree / "a.txt").chmod(0o600)
        elif change == "touch":
            os.utime(tree / "a.txt")
        else:
            (tree / "a.txt").write_text("other")
        safe = state(outside)
        put_back(str(tree), baseline)
        assert state(tree) == before
        assert state(outside) == safe
        assert put_back(str(tree), baseline) == Restored(0, 0, 0)

    def test_a_twin_swapped_under_our_hands(self, tree, baseline, outside, monkeypatch):
        """A hard link that got hold of another file than the one meant is taken away again."""
        save(str(tree), baseline)
        (tree / "one").unlink()
        real = os.link
        monkeypatch.setattr(
            os, "link", lambda _, *args, **how: real(outside / "precious", *args, **how)
        )
        with pytest.raises(RestoreError, match="replaced just now"):
            put_back(str(tree), baseline)
        assert not shared(str(tree), str(outside))

    def test_the_folder_around_swapped_for_a_link(self, tmp_path, baseline, outside):
        """PATH's parent replaced by a link to a folder with such a name in it is refused."""
        path = put(tmp_path / "around/precious", "ours")
        save(str(path), baseline)
        path.parent.rename(tmp_path / "moved")
        path.parent.symlink_to(outside)
        safe = state(outside)
        with pytest.raises(RestoreRefused, match="behind a symbolic link"):
            put_back(str(path), baseline)
        assert state(outside) == safe

    def test_another_folder_s_baseline(self, tree, baseline, outside):
        """A baseline is put back where it was saved and nowhere else."""
        safe = state(outside)
        save(str(tree), baseline)
        with pytest.raises(RestoreRefused, match="what was saved is"):
            put_back(str(outside), baseline)
        assert state(outside) == safe

    def test_mounts(self, tmp_path):
        """Something mounted inside, also by a bind mount, is refused before anything is touched."""
        script = put(tmp_path / "mounts.py", MOUNTS)
        command = ["unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*command, "true"], check=False, capture_output=True).returncode:
            pytest.skip("user namespaces are closed here")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [*command, sys.executable, str(script), str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            env=env,
        )
        lines = done.stdout.splitlines()
        assert len(lines) == 5, done
        assert all("mounted at" in line and line.endswith("True") for line in lines)

    def test_special_files(self, tree, baseline):
        """Sockets and FIFOs that were there are left alone and named; new ones are removed."""
        os.mkfifo(tree / "pipe")
        assert save(str(tree), baseline) == ("pipe",)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(tree / "sock"))
        os.mkfifo(tree / "deep/other")
        (tree / "a.txt").unlink()
        os.mkfifo(tree / "a.txt")
        assert put_back(str(tree), baseline) == Restored(1, 2, 0, ("pipe",))
        assert stat.S_ISFIFO((tree / "pipe").lstat().st_mode)
        assert (tree / "a.txt").read_text() == "alpha"


MOUNTS = """
import os, subprocess, sys
from zeroin.run.restore import putting
from zeroin.run.restore import RestoreError, check, put_back, save
base = sys.argv[1]
tree, other = base + "/a tree", base + "/other"
os.makedirs(tree + "/in side"), os.makedirs(other), os.makedirs(base + "/store")
open(other + "/precious", "w").close()
save(tree, base + "/store/key")
for options in (["-t", "tmpfs", "none"], ["--bind", other]):
    subprocess.run(["mount", *options, tree + "/in side"], check=True)
    for call in (
        lambda: check(tree, store=base + "/store/s", home="/nonexistent"),
        lambda: put_back(tree, base + "/store/key"),
    ):
        try:
            call()
        except RestoreError as error:
            print(error, os.path.exists(other + "/precious"))
    subprocess.run(["umount", tree + "/in side"], check=True)
putting.check_mounts = lambda path: None  # as if there were no list of mounts
subprocess.run(["mount", "-t", "tmpfs", "none", tree + "/in side"], check=True)
open(tree + "/in side/precious", "w").close()
try:
    put_back(tree, base + "/store/key")
except RestoreError as error:
    print(error, os.path.exists(tree + "/in side/precious"))
"""


class TestRefusals:
    @pytest.fixture
    def places(self, tmp_path):
        """Make a home with a project with a store."""
        for name in ("home/me/project/.zeroin", "home/me/project/data"):
            (tmp_path / name).mkdir(parents=True)
        return tmp_path / "home/me"

    def _check(self, path: Path | str, places: Path, **options) -> None:
        check(str(path), store=str(places / "project/.zeroin"), home=str(places), **options)

    def test_what_is_fine(self, places, monkeypatch):
        """A file or folder in the project, an absent one, a relative path: no objection."""
        put(places / "project/data/x")
        (places / "project/data/inner").symlink_to("x")
        for path in ("data", "data/x", "nothing", "nothing/at/all", "../proj", "../../m"):
            self._check(places / "project" / path, places)
        monkeypatch.chdir(places / "project")
        self._check("data", places)

    @pytest.mark.parametrize("path", ["/", ".", "..", "project", "project/data/../.."])
    def test_too_much(self, places, path):
        """/, home, what is above it and the project as a whole are refused."""
        with pytest.raises(RestoreRefused, match="the folder that the program changes"):
            self._check(places / path, places)

    @pytest.mark.parametrize("path", [".", ".."])
    def test_home_away_from_the_project(self, places, tmp_path, path):
        """Home and what is above it are refused wherever the store is."""
        with pytest.raises(RestoreRefused, match="holds your home"):
            check(str(places / path), store=str(tmp_path / "state/store"), home=str(places))

    @pytest.mark.parametrize("path", ["project/.zeroin", "project/.zeroin/restore"])
    def test_the_store(self, places, path):
        """Our own store is refused."""
        with pytest.raises(RestoreRefused, match=r"own store|holds the project"):
            self._check(places / path, places)

    def test_links(self, places, tmp_path):
        """A link, a path behind a link, and a folder with a link out of it name the real path."""
        (tmp_path / "big").mkdir()
        project = places / "project"
        (project / "to_big").symlink_to(tmp_path / "big")
        with pytest.raises(RestoreRefused, match=f"give what it leads to, {tmp_path}/big"):
            self._check(project / "to_big", places)
        with pytest.raises(RestoreRefused, match=f"its real path, {tmp_path}/big/run"):
            self._check(project / "to_big/run", places)

    @pytest.mark.parametrize("target", ["/etc", "../x", "deep/../../x", "/nonexistent/x"])
    def test_links_that_lead_out(self, places, target):
        """A link inside that leads out is refused by name, absolute, relative, dangling or not."""
        data = places / "project/data"
        (data / "deep").mkdir()
        (data / "deep/way").symlink_to(f"../{target}" if target[0] != "/" else target)
        with pytest.raises(RestoreRefused, match=r"deep/way leads out of .*data, to"):
            self._check(data, places)

    def test_special(self, places):
        """A FIFO is nothing to put back."""
        os.mkfifo(places / "project/pipe")
        with pytest.raises(RestoreRefused, match="neither a file nor a folder"):
            self._check(places / "project/pipe", places)

    def test_too_large(self, places):
        """More than the bound is refused where copies can't be shared; holes don't count."""
        put(places / "project/data/x", os.urandom(100_000))
        with (places / "project/data/holes").open("wb") as file:
            file.truncate(10**12)
        self._check(places / "project/data", places)
        if checks._can_clone(str(places / "project/data"), str(places / "project/.zeroin")):
            pytest.skip("this file system shares copies")
        with pytest.raises(RestoreRefused, match="can't share copies"):
            self._check(places / "project/data", places, max_bytes=50_000)
        assert os.listdir(places / "project/.zeroin") == []

    def test_too_deep(self, places):
        """A tree too deep to be held open is refused, not crashed into."""
        deep = places / "project/data" / "/".join("d" * 150)
        deep.mkdir(parents=True)
        with pytest.raises(RestoreRefused, match="folders deep"):
            self._check(places / "project/data", places)

    def test_a_baseline_of_another_version(self, tree, baseline, monkeypatch):
        """A manifest of a version we don't know is refused, and nothing is touched."""
        save(str(tree), baseline)
        (tree / "a.txt").write_text("changed")
        monkeypatch.setattr(baseline_folder, "_VERSION", 2)
        with pytest.raises(RestoreRefused, match="another version"):
            put_back(str(tree), baseline)
        assert (tree / "a.txt").read_text() == "changed"

    def test_a_damaged_baseline(self, tree, baseline):
        """Without the saved copy a file is not deleted, and the error is clear."""
        save(str(tree), baseline)
        (tree / "a.txt").write_text("changed")
        shutil.rmtree(os.path.join(baseline, "files"))
        with pytest.raises(RestoreError, match="could not be put back"):
            put_back(str(tree), baseline)
        assert (tree / "a.txt").read_text() == "changed"
        (tree / "a.txt").unlink()
        put(tree / "a.txt/inner")
        with pytest.raises(RestoreError, match="could not be put back"):
            put_back(str(tree), baseline)
        assert (tree / "a.txt/inner").exists()
        os.unlink(os.path.join(baseline, "manifest.json"))
        with pytest.raises(RestoreRefused, match="damaged"):
            put_back(str(tree), baseline)


names = st.sampled_from(["a", "b", "c", "d e", "é\n"])
modes = st.sampled_from([0o644, 0o600, 0o444, 0o755, 0o000])
files = st.tuples(st.just("file"), st.binary(max_size=40), modes)
links = st.tuples(st.just("link"), st.sampled_from(["a", "b/c", "missing"]), st.just(0))
nodes = st.recursive(
    files | links,
    lambda inner: st.tuples(
        st.just("folder"),
        st.dictionaries(names, inner, max_size=4),
        st.sampled_from([0o755, 0o555, 0o700, 0o500]),
    ),
    max_leaves=12,
)
verbs = st.sampled_from(
    [
        "write",
        "append",
        "replace",
        "delete",
        "chmod",
        "touch",
        "rename",
        "mkfile",
        "mkdir",
        "link",
        "hardlink",
        "steal",
        "leak",
        "swap",
        "fifo",
    ]
)
mutations = st.lists(st.tuples(verbs, st.integers(0, 30), st.integers(0, 30)), max_size=8)


def build(path: str, node) -> None:
    kind, inner, mode = node
    if kind == "link":
        os.symlink(inner, path)
    elif kind == "file":
        Path(path).write_bytes(inner)
    else:
        os.mkdir(path)
        for name, each in inner.items():
            build(os.path.join(path, name), each)
    if kind != "link":
        os.chmod(path, mode | 0o400 if kind == "file" else mode)
    os.utime(path, ns=(OLD, OLD + len(path)), follow_symlinks=False)


def everything(path: str) -> list[str]:
    found = [path]
    for base, folders, others in os.walk(path) if not os.path.islink(path) else ():
        found += [os.path.join(base, name) for name in sorted(folders + others)]
    return [each for each in found if os.path.lexists(each)]


def shared(path: str, outside: str) -> set[int]:
    """Give the inodes that have names on both sides."""
    inside, beyond = ({os.lstat(each).st_ino for each in everything(p)} for p in (path, outside))
    return inside & beyond


def mutate(path: str, outside: str, verb: str, at: int, other: int) -> None:
    """Do one of the things programs do, as far as it is possible there."""
    known = everything(path)
    if not known:
        Path(path).write_bytes(b"again")
        return
    victim, second = known[at % len(known)], known[other % len(known)]
    parent = os.path.dirname(victim)
    if verb == "write":
        with open(os.open(victim, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "wb") as file:
            file.write(b"w" * other)
    elif verb == "append":
        with open(
            os.open(victim, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK), "wb"
        ) as file:
            file.write(b"+")
    elif verb == "replace":
        Path(parent, "tmp").write_bytes(b"replaced")
        os.replace(os.path.join(parent, "tmp"), victim)
    elif verb == "delete":
        shutil.rmtree(victim) if os.path.isdir(victim) else os.unlink(victim)
    elif verb == "chmod" and not os.path.islink(victim):
        os.chmod(victim, [0o777, 0o000, 0o500, 0o200][other % 4])
    elif verb == "touch":
        os.utime(victim, follow_symlinks=False)
    elif verb == "rename":
        os.rename(victim, second + "-renamed")
    elif verb == "mkfile":
        Path(victim, "new").write_bytes(b"new")
    elif verb == "mkdir":
        os.makedirs(os.path.join(victim, "new folder", "deeper"))
    elif verb == "link":
        os.symlink(outside, os.path.join(parent, f"out{other}"))
    elif verb == "hardlink":
        os.link(victim, second + "-linked", follow_symlinks=False)
    elif verb == "steal":
        os.unlink(victim)
        os.link(os.path.join(outside, "precious"), victim)
    elif verb == "leak":
        os.link(victim, os.path.join(outside, f"leak{other}"), follow_symlinks=False)
    elif verb == "swap":
        os.rename(victim, victim + "~")
        os.symlink(outside, victim)
    elif verb == "fifo":
        os.mkfifo(os.path.join(victim, "fifo"))


@settings(
    max_examples=250,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(node=nodes, rounds=st.lists(mutations, min_size=1, max_size=3))
def random_trees(node, rounds) -> None:
    """Build any tree, do anything to it, put it back: it is the first state, and only it."""
    base = os.path.realpath(tempfile.mkdtemp())
    try:
        path, outside = os.path.join(base, "p"), os.path.join(base, "outside")
        put(Path(outside, "precious"), "precious")
        build(path, node)
        before = state(path)
        save(path, os.path.join(base, "kept"))
        for steps in rounds:
            for step in steps:
                with contextlib.suppress(OSError, shutil.Error):
                    mutate(path, outside, *step)
            safe = state(outside)  # after what the program did there
            put_back(path, os.path.join(base, "kept"))
            assert state(path) == before
            assert state(outside) == safe
            assert not shared(path, outside)
    finally:
        for each in everything(base):
            if os.path.isdir(each) and not os.path.islink(each):
                os.chmod(each, 0o700)
        shutil.rmtree(base, ignore_errors=True)


def without_privileges(function) -> str:
    """Call a function of a folder as a user who isn't root; give what it returned or raised."""
    base = os.path.realpath(tempfile.mkdtemp())
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.chdir(base)
            tempfile.tempdir = base
            if os.getuid() == 0:
                os.chown(base, 65534, 65534)
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, f"{function(Path(base))}".encode())
        except BaseException as error:
            os.write(writer, "".join(traceback.format_exception(error)).encode()[-20_000:])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as said:
        answer = said.read().decode()
    os.waitpid(child, 0)
    for each in everything(base):
        if os.path.isdir(each) and not os.path.islink(each):
            os.chmod(each, 0o700)
    shutil.rmtree(base)
    return answer


class TestWithoutPrivileges:
    def test_closed_and_read_only(self):
        """Folders and files that their modes close are opened for the work and closed again."""

        def work(base: Path) -> bool:
            tree = base / "data"
            put(tree / "ro/file", "first", 0o444)
            put(tree / "ro/inner/file", "first", 0o400)
            put(tree / "plain/file", "first")
            with contextlib.suppress(OSError):
                os.setxattr(tree / "plain/file", "user.mark", b"1")
            (tree / "plain/file").chmod(0o444)
            (tree / "ro/inner").chmod(0o555)
            (tree / "ro").chmod(0o555)
            before = state(tree)
            save(str(tree), str(base / "kept"))
            (tree / "ro").chmod(0o755)
            (tree / "ro/file").chmod(0)
            (tree / "ro/inner").chmod(0o700)
            (tree / "ro/inner/file").unlink()
            put(tree / "ro/inner/new/x")
            (tree / "ro/inner/new").chmod(0)
            (tree / "ro/inner").chmod(0)
            (tree / "ro").chmod(0o555)
            (tree / "plain/file").chmod(0o644)
            with contextlib.suppress(OSError):
                os.setxattr(tree / "plain/file", "user.mark", b"2")
            (tree / "plain/file").chmod(0o444)
            put_back(str(tree), str(base / "kept"))
            return state(tree) == before

        assert without_privileges(work) == "True"

    def test_a_parent_that_is_not_ours_to_open(self):
        """Only PATH is opened up: a closed folder around it is an error and stays closed."""

        def work(base: Path) -> str:
            path = put(base / "around/file", "first")
            save(str(path), str(base / "kept"))
            path.write_text("second")
            path.parent.chmod(0o555)
            with pytest.raises(RestoreError, match="Permission denied"):
                put_back(str(path), str(base / "kept"))
            return f"{stat.S_IMODE(path.parent.stat().st_mode):o} {path.read_text()}"

        assert without_privileges(work) == "555 second"

    def test_what_cannot_be_read_cannot_be_saved(self):
        """A file closed to us is named, and no half baseline stays."""

        def work(base: Path) -> str:
            put(base / "data/closed", mode=0)
            with pytest.raises(RestoreError, match=r"Permission denied \(closed\)"):
                save(str(base / "data"), str(base / "kept"))
            return str(sorted(os.listdir(base)))

        assert without_privileges(work) == "['data']"


class TestAnyTree:
    @pytest.mark.slow
    def test_random_trees(self):
        """Random trees and random mutations: what comes back is exactly the first state."""
        random_trees()

    @pytest.mark.slow
    def test_random_trees_without_privileges(self):
        """The same for a user whom modes can lock out of his own folders."""
        assert without_privileges(lambda _: random_trees()) == "None"


STEPS = "open unlink mkdir link symlink fchmod utime copy_file_range replace rename rmdir ftruncate"


def killed_at(step: int, function, *args: str) -> bool:
    """Call a function in a child that is killed by SIGKILL before its n-th step; say if it was."""
    child = os.fork()
    if not child:
        left = [step]

        def fatal(real):
            def call(*args, **options):
                left[0] -= 1
                if left[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*args, **options)

            return call

        for name in STEPS.split():
            setattr(os, name, fatal(getattr(os, name)))
        with contextlib.suppress(BaseException):
            function(*args)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def spoil(tree: Path) -> None:
    """Change a bit of everything."""
    (tree / "a.txt").write_text("longer than before")
    (tree / "one").write_text("TWIN")
    (tree / "ro").chmod(0o755)
    (tree / "ro/c.txt").unlink()
    shutil.rmtree(tree / "deep/er", ignore_errors=True)
    put(tree / "junk/x")
    (tree / "link").unlink(missing_ok=True)
    (tree / "link").mkdir()


class TestKills:
    def test_put_back_killed_at_every_step(self, tree, baseline):
        """Killed -9 before any of its steps, the next call makes everything right."""
        before = state(tree)
        save(str(tree), baseline)
        for step in range(1_000):
            spoil(tree)
            if not killed_at(step, put_back, str(tree), baseline):
                break
            put_back(str(tree), baseline)
            assert state(tree) == before, step
        assert 30 < step < 1_000

    def test_save_killed_at_every_step(self, tree, baseline):
        """Killed -9 before any of its steps, a save leaves all or nothing, and no litter for long."""
        before = state(tree)
        for step in range(1_000):
            killed = killed_at(step, save, str(tree), baseline)
            if os.path.exists(baseline):
                spoil(tree)
                put_back(str(tree), baseline)
                assert state(tree) == before
                shutil.rmtree(baseline)
            if not killed:
                break
        assert 20 < step < 1_000
        save(str(tree), baseline)
        assert os.listdir(os.path.dirname(baseline)) == ["key"]

    @pytest.mark.slow
    def test_put_back_killed_at_random_moments(self, tree, baseline):
        """The same with kills from outside at random moments, twice in a row, in a larger tree."""
        for number in range(150):
            put(tree / f"many/{number}", os.urandom(2_000))
        os.utime(tree / "many", ns=(OLD, OLD))
        os.utime(tree, ns=(OLD, OLD))
        before, chance = state(tree), random.Random(7)
        save(str(tree), baseline)
        for _ in range(60):
            spoil(tree)
            for number in range(0, 150, 3):
                (tree / f"many/{number}").unlink(missing_ok=True)
            for _ in range(2):
                child = os.fork()
                if not child:
                    with contextlib.suppress(BaseException):
                        put_back(str(tree), baseline)
                    os._exit(0)
                time.sleep(chance.random() * 0.03)  # the moment, not a wait for anything
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
            put_back(str(tree), baseline)
            assert state(tree) == before
