"""Run a script, a module or the tests of pytest many times in one process.

As a server would: modules that were imported stay loaded, with their state. The script itself is
run anew each time, with its arguments and its path as they were.
"""

from __future__ import annotations

import gc
import os
import sys

from . import ticks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(words: list[str]) -> None:
    """`COUNT script.py ARGUMENTS`, or `COUNT -m MODULE ARGUMENTS`."""
    import runpy

    count, words = int(words[0]), words[1:]
    is_module = words[0] == "-m"
    target, rest = (words[1], words[2:]) if is_module else (words[0], words[1:])
    first = os.getcwd() if is_module else os.path.dirname(os.path.realpath(target))
    path = [first, *sys.path[1:]]
    at = ticks.place("again", "run", os.path.abspath(target), 0, target)
    for _ in range(count):
        _between(at)
        sys.argv[:] = [target, *rest]
        sys.path[:] = path
        try:
            if is_module:
                runpy.run_module(target, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(target, run_name="__main__")
        except SystemExit as leaving:
            if leaving.code:
                raise
    _between(at)


def _between(at: list[Any]) -> None:
    """What the last run left in cycles is no leak: its module and its functions are such."""
    gc.collect()
    ticks.tick(at)


def watch_pytest(count: int) -> None:
    """Let pytest run all its tests that often, in the same session."""
    from .. import hooks

    hooks.on_import({"_pytest.main": lambda module: _repeat_loop(module, count)})


def _repeat_loop(module: Any, count: int) -> None:
    plain = module.pytest_runtestloop
    at = ticks.place("again", "run", os.getcwd(), 0, "pytest")

    def pytest_runtestloop(session: Any) -> Any:
        done: Any = True
        first: dict[str, int] = {}
        for number in range(count):
            if number:
                for item in session.items:
                    item._initrequest()  # as plugins do that run a test once more
            _between(at)
            done = plain(session)
            _forget(session, first)
            if session.shouldfail or session.shouldstop or session.testsfailed:
                return done
        _between(at)
        return done

    module.pytest_runtestloop = pytest_runtestloop


def _forget(session: Any, first: dict[str, int]) -> None:
    """The reports of the tests are kept for the summary: those of the first time will do."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    for key, reports in getattr(reporter, "stats", {}).items():
        del reports[first.setdefault(key, len(reports)) :]


if __name__ == "__main__":
    main(sys.argv[1:])
