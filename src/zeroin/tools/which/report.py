"""What `which` found, as data."""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.observe.which.compare import Comparison
    from zeroin.observe.which.dists import Dist


class Interpreter(NamedTuple):
    """The Python that was asked."""

    executable: str
    version: str
    why: str
    on_path: str  # what plain `python` would start, where that is another
    prefix: str


class Copy(NamedTuple):
    """Another file of the same module."""

    file: str
    where: str  # "path", "beside", "checkout", "worktree", "build" or "environment"
    of: str  # the entry of the path, the project or the environment
    dist: Dist | None
    comparison: Comparison
    kind: str = "module"


class Reached(NamedTuple):
    """What running the command proved."""

    loaded: list[str]  # the files that were loaded as this module
    reached: bool
    file: str  # the copy that was reached, and where in it
    line: int
    stack: list[dict[str, Any]]  # the way to there, outermost first
    times: int  # how often, where it was let run to its end
    exit_code: int | None  # None when it was ended there
    heard: bool = True  # whether a Python of the command told anything at all
    before: bool = False  # the module was loaded before the program began
    refused: str = ""  # why no place in the file could be watched
    lines: Sequence[dict[str, Any]] = ()  # where in which file how often, as told at the end


class Which(NamedTuple):
    """The whole answer. `verdict` is "yes", "no", or "" where nothing could be wrong."""

    name: str
    python: Interpreter
    kind: str
    file: str
    line: int
    module: str
    how: str  # editable, installed, standard library, working folder, PYTHONPATH, ...
    dist: Dist | None
    verdict: str
    why: str  # of a "no": "other-copy", "not-importable", "import-error", "not-reached", ...
    asked: str  # the file that was asked about, or the copy in the checkout
    mend: str  # the next command
    defined: str  # its real name, where it was taken over from elsewhere
    others: list[Copy]
    portions: list[str]
    notes: list[str]
    stale: dict[str, Any] | None
    mro: list[dict[str, Any]]
    chain: list[dict[str, Any]]
    layers: list[dict[str, Any]]
    replaced: dict[str, Any] | None
    error: dict[str, Any] | None
    reached: Reached | None = None
    at: int = 0  # of FILE.py:LINE the line
    inside: str = ""  # of FILE.py:NAME the name, and `at` its last definition
    definitions: Sequence[dict[str, Any]] = ()  # all of that name in the file, if several
