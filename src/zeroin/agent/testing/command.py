"""The command that repeats one test: the options that the user gave, without his choice of tests.

Options that only choose, stop, spread or show are left out; what is not known here, such as
an option of the user's own conftest.py, is kept.
"""

from __future__ import annotations

import os
import shutil
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Left out: with a value, and without.
WITH_VALUE = frozenset(
    (
        *("-k", "-m", "-n", "--numprocesses", "--maxprocesses", "--dist", "--tx", "--maxfail"),
        *("--deselect", "--ignore", "--ignore-glob", "--junitxml", "--junit-xml", "--tb", "-r"),
        *("--durations", "--durations-min", "--reruns", "--reruns-delay", "--only-rerun"),
        *("--rerun-except", "--verbosity", "--show-capture", "--color", "--lfnf", "--basetemp"),
        *("--last-failed-no-failures", "--zeroin-top", "--zeroin-report", "--zeroin-flaky"),
        *("--cov-report", "--cov-config", "--cov-fail-under", "--count", "--junit-prefix"),
        *("--junitprefix", "--log-file", "--report-log", "--html", "--pastebin"),
    )
)
MAYBE = frozenset(("--cov", "--debug"))  # with a value, or without
ALONE = frozenset(
    (
        *("-x", "--exitfirst", "-q", "--quiet", "-v", "-vv", "-vvv", "--verbose", "-s", "-l"),
        *("-qq", "--lf", "--last-failed", "--ff", "--failed-first", "--nf", "--new-first", "-ra"),
        *("--sw", "--stepwise", "--sw-skip", "--stepwise-skip", "--pdb", "--trace"),
        *("--co", "--collect-only", "--zeroin", "--zeroin-only-mine", "--cache-clear", "-rA"),
        *("--no-header", "--no-summary", "--showlocals", "--setup-show", "--no-cov", "--pyargs"),
        *("--cov-append", "--cov-branch", "--cov-reset", "--full-trace", "--disable-warnings"),
    )
)


def repeat(config: Any, nodeid: str, path: str) -> list[str]:
    """The words that run this test, from where pytest was called."""
    here = str(config.invocation_params.dir)
    given = list(map(str, config.invocation_params.args))
    chosen = list(getattr(config.known_args_namespace, "file_or_dir", None) or ())
    target = os.path.relpath(path, here) if path else nodeid.partition("::")[0]
    rest = nodeid.partition("::")[2]
    return [
        _python(),
        *("-m", "pytest"),
        target + (f"::{rest}" if rest else ""),
        *_kept(given, chosen),
    ]


def plain_id(item: Any) -> str:
    """Without the group that xdist's `loadgroup` hangs on it, which pytest itself does not know."""
    nodeid = str(item.nodeid)
    grouped = "@" in nodeid and item.get_closest_marker("xdist_group") is not None
    return nodeid.rpartition("@")[0] if grouped else nodeid


def target_of(command: list[str]) -> str:
    """The test in such a command."""
    return command[3]


def _python() -> str:
    """`python`, where that is this interpreter."""
    here = os.path.normpath(sys.executable) if sys.executable else "python"
    found = shutil.which("python")
    same = found is not None and os.path.dirname(found) == os.path.dirname(here)
    return "python" if same else here


def _kept(given: list[str], chosen: list[str]) -> list[str]:
    kept: list[str] = []
    left = list(chosen)
    words = iter(given)
    for word in words:
        name, equals, _ = word.partition("=")
        if kept and kept[-1] in MAYBE:
            kept.pop()
            if _is_value(word, left):
                continue
        if word in MAYBE:
            kept.append(word)  # until the next word is seen
        elif word in left and not (kept and kept[-1] in ("-p", "-c", "-o", "-W", "--rootdir")):
            left.remove(word)
        elif word in WITH_VALUE:
            next(words, None)
        elif (equals and name in (WITH_VALUE | ALONE | MAYBE)) or word in ALONE or _is_short(word):
            continue
        elif word != "--":
            kept.append(word)
    return [word for word in kept if word not in MAYBE]


def _is_value(word: str, left: list[str]) -> bool:
    return word[:1] != "-" and word not in left


def _is_short(word: str) -> bool:
    """`-n4`, `-kname`, `-rfE`, `-xq`: one letter of those above, and its value."""
    if len(word) < 3 or word[0] != "-" or word[1] == "-":
        return False
    return word[:2] in ("-n", "-k", "-m", "-r") or all(f"-{c}" in ALONE for c in word[1:])
