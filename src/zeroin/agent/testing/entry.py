"""What each start of pytest pays for: the options, and whether one of them was given."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

NAME = "zeroin"
TOP = 10

# Gives the object that keeps failing tests as attempts; set where the record can be written.
make_recorder: Callable[[str, dict[str, str]], Any] | None = None


def pytest_addoption(parser: Any) -> None:
    """Our options; any of them turns us on."""
    group = parser.getgroup(NAME, "zeroin: what failed with which values, and what it cost")
    add = group.addoption
    add(
        "--zeroin",
        action="store_true",
        dest="zeroin",
        help="show the values in your frames below each traceback, keep each failing test as an "
        "attempt, and tell time and memory per test",
    )
    add(
        "--zeroin-top",
        type=int,
        metavar="N",
        dest="zeroin_top",
        help=f"how many of the slowest and largest tests are listed ({TOP})",
    )
    add(
        "--zeroin-report",
        metavar="FILE",
        dest="zeroin_report",
        help="write all of it as JSON",
    )
    add(
        "--zeroin-only-mine",
        action="store_true",
        dest="zeroin_only_mine",
        help="fail if the package under test is an installed copy and not this checkout",
    )
    add(
        "--zeroin-flaky",
        type=int,
        metavar="N",
        dest="zeroin_flaky",
        help="run each failing test N times more, and alone in a process, and tell how often it "
        "fails; what failed still counts as failed",
    )


def is_wanted(option: Any) -> bool:
    """Whether any of our options was given."""
    return bool(
        getattr(option, "zeroin", False)
        or getattr(option, "zeroin_only_mine", False)
        or getattr(option, "zeroin_report", None)
        or getattr(option, "zeroin_top", None) is not None
        or getattr(option, "zeroin_flaky", None) is not None
    )


def pytest_configure(config: Any) -> None:
    """Begin, if we are wanted."""
    if is_wanted(config.option):
        from . import plugin

        config.pluginmanager.register(plugin.make(config, make_recorder), NAME + "-tests")
