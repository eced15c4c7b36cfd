"""`--restore PATH` never touches anything outside of PATH."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import sys

import pytest
from trees import OLD, put, shared, state

from zeroin.run.restore import (
    Restored,
    RestoreError,
    RestoreRefused,
    put_back,
    save,
)
from zeroin.run.restore.folders import Folder


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
