"""Test runners catch the exceptions that matter; here they pass them on."""

from __future__ import annotations

import sys

from . import hooks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class _PytestPlugin:
    """Hears of each exception that fails a test, its fixtures or the collection."""

    def pytest_exception_interact(self, node: Any, call: Any) -> None:
        if not hasattr(node, "_zeroin_again"):  # it is run once more, to count
            hooks.report(call.excinfo.value, thread="main", fatal=False, test=node.nodeid)


def watch_pytest(config: Any) -> None:
    """Register with every plugin manager, so also inside xdist's workers."""
    manager = config.PytestPluginManager
    plain = manager.__init__

    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        plain(self, *args, **kwargs)
        self.register(_PytestPlugin(), "zeroin-agent")
        if "_zeroin_agent.warm.start" in sys.modules:
            from .warm import pytest_points

            pytest_points.watch(self, config)

    manager.__init__ = init
    consider = manager.consider_env

    def consider_env(self: Any) -> None:
        """Installed plugins are loaded by now, and no option has been read yet."""
        from .testing import entry

        if not self.has_plugin(entry.NAME) and not self.is_blocked(entry.NAME):
            self.register(entry, entry.NAME)
        consider(self)

    manager.consider_env = consider_env


def watch_unittest(result: Any) -> None:
    """Hear of what `unittest` counts as an error or a failure."""
    kind = result.TestResult

    def listen(name: str, position: int) -> None:
        plain = getattr(kind, name)

        def method(self: Any, *args: Any) -> Any:
            err = args[position]
            if err is not None and err[1] is not None:
                hooks.report(err[1], thread="main", fatal=False, test=_id(args[0]))
            return plain(self, *args)

        method.__name__ = name
        setattr(kind, name, method)

    listen("addError", 1)
    listen("addFailure", 1)
    listen("addSubTest", 2)


def _id(test: Any) -> str:
    try:
        return str(test.id())
    except Exception:
        return ""
