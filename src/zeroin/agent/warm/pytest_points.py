"""Where a run of pytest can be gone on from: before its configuration, each test file, each test.

Test files and conftests are loaded by pytest's own importer, which rewrites their asserts. They
have no hooks, so an edit of one goes back to before it was loaded; what was imported and collected
before is kept. Modules that the tests import have hooks as in any program.

Each run leaves in its cache which tests failed, and reads that again at its start. Without
`--lf`, `--ff`, `--nf` and `--sw` nothing depends on it but what is left there at the end: then it
is no input, and a run that goes on takes in what was left since. With one of them it is an input
like any other file.
"""

from __future__ import annotations

import os
import sys

from . import resume
from .stepping import steps
from .used import inputs, signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Options by which the cache decides what is run.
DECIDING = ("lf", "failedfirst", "newfirst", "stepwise")
ALWAYS = 8  # test files with a snapshot before each; before later ones when one is due
CACHE = ".pytest_cache"  # its usual name
OF_EACH_RUN = ("v", "cache")  # below the cache's folder: what pytest itself keeps there

_seen: list[_Points] = []  # the plugins, one for each configuration: tests of plugins make more


def watch(manager: Any, config_module: Any) -> None:
    """Take part in a run: called with each plugin manager that is made."""
    if steps.takes_snapshots():
        signatures.unlisted.add(CACHE)  # the first run makes it where tests are looked for
        for name, function in vars(_Points).items():
            if name.startswith("pytest_"):
                config_module.hookimpl(tryfirst=True)(function)
        plugin = _Points()
        _seen.append(plugin)
        manager.register(plugin, "zeroin-points")


class _Points:
    """The moments; a hook that gives nothing leaves no trace in the run."""

    def __init__(self) -> None:
        self.config: Any = None
        self.failed: dict[Any, Any] | None = None  # as the cache had them at the start
        self.files = 0  # that were collected

    def pytest_load_initial_conftests(self) -> None:
        """Plugins are loaded, nothing of the user's is."""
        _pause("the first conftest.py", always=True)

    def pytest_cmdline_main(self, config: Any) -> None:
        """All options are known, nothing has been set up."""
        self.config = config
        _leave_cache_out(config)
        _pause("pytest's set-up", always=True)

    def pytest_sessionstart(self, session: Any) -> None:
        """What the cache held has just been read."""
        plugin = session.config.pluginmanager.get_plugin("lfplugin")
        if plugin is not None:
            self.failed = dict(plugin.lastfailed)

    def pytest_collectstart(self, collector: Any) -> None:
        """A test file is about to be imported, or a folder to be listed."""
        is_file = hasattr(type(collector), "obj")  # to ask for it would import it
        _pause(_name(collector), always=is_file and self.files < ALWAYS)
        self.files += is_file

    def pytest_runtest_protocol(self, item: Any) -> None:
        """A test is about to be run."""
        _pause(_name(item))

    def pytest_unconfigure(self) -> None:
        """At its very end pytest looks at the temporary folders of all its other runs."""
        outermost = next((one for one in _seen if one.config is not None), None)
        if self is outermost and resume.folder() is not None:
            resume.tell_all_used()


def _name(node: Any) -> str:
    return str(getattr(node, "nodeid", "")).rpartition("/")[2] or "the collection"


def _pause(before: str, always: bool = False) -> None:
    """Take a snapshot if one is due, or always."""
    resume.named = before
    try:
        steps.pause(always)
    finally:
        resume.named = ""


def _leave_cache_out(config: Any) -> None:
    if any(getattr(config.option, name, None) for name in DECIDING):
        return
    try:
        folder = os.path.join(str(config.rootpath), config.getini("cache_dir"))
    except Exception:  # no such plugin, or another release of pytest
        return
    folder = os.path.expanduser(os.path.expandvars(folder))
    inputs.ignore(os.path.join(folder, *OF_EACH_RUN))


# --- in a process that has become the program -------------------------------------------------


def wake(asleep: float) -> None:
    """Bring up to date what a run starting now would find; time spent frozen does not count."""
    for plugin in _seen:
        if plugin.config is not None:
            _shift_clock(plugin.config, asleep)
            _read_cache_again(plugin)


def _shift_clock(config: Any, asleep: float) -> None:
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    started = getattr(reporter, "_session_start", None)
    if started is not None:
        for name in ("time", "perf_count"):
            object.__setattr__(started, name, getattr(started, name) + asleep)
    elif hasattr(reporter, "_sessionstarttime"):
        reporter._sessionstarttime += asleep


def _read_cache_again(plugin: Any) -> None:
    if plugin.failed is None or any(getattr(plugin.config.option, n, None) for n in DECIDING):
        return
    failed = plugin.config.pluginmanager.get_plugin("lfplugin")
    if failed is not None:
        left = _now(failed, plugin.config).lastfailed if _keeps(plugin.config) else {}
        for node in plugin.failed:
            if node not in failed.lastfailed:  # passed since
                left.pop(node, None)
        for node in failed.lastfailed:
            if node not in plugin.failed:
                left[node] = True
        failed.lastfailed = left
    known = plugin.config.pluginmanager.get_plugin("nfplugin")
    if known is not None and _keeps(plugin.config):
        known.cached_nodeids |= _now(known, plugin.config).cached_nodeids


def _keeps(config: Any) -> bool:
    return not getattr(config.option, "cacheclear", False)


def _now(plugin: Any, config: Any) -> Any:
    """The same plugin, as it would begin now."""
    return type(plugin)(config)


def woken(asleep: float) -> None:
    """Call `wake` if there is anything to wake. Never raises."""
    if "_pytest.config" in sys.modules:
        try:
            wake(asleep)
        except Exception as error:
            resume.complain(error)
