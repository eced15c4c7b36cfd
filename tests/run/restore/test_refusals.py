"""What can't be put back is refused before anything is done."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from trees import put

from zeroin.run.restore import (
    RestoreError,
    RestoreRefused,
    check,
    checks,
    put_back,
    save,
)
from zeroin.run.restore import baseline as baseline_folder

if TYPE_CHECKING:
    from pathlib import Path


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
