"""`peek(x, y.shape, f(z))`: what these are, here and now, on stderr; and it returns them.

Each value is told by the one summariser, with the text of its expression before it, so that
`peek(...)` can be put around any expression of a program, and left there: it never raises,
never takes long, and is silent where `ZEROIN_PEEK=off` says so.
"""

from __future__ import annotations

import os
import sys
import time

from .. import summary
from ..common import secrets
from ..summary import text
from . import calls, out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WIDTH = 120  # characters that may stand on one line; more expressions get a line each
SITES = 4096  # places that are remembered; code that is made anew each time would fill memory
SHORT = 100  # characters of a text that is shown as it is

_BOLD, _DIM, _RED, _END = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"


class Site:
    """A place in the program where `peek` is called, and how its arguments are written."""

    __slots__ = ("arguments", "code", "head", "names", "only", "plain", "secret", "texts")

    def __init__(self, frame: Any) -> None:
        self.code = frame and frame.f_code  # kept, so that no other gets its id
        self.head = calls.place(frame) if frame else "called by Python itself"
        self.arguments = calls.arguments(frame) if frame else None
        self.texts: list[str | None] = []
        self.names: list[str] = []
        for one in self.arguments or ():
            self.texts.append(None if one.mark else one.text)
            self.names.append(one.name)
        starred = any(one.starred for one in self.arguments or ())
        self.plain = not starred and self.arguments is not None
        self.secret = any(map(secrets.is_secret_name, self.names))
        # `peek(x)` of a name that keeps no secret: the usual one, and the quick way.
        usual = self.plain and len(self.texts) == 1 and self.texts[0] and not self.secret
        self.only = f"{self.head}  {self.texts[0]} = " if usual else None

    def titles(self, count: int) -> tuple[list[str | None], list[str]]:
        """Give the text of each value, None for a mark, and the names that tell a secret."""
        if self.arguments is None:
            return [None] * count, [""] * count
        if self.plain:
            if len(self.texts) == count:
                return self.texts, self.names
            return [None] * count, [""] * count
        return self._spread(count)

    def _spread(self, count: int) -> tuple[list[str | None], list[str]]:
        """`peek(*xs)`: each is an element of `xs`, if there is only one such argument."""
        arguments = self.arguments or []
        many = count - len(arguments) + 1
        if sum(one.starred for one in arguments) > 1 or many < 0:
            return [None] * count, [""] * count
        texts: list[str | None] = []
        names: list[str] = []
        for one in arguments:
            if one.starred:
                texts += [f"{one.text}[{at}]" for at in range(many)]
                names += [one.name] * many
            else:
                texts.append(None if one.mark else one.text)
                names.append(one.name)
        return texts, names


