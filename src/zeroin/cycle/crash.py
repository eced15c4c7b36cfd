"""`Crash`: an exception that ended something, as the agent told it or as it was printed."""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Comprehensions had frames of their own before 3.12; a failure is the same on both. A lambda
# is told by the function it is used in.
INLINED = frozenset(("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>", "<lambda>"))


class Frame(NamedTuple):
    """One line of a traceback. `owner` is "user", "package" or "stdlib"."""

    file: str
    line: int
    name: str
    owner: str = "user"
    main: bool = True  # in the script itself, rather than in a module it imported
    method_of: str = ""  # the class, where it is known

    @property
    def label(self) -> str:
        """The function's name, with its class; for code at the top of a module, the module's."""
        if self.name == "<module>" and not self.main:
            return f"<module {module_of(self.file)}>"
        return f"{self.method_of}.{self.name}" if self.method_of else self.name


def telling(frames: Sequence[Frame]) -> Frame | None:
    """The innermost frame that tells most: the user's, else a package's, else none."""
    for wanted in ("user", "package"):
        mine = [frame for frame in frames if frame.owner == wanted]
        for frame in reversed(mine):
            if frame.name not in INLINED:
                return frame
        if mine:
            return mine[-1]
    return None


class Spot(NamedTuple):
    """Where an exception was raised, whatever it says and whatever it was caused by."""

    type: str
    function: str  # the user's innermost one
    importing: str = ""  # the package's module whose import failed
    line: str = ""  # `shop.py:12`, of the user's file; for code that stays as it is

    @property
    def in_function(self) -> Spot:
        """For code whose lines move."""
        return self._replace(line="")


def spot_of(crash: Crash) -> Spot | None:
    """Where the last exception of a chain was raised; None if no function is known.

    A package that can't be imported fails in the user's line that imports it, as what is missing
    from it does: the one is nothing but broken, so its module tells the two apart.
    """
    frames, where = crash.last.frames, crash.last.where()
    if where is None:
        return None
    behind = frames[len(frames) - frames[::-1].index(where) :]
    modules = [one for one in behind if one.name == "<module>" and one.owner == "package"]
    importing = module_of(modules[-1].file) if modules and where.owner == "user" else ""
    line = f"{where.file.rpartition('/')[2]}:{where.line}" if where.owner == "user" else ""
    return Spot(crash.last.type, where.label, importing, line)


def module_of(file: str) -> str:
    """`src/model.py` → model, `pkg/__init__.py` → pkg."""
    folder, _, name = file.rpartition("/")
    stem = name.rpartition(".")[0] or name
    return folder.rpartition("/")[2] if stem == "__init__" else stem


class Link(NamedTuple):
    """One exception of a chain; a group holds the chains of its members."""

    type: str
    message: str
    frames: tuple[Frame, ...] = ()
    group: tuple[tuple[Link, ...], ...] = ()

    def where(self) -> Frame | None:
        """The frame that tells most."""
        return telling(self.frames)

    def users_functions(self) -> tuple[str, ...]:
        """All functions of the user's own on the way, repeats of a recursion folded."""
        names = [f.label for f in self.frames if f.owner == "user" and f.name not in INLINED]
        return tuple(dict.fromkeys(names))


class Crash(NamedTuple):
    """A chain of exceptions, the first cause first, the one that ended it last."""

    chain: tuple[Link, ...]
    pid: int = 0
    time: float = 0.0
    fatal: bool = True  # it ended the process (a thread's or a test's does not)
    test: str = ""

    @property
    def last(self) -> Link:
        """The exception that was not caught."""
        return self.chain[-1]

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> Crash:
        """Read what the agent sent."""
        return cls(
            chain=_chain(message["chain"]),
            pid=message["pid"],
            time=message.get("time", 0.0),
            fatal=bool(message.get("fatal", True)),
            test=message.get("test", ""),
        )


def _chain(links: list[Mapping[str, Any]]) -> tuple[Link, ...]:
    return _without_remote(tuple(_link(link) for link in links))


def _link(link: Mapping[str, Any]) -> Link:
    frames = tuple(
        Frame(
            f["file"],
            f["line"],
            f["name"],
            f["owner"],
            f.get("module") == "__main__",
            f.get("class", ""),
        )
        for f in link["frames"]
    )
    message = link["message"]
    syntax = link.get("syntax")
    if syntax:
        message = syntax["message"]
        if syntax["file"]:
            # No frame stands in a file that can't be compiled: it is named all the same.
            name = f"<{module_of(syntax['file'])}>"
            frames = (*frames, Frame(syntax["file"], syntax["line"], name))
    group = tuple(_chain(member) for member in link.get("group", ()))
    return Link(link["type"], message, frames, group)


def _without_remote(chain: tuple[Link, ...]) -> tuple[Link, ...]:
    """Fold in tracebacks that workers sent as text.

    `concurrent.futures` and `multiprocessing` raise the worker's exception anew and hang the
    printed traceback on it as a cause that never was one; torch puts it into the message.
    """
    from zeroin.cycle.printed import START, frames_of

    kept: list[Link] = []
    remote: tuple[Frame, ...] = ()
    for link in chain:
        if link.type in ("_RemoteTraceback", "RemoteTraceback"):
            remote = frames_of(link.message)
            continue
        if START in link.message:
            remote += frames_of(link.message)
        kept.append(link._replace(frames=link.frames + remote))
        remote = ()
    return tuple(kept) or chain
