"""`--restore PATH` by a user who may not do everything."""

from __future__ import annotations

import contextlib
import os
import stat
from typing import TYPE_CHECKING

import pytest
from trees import put, state, without_privileges

from zeroin.run.restore import (
    RestoreError,
    put_back,
    save,
)

if TYPE_CHECKING:
    from pathlib import Path


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
