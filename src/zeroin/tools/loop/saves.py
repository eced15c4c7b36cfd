"""When is a file saved? When it says something else than before, and its writer is done.

A save counts at once; what looks as if it were half done (no file, an empty one, code that does
not parse) gets a moment in which the writer may go on.
"""

from __future__ import annotations

import os
import time

from zeroin.named import NamedTuple
from zeroin.run.watch import WHOLE, Stamp, Watch, stamp
from zeroin.tools.loop import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

MOMENT = 0.1  # seconds for a writer to go on with what looks half done
READ_AT_MOST = 64 << 20  # bytes of all files together that are compared by content

# In the user's own interpreter, which alone knows its grammar.
CHECK = """
import json, sys, traceback, warnings
warnings.simplefilter("ignore")
path = sys.argv[1]
try:
    with open(path, "rb") as file:
        compile(file.read(), path, "exec", dont_inherit=True)
except SyntaxError as error:
    text = "".join(traceback.format_exception(type(error), error, None))
    print(json.dumps([type(error).__name__, error.msg, error.lineno, text]))
"""


class Broken(NamedTuple):
    """Code that does not parse."""

    path: str
    type: str
    message: str
    line: int
    text: str  # as Python prints it


class Saves:
    """Follows the files that the program used."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.python = ""  # the user's interpreter
        self.newer = False  # whether it knows more grammar than ours
        self.prefix = ""  # where it keeps what it has compiled, if that is not beside the source
        self.code: frozenset[str] = frozenset()  # of the files those that are the user's modules
        self.broken: dict[str, Broken] = {}
        self._stamps: dict[str, Stamp] = {}
        self._open: dict[str, float] = {}  # touched, and not decided yet: since when
        self._new: dict[str, Stamp] = {}

    def follow(self, files: Iterable[str], code: Iterable[str], since: int = 0) -> None:
        """From now on these. `since` is when the program began that used them.

        Code that was written since then may not be what the program had read.
        """
        self.watch.follow(files)
        self.code = frozenset(code)
        kept = {path: mark for path, mark in self._stamps.items() if path in self.watch.files}
        room = READ_AT_MOST
        for path in self.watch.files:
            if path in kept:
                continue
            whole = WHOLE if room > 0 or path in self.code else -1
            mark = kept[path] = stamp(path, whole=whole)
            room -= mark.size if mark.content is not None else 0
            if since and path in self.code and mark.time > since:
                kept[path] = Stamp("unknown")
                self.touch([path])
        self._stamps = kept
        self._open = {path: at for path, at in self._open.items() if path in kept}
        self._new = {path: mark for path, mark in self._new.items() if path in kept}
        self.broken = {path: what for path, what in self.broken.items() if path in kept}

    def touch(self, files: Iterable[str]) -> None:
        """Something happened to these."""
        now = time.monotonic()
        for path in files:
            self._open.setdefault(path, now)

    def touch_all(self) -> None:
        """Nobody said that nothing happened."""
        self.touch(path for path, mark in self._stamps.items() if not stamp(path, mark).same(mark))

    def due(self) -> float | None:
        """Seconds until what looks half done counts as it is."""
        if not self._open:
            return None
        return max(0.0, min(self._open.values()) + MOMENT - time.monotonic())

    def decided(self) -> list[str]:
        """The files that were saved, once nothing is half done any more."""
        now = time.monotonic()
        for path, at in list(self._open.items()):
            last = self._stamps.get(path)
            if last is None:
                del self._open[path]
                continue
            mark = stamp(path, whole=WHOLE if last.content is not None else -1)
            if mark.same(last):
                del self._open[path]
                self._new.pop(path, None)
                self.broken.pop(path, None)
            elif self._is_whole(path, mark, last, over=now - at >= MOMENT):
                del self._open[path]
                self._new[path] = mark
        if self._open or not self._new:
            return []
        return sorted(self._new)

    def accept(self) -> None:
        """A run begins: what is there now is what it gets."""
        compiled.forget(self._new, self.prefix)
        self._stamps.update(self._new)
        self._new = {}

    def settle(self, own: Iterable[str]) -> None:
        """The program has ended: what it wrote itself was saved by nobody."""
        for path in own:
            if path in self._stamps:
                self._stamps[path] = stamp(path, self._stamps[path])
                self._open.pop(path, None)
                self._new.pop(path, None)

    def _is_whole(self, path: str, mark: Stamp, last: Stamp, *, over: bool) -> bool:
        """Whether its writer seems to be done; when the moment is over, it has to be."""
        self.broken.pop(path, None)
        if not mark.kind or (mark.kind == "file" and not mark.size and last.size):
            return over
        if path not in self.code or not self.python or parses(path):
            return True
        if not over and not self.newer:
            return False
        found = ask(path, self.python)
        if found is not None and over:
            self.broken[path] = found
        return over or found is None


def parses(path: str) -> bool:
    """Whether our own interpreter takes the code: it is here already, and quick.

    Where it does, the program's may still not; then its start will say so.
    """
    import warnings

    if not path.endswith(".py"):
        return True
    try:
        with open(path, "rb") as file:
            source = file.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(source, path, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    except (OSError, ValueError, RecursionError, MemoryError):
        pass
    return True


def ask(path: str, python: str) -> Broken | None:
    """What is wrong with code, if the program's own interpreter can't take it."""
    import json
    import subprocess

    command = [python, "-I", "-S", "-c", CHECK, path]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env, timeout=5
        )
        kind, message, line, text = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return Broken(path, kind, str(message), int(line or 0), text)
