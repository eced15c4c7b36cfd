"""Which files go into a snapshot: within bounds, code before data, and nothing left out unsaid."""

from __future__ import annotations

import os
import stat

from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.record.code.shadow import Shadow


class Admission:
    """What one snapshot lets in and what it had to leave out."""

    def __init__(self, shadow: Shadow) -> None:
        self.shadow = shadow
        self.left_out: list[str] = []
        self.bytes = 0  # read from files the user's git doesn't track

    def admit(self, new: list[str], held: int) -> list[str]:
        """Choose among files the user's git doesn't track: within bounds, code before data.

        Too many files of one kind in one folder go first, together, then the largest files: so the
        choice stays the same from one snapshot to the next, and a new script finds room.
        `held` counts the files of this sort that the index has already.
        """
        kinds: dict[str, list[str]] = {}
        for path in new:
            kind = os.path.join(os.path.dirname(path), "*" + os.path.splitext(path)[1])
            kinds.setdefault(kind, []).append(path)
        room = self.shadow.max_files - held
        chosen: dict[str, int] = {}
        for kind, paths in sorted(kinds.items(), key=lambda item: len(item[1])):
            if len(paths) > room:
                bound = f"over {self.shadow.max_files:,} in all"
                self.leave_out(kind, f"{len(paths):,} files: {bound}")
                continue
            room -= len(paths)
            weights = ((path, self.weigh(path)) for path in paths)
            chosen |= {path: weight for path, weight in weights if weight is not None}
        return self._fit(chosen)

    def _fit(self, weights: dict[str, int]) -> list[str]:
        """Leave the largest files out until the rest fits into `max_total`."""
        room = self.shadow.max_total - self.bytes
        chosen = []
        for path, weight in sorted(weights.items(), key=lambda item: item[1]):
            if weight > room:
                self.leave_out(path, f"{size(weight)}: over {size(self.shadow.max_total)} in all")
                continue
            room -= weight
            chosen.append(path)
        self.bytes = self.shadow.max_total - room
        return chosen

    def weigh(self, path: str) -> int | None:
        """Give a file's size, or None, and say why, if it has to be left out.

        What is gone weighs nothing: git takes it out of the index by itself.
        """
        full = os.path.join(self.shadow.root, path)
        try:
            info = os.lstat(full)
            reason = self._refusal(path, info)
        except (FileNotFoundError, NotADirectoryError):
            return 0
        except OSError as error:
            reason = str(error.strerror)
        if not reason:
            return info.st_size
        self.leave_out(path, reason)
        return None

    def _refusal(self, path: str, info: os.stat_result) -> str:
        """Say why a snapshot can't hold this, "" if it can."""
        if path.endswith("/"):
            return "a repository of its own"
        if stat.S_ISLNK(info.st_mode) or stat.S_ISDIR(info.st_mode):
            return ""
        if not stat.S_ISREG(info.st_mode):
            return "not a file"
        if info.st_size > self.shadow.max_file:
            return f"{size(info.st_size)}: over {size(self.shadow.max_file)}"
        return "" if os.access(os.path.join(self.shadow.root, path), os.R_OK) else "not readable"

    def leave_out(self, path: str, reason: str) -> None:
        """Say in the snapshot that this is not in it, and why."""
        shown = path.encode("utf-8", "backslashreplace").decode()
        self.left_out.append(f"{shown} ({reason})")
