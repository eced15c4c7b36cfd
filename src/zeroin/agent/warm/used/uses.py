"""What the run used of each path, from when on, and what it was like at that time.

A cold run now would start on the disk as it is now. It would see what the run saw, if what
was there *at the first use of each kind* is there now. And it would leave behind what the
run left, if what the run itself wrote is still as it was at the snapshot.

What the run has made itself (`own`) is no input any more when it is used after that. A file
opened only for appending is no input either; it becomes one when it is read after that.
"""

from __future__ import annotations

from . import signatures

TYPE_CHECKING = False
if TYPE_CHECKING:
    import posix
    from typing import Callable

MOST = 50_000  # paths; a program that uses more is told of as one that can't be judged
TABLE: dict[str, Use] = {}
unsettled: set[str] = set()  # written since the last mark
full_since: int | None = None
now: Callable[[], int] = int
_awaited: tuple[str, ...] = ()  # before the first use of one of these, or of what is in them,
_on_touch: Callable[[], None]  # this is called, once


def before_first_use(paths: tuple[str, ...], call: Callable[[], None]) -> None:
    """Call it before what these paths hold is used for the first time."""
    global _awaited, _on_touch
    _awaited, _on_touch = paths, call


def _touch(path: str) -> None:
    global _awaited  # noqa: PLW0603 - once
    if any(path == one or path.startswith(one + "/") for one in _awaited):
        _awaited = ()
        _on_touch()


class Use:
    """What one path was to the run. Positions are None where it had no such use."""

    __slots__ = (
        "before",
        "content",
        "deep",
        "exempt",
        "fresh",
        "link",
        "linked",
        "listed",
        "look",
        "looked",
        "measure",
        "measured",
        "names",
        "own",
        "read",
        "tools",
        "written",
    )

    def __init__(self) -> None:
        self.looked: int | None = None  # is it there, and what kind is it?
        self.look: int | None = None
        self.linked: int | None = None  # likewise, without following it
        self.link: tuple[int, str] | None = None
        self.measured: int | None = None  # size, time and mode
        self.measure: tuple[int, int, int] | None = None
        self.read: int | None = None
        self.content: signatures.Content | None = None
        self.tools = False  # read only by what shows or imports source
        self.exempt = False
        self.listed: int | None = None
        self.names: int | None = None
        self.deep = 0
        self.written: int | None = None
        self.before: tuple[int, signatures.Content | None] | None = None  # what was appended to
        self.own = False
        self.fresh = False  # a folder that the run made: what is in it is its own


def of(path: str) -> Use | None:
    """The record of a path; None when there are too many, or when the run made it all itself."""
    global full_since  # noqa: PLW0603 - one run, one table
    use = TABLE.get(path)
    if use is None:
        if len(TABLE) >= MOST:
            if full_since is None:
                full_since = now()
            return None
        use = TABLE[path] = Use()
        folder = TABLE.get(path.rpartition("/")[0])
        if folder is not None and folder.fresh:
            use.own = True
    return use


def looked(path: str) -> Use | None:
    """Whether it is there, and what kind it is, was seen."""
    use = of(path)
    if use is not None and use.looked is None and not use.own:
        use.look = signatures.kind(signatures.state(path))
        use.looked = now()
    return use


def linked(path: str) -> None:
    """Likewise, of the path itself instead of where it leads."""
    use = of(path)
    if use is not None and use.linked is None and not use.own:
        use.link = signatures.link(path)
        use.linked = now()


def probed(path: str, found: posix.stat_result | None, measures: bool) -> None:
    """`os.stat` gave this, or nothing; `measures`: its size, time and mode count as well."""
    if measures and _awaited:
        _touch(path)
    use = of(path)
    if use is None or use.own:
        return
    if use.looked is None:
        use.look = signatures.kind(found)
        use.looked = now()
    if measures and use.measured is None:
        if use.before is not None:
            _count_what_was_appended_to(use)
        use.measure = signatures.measure(found)
        use.measured = now()


def read(path: str, tools: bool = False) -> None:
    """Note that it is being opened for reading."""
    if _awaited:
        _touch(path)
    use = of(path)
    if use is None or use.own:
        return
    if use.before is not None:
        _count_what_was_appended_to(use)
    if use.read is not None:
        if use.tools and not tools:  # the text itself from now on
            use.tools = False
            use.content = signatures.content(path, signatures.state(path), hashed=True)
            use.read = now()
        return
    found = signatures.state(path)
    if found is not None and signatures.kind(found) != signatures.FILE:
        looked(path)
        return
    use.tools = tools
    use.read = now()  # before the hash, which opens the file
    use.content = signatures.content(path, found, hashed=True)


def _count_what_was_appended_to(use: Use) -> None:
    if use.before is not None and use.read is None:
        use.read, use.content = use.before
    use.before = None


def listed(folder: str, deep: int) -> None:
    """Its names were listed."""
    if _awaited:
        _touch(folder)
    use = of(folder)
    if use is not None and (use.listed is None or use.deep < deep) and not use.fresh:
        if use.listed is None:
            use.listed = now()
        use.deep = deep
        use.names = signatures.names(folder, deep)


def wrote(path: str, whole: bool) -> Use | None:
    """It is being written: anew, or on top of what is there."""
    use = of(path)
    if use is None:
        return None
    if not whole and not use.own and use.before is None and use.read is None:
        use.before = now(), signatures.content(path, signatures.state(path), hashed=False)
    _change(path, use)
    use.own = use.own or whole
    return use


def touched(path: str) -> None:
    """Its time or mode is being set: what it contains stays."""
    use = of(path)
    if use is not None:
        _change(path, use)


def removed(path: str) -> None:
    """It is being taken away, or moved."""
    linked(path)
    use = of(path)
    if use is not None:
        _change(path, use)
        use.own = True
        use.fresh = False


def made(path: str, needed: bool, random: bool) -> None:
    """A folder is being made. `needed`: only if it isn't there; `random`: by a name of no use."""
    absent = signatures.state(path) is None
    use = of(path) if random or (needed and absent) else looked(path)
    if use is not None and absent:
        needed = needed and use.looked is None  # it was seen that it wasn't there
        _change(path, use)
        use.own = use.fresh = use.own or not needed


def _change(path: str, use: Use) -> None:
    if use.written is None:
        use.written = now()
    unsettled.add(path)