class Peek:
    """The function itself, with its few switches."""

    def __init__(self) -> None:
        self._on = out.is_on()
        self._sites: dict[tuple[int, int], Site] = {}
        self._paints: tuple[Any, bool] = (None, False)  # for which stderr

    def __call__(self, *values: Any, **named: Any) -> Any:
        """Print what the values are, and return them: one as it is, several as a tuple."""
        if self._on:
            try:
                out.not_compiled()
                self._show_here(values, named)
            except Exception:  # a look must never be what fails
                pass
        if named:
            values = (*values, *named.values())
        return values[0] if len(values) == 1 else values or None

    def off(self) -> None:
        """Say nothing from now on; the values are returned as ever."""
        self._on = False

    def on(self) -> None:
        """Speak again."""
        self._on = True

    def to(self, path: Any) -> None:
        """Write to this file from now on, at its end, or to a stream; None or "-" for stderr."""
        out.lines.to(path, "peek.to")

    def from_frame(self, frame: Any, values: Any, named: Any) -> Any:
        """The same for a call that another function passes on."""
        if self._on:
            try:
                self._show(frame, values, named)
            except Exception:
                pass
        values = (*values, *named.values())
        return values[0] if len(values) == 1 else values or None

    def __repr__(self) -> str:
        return "<function zeroin.peek>"

    def __reduce__(self) -> str:
        return "peek"

    # --- showing -----------------------------------------------------------------------------

    @out.not_traced
    def _show_here(self, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        self._show(sys._getframe(1).f_back, values, named)

    def _show(self, frame: Any, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        # No frame: the interpreter itself calls, as `atexit` has it do.
        code, at = (None, 0) if frame is None else (frame.f_code, frame.f_lasti)
        site = self._sites.get((id(code), at))
        if site is None or site.code is not code:
            if len(self._sites) >= SITES:
                self._sites.clear()
            site = self._sites[id(code), at] = Site(frame)
        if site.only is not None and not named and len(values) == 1:
            told = _at_once(values[0])
            if told is not None:
                self._say(site.only, told, site)
                return
        if not values and not named:
            now = time.time()
            stamp = time.strftime("%H:%M:%S", time.localtime(now)) + f".{int(now % 1 * 1000):03d}"
            self._say(site.head + "  ", f"reached at {stamp}", site)
            return
        self._say_all(site, values, named)

    def _say_all(self, site: Site, values: tuple[Any, ...], named: dict[str, Any]) -> None:
        texts, names = site.titles(len(values))
        texts, names = [*texts, *named], [*names, *named]
        everything = [*values, *named.values()]
        told = _tell(everything, names, texts)
        parts = [one if title is None else f"{title} = {one}" for title, one in zip(texts, told)]
        line = " · ".join(parts)
        if len(parts) > 1 and len(site.head) + len(line) > WIDTH:
            self._say(site.head, "".join(f"\n  {part}" for part in parts), site)
        else:
            self._say(site.head + "  ", line, site)

    def _say(self, head: str, rest: str, site: Site) -> None:
        who = out.label()
        plain = who + head + rest
        if self._painted():
            where = site.head
            rest = rest.replace("✗", f"{_RED}✗{_END}{_BOLD}")
            painted = f"{who}{_DIM}{where}{_END}{head[len(where) :]}{_BOLD}{rest}{_END}"
            out.say(plain, painted)
        else:
            out.say(plain)

    def _painted(self) -> bool:
        """Ask the terminal once for each stderr: that costs a call of the kernel."""
        stream = sys.stderr
        if self._paints[0] is not stream:
            self._paints = (stream, out.lines.paints())
        return self._paints[1] and out.lines.is_stderr()


def _at_once(value: Any) -> str | None:
    """Tell what needs no looking at: small numbers, and short text without a secret."""
    if type(value) is str:
        plain = len(value) <= SHORT and value.isprintable() and not _holds_secret(value)
        return repr(value) if plain else None
    return summary.at_once(value)


def _tell(values: list[Any], names: list[str], texts: list[str | None]) -> list[str]:
    told: list[str | None] = []
    for value, name, title in zip(values, names, texts):
        if title is None and type(value) is str and not _holds_secret(value[:1000]):
            told.append(text.fit(text.escaped(value[:1000]), summary.LENGTH))  # a mark
        else:
            told.append(None if secrets.is_secret_name(name) else _at_once(value))
    left = [(names[at], values[at]) for at, one in enumerate(told) if one is None]
    if left:
        rest = iter(summary.summarise_all(left, secrets=_hidden(), signs=True))
        return [next(rest) if one is None else one for one in told]
    return [one for one in told if one is not None]


_forms: tuple[list[str], list[str]] | None = None


def _known() -> tuple[list[str], list[str]]:
    """Give the secrets of the environment as it was at the first peek, and how they look."""
    global _forms  # noqa: PLW0603 - one environment a process
    if _forms is None:
        hidden = secrets.of_environment(os.environ)
        _forms = (hidden, secrets.forms_of(hidden))
    return _forms


def _hidden() -> list[str]:
    return _known()[0]


def _holds_secret(value: str) -> bool:
    return any(form in value for form in _known()[1]) or secrets.holds_secret(value)


peek = Peek()
