"""A failing doctest as a failure of the user's: pytest's own ends inside of `doctest`."""

from __future__ import annotations

import os
import sys

from .. import crash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def cause(exc: BaseException) -> BaseException:
    """What an example raised, else the first of those that failed."""
    failures = getattr(exc, "failures", None)  # of --doctest-continue-on-failure
    if type(exc).__name__ == "MultipleDoctestFailures" and failures:
        exc = failures[0]
    doctest = sys.modules.get("doctest")
    if doctest is not None and isinstance(exc, doctest.UnexpectedException):
        raised: BaseException = exc.exc_info[1]
        return raised
    return exc


def tell(found: dict[str, Any], exc: BaseException) -> None:
    """Of an example that gave something else: its line, what it should give and what it gave."""
    doctest = sys.modules.get("doctest")
    if doctest is None or not isinstance(exc, doctest.DocTestFailure):
        return
    test, example = exc.test, exc.example
    frame = {
        "file": os.path.abspath(test.filename or "<doctest>"),
        "line": (test.lineno or 0) + example.lineno + 1,
        "name": test.name.rpartition(".")[2],
        "qualname": test.name,
        "class": "",
        "module": str(test.globs.get("__name__", "")),
        "owner": "user",
        "locals": {},
    }
    crash.add_source(frame)
    source, want, got = example.source.strip(), example.want.strip(), exc.got.strip()
    link = found["chain"][-1]
    link["message"] = f"{source}: expected {want or 'nothing'}, got {got or 'nothing'}"
    link["frames"] = [frame]
