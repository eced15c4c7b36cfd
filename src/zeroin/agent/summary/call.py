"""One line about any value, whatever it is: the one summariser of crashes, peeks and shapes.

A *summary* says what helps to find an error: the type, the size, the first elements, the
shape and the numbers of an array. It costs milliseconds and a few MB for a list of ten
million or an array of 2 GB, and no code of the value's class is run in this process.

All values of a *call* are looked at first; those that only their own `__repr__` can tell
are *asked*, all together, in a forked child; then the summaries that wait for an answer,
as that of a list of such objects does, are made again.
"""

from __future__ import annotations

import sys
import time

from ..common import secrets
from . import arrays, holders, objects, samples, text, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Callable

    Reader = Callable[["Call", "View", Any], "str | None"]

LENGTH = 200  # characters of one summary
CHARACTERS = (170, 60, 30)  # of a text, by depth: 0 is the value itself, 1 what it holds
BEYOND = 400  # characters of a text that are looked at, but not shown
ASKED = 64  # objects whose own repr is run
LOOKING = 0.6  # the part of the time that looking may take; the rest is for asking


def summarise(value: Any, name: str = "", signs: bool = False) -> str:
    """Summarise one value; its name tells whether it is a secret."""
    return summarise_all([(name, value)], signs=signs)[0]


def summarise_all(
    items: Iterable[tuple[str, Any]],
    seconds: float = 0.15,
    secrets: Iterable[str] = (),
    signs: bool = False,
    learned: set[str] | None = None,
) -> list[str]:
    """Summarise named values in one line each. The secrets are masked wherever they turn up.

    Numbers of arrays are told by `signs` in a line that is read now, else in words. Secrets that
    the values gave away by their names are added to `learned`.
    """
    call = Call(seconds, secrets, signs)
    views = [View(value, name) for name, value in items]
    for view in views:
        call.learn(view.name, view.value)
    for view in views:
        call.look(view)
    call.ask()
    told = [call.finish(view) for view in views]
    if learned is not None:
        learned.update(call.secrets)
    return told


def at_once(value: Any) -> str | None:
    """Tell what needs no looking at, and can hold no secret; None for all else."""
    kind = type(value)
    if kind is int:
        return repr(value) if -(1 << 64) < value < 1 << 64 else None
    return repr(value) if value is None or kind is float or kind is bool else None


class View:
    """One value as it is being told: what it really is, under which name, how deep it lies."""

    __slots__ = ("classes", "depth", "hide", "name", "title", "told", "value", "waits")

    def __init__(self, value: Any, name: Any = "", depth: int = 0, hide: bool = False) -> None:
        self.value = value
        self.name = _as_name(name)
        self.depth = depth
        self.hide = hide or secrets.is_secret_name(self.name)  # mask the texts in it
        self.classes = objects.classes_of(value)
        self.title = objects.name_of(self.classes[0])
        self.told = ""
        self.waits = False  # for an object that has to be asked


class Call:
    """What is known during one call: summaries made, objects to ask, secrets seen."""

    def __init__(self, seconds: float, hidden: Iterable[str], signs: bool = False) -> None:
        self.seconds = seconds
        self.forms_of_arrays = (samples.Form(True, signs), samples.Form(False, signs))
        self.begin = time.monotonic()
        self.secrets = {secret for secret in hidden if type(secret) is str}
        self.forms = secrets.forms_of(self.secrets)
        self.readers = _readers()
        # By id; the value is kept beside, so that its id is not given to another meanwhile.
        self.looked_at: dict[int, View] = {}
        self.asked: dict[int, View] = {}
        self.answers: dict[int, str] | None = None  # until they were asked
        self.unanswered = 0
        self.within: set[int] = set()

    # --- the steps -----------------------------------------------------------------------

    def look(self, view: View) -> None:
        """Summarise a value, and tell whether that waits for an object to be asked."""
        seen = self.looked_at.get(id(view.value))
        if seen is not None and seen.hide == view.hide:
            view.told, view.waits = seen.told, seen.waits
        elif self.spent() > LOOKING:
            view.told = f"<{view.title}: not looked at, time was up>"
        else:
            self.looked_at[id(view.value)] = view
            before = self.unanswered
            view.told = self.attempt(view)
            view.waits = self.unanswered > before

    def ask(self) -> None:
        """Run the reprs that are needed, those of the values themselves first."""
        self.answers = {}
        wanted = sorted(self.asked.values(), key=lambda view: view.depth)[:ASKED]
        if wanted:
            from . import reprs

            left = max(0.0, self.seconds * (1 - self.spent()))
            told = reprs.run([view.value for view in wanted], left)
            pairs = zip(wanted, told)
            self.answers = {id(view.value): one for view, one in pairs if one is not None}

    def finish(self, view: View) -> str:
        """Make a summary that waits with the answers, if there is time, and bring it into form."""
        told = view.told
        if view.waits and (self.answer(view) is not None or self.spent() < 2 - LOOKING):
            told = self.attempt(view)
        told = secrets.mask_found(secrets.mask_forms(told, self.forms))
        return text.fit(text.escaped(told), LENGTH)

    def spent(self) -> float:
        """Give the part of the time that is over."""
        return (time.monotonic() - self.begin) / (self.seconds or 1e-9)

    # --- one value -----------------------------------------------------------------------

    def attempt(self, view: View) -> str:
        """Summarise, come what may: a value that we fail on is told by its type."""
        try:
            return self.tell(view)
        except BaseException:  # of a library's making, or we are at the end of the stack
            return f"<{view.title} object>"

    def inside(self, outer: View, value: Any, name: Any = "", is_key: bool = False) -> str:
        """Summarise what a value holds; the keys of a secret dict are names and are shown."""
        told = at_once(value)
        if told is not None:
            return told
        self.learn(name, value)
        return self.attempt(View(value, name, outer.depth + 1, outer.hide and not is_key))

    def tell(self, view: View) -> str:
        """Summarise a value, unless it is hidden or being told already further out."""
        if self.is_hidden(view):
            return secrets.MASK
        if id(view.value) in self.within:
            return "<itself>"
        self.within.add(id(view.value))
        try:
            return self.by_kind(view)
        finally:
            self.within.discard(id(view.value))

    def by_kind(self, view: View) -> str:
        """Find out how a value can be told."""
        told: str | None = None
        if id(view.classes[0]) not in self.readers:
            form = self.forms_of_arrays[view.depth > 0]
            told = arrays.describe(view.value, view.classes, form)
            told = told or holders.member(self, view) or holders.record(self, view)
        if told is None:
            for cls in view.classes:
                reader = self.readers.get(id(cls))
                if reader is not None:
                    told = reader(self, view, cls)
                    break
        if told is None and holders.is_plain(view):
            told = holders.attributes(self, view)
        return self.by_itself(view) if told is None else told

    def by_itself(self, view: View) -> str:
        """Use what the object said of itself, or note that it must be asked."""
        if view.hide:  # it might say its secret
            return holders.attributes(self, view)
        if self.answers is None:
            for name, held in objects.attributes(view.value):
                self.learn(name, held)
            self.asked.setdefault(id(view.value), view)
            self.unanswered += 1
            return f"<{view.title} object>"
        answer = self.answer(view)
        if answer is None:
            return holders.attributes(self, view)
        answer = text.one_line(secrets.mask_head(answer, self.forms))
        return text.fit(text.without_addresses(answer), _length(view) if view.depth else LENGTH)

    def answer(self, view: View) -> str | None:
        """Give what the object said when it was asked."""
        return (self.answers or {}).get(id(view.value))

    # --- texts ---------------------------------------------------------------------------

    def learn(self, name: Any, value: Any) -> None:
        """Remember a secret that is held under its name: it may turn up in other texts."""
        base = _text_base(value)
        if base is not None:
            head = _head(value, base, secrets.LONGEST)
            if head not in self.secrets and secrets.is_secret(_as_name(name), head):
                self.secrets.add(head)
                self.forms = secrets.forms_of(self.secrets)

    def is_hidden(self, view: View) -> bool:
        """Whether a value is a secret as a whole."""
        base = _text_base(view.value)
        if base is None:
            return False
        return view.hide or secrets.is_secret(view.name, _head(view.value, base, secrets.LONGEST))

    def quote(self, view: View, base: Any) -> str:
        """Quote text or bytes, or their beginning with the whole length."""
        length, shown = base.__len__(view.value), _length(view)
        # More than is shown: of a secret that is cut, the rest might no longer look like one.
        head = _head(view.value, base, shown + BEYOND)
        head = (secrets.mask_head if length > shown else secrets.mask_forms)(head, self.forms)
        head = secrets.mask_found(head)[:shown] if length > shown else secrets.mask_found(head)
        quoted = repr(head) if base is str else repr(head.encode("latin-1"))
        if length > shown:
            return f"{view.title}({length:,}): {quoted[:-1]}…{quoted[-1]}"
        return quoted if view.title in ("str", "bytes") else f"{view.title}({quoted})"


def _length(view: View) -> int:
    return CHARACTERS[min(view.depth, len(CHARACTERS) - 1)]


def _text_base(value: Any) -> Any:
    """Give the class whose methods read a text or bytes; None for what is neither."""
    for cls in objects.classes_of(value):
        if cls is str or cls is bytes or cls is bytearray:
            return cls
    return None


def _head(value: Any, base: Any, length: int) -> str:
    """Give the beginning of a text or bytes as text."""
    head = base.__getitem__(value, slice(length))
    return head if base is str else bytes(head).decode("latin-1")


def _as_name(name: Any) -> str:
    """Give a name as plain text: the key of a dict may be of any type."""
    base = _text_base(name)
    return "" if base is None else _head(name, base, secrets.LONGEST_NAME + 1)


# --- readers -------------------------------------------------------------------------------
# A *reader* tells the values of one class and its subclasses, or returns None where only the
# value itself can. They are found by the id of the class: hashing it could run a metaclass.


def _alone(tell: Callable[[Any], str]) -> Reader:
    return lambda _call, view, _base: tell(view.value)


def _titled(tell: Callable[[Any, str, Any], str | None]) -> Reader:
    return lambda _call, view, base: tell(view.value, view.title, base)


def _unchanged(tell: Callable[[Any, str, Any], str | None]) -> Reader:
    """Read with the methods of a class in C, unless a subclass has a repr of its own."""

    def read(_: Call, view: View, base: Any) -> str | None:
        if objects.owner_of(view.classes, "__repr__") is not base or not values.is_in_c(base):
            return None
        return tell(view.value, view.title, base)

    return read


_READERS: dict[int, Reader] = {
    **{id(base): Call.quote for base in (str, bytes, bytearray)},
    **{id(base): holders.elements for base in (list, tuple, set, frozenset)},
    **{id(base): holders.span for base in (range, slice)},
    **{id(base): _titled(values.number) for base in (int, float, complex)},
    **{id(base): _alone(tell) for base, tell in values.ALONE},
    id(dict): holders.mapping,
    id(BaseException): holders.exception,
}


_found: tuple[int, dict[int, Reader]] = (0, _READERS)  # with how many modules loaded


def _readers() -> dict[int, Reader]:
    """Give all readers; those for classes of other modules are looked for when one was loaded."""
    global _found  # noqa: PLW0603 - a call for each small value must cost little
    if _found[0] != len(sys.modules):
        _found = (len(sys.modules), {**_READERS, **_late_readers()})
    return _found[1]


def _late_readers() -> dict[int, Reader]:
    """Give the readers for classes of modules that the program may have loaded."""
    late: list[tuple[str, str, Reader]] = [
        ("collections", "deque", holders.elements),
        ("functools", "partial", holders.partial),
        ("decimal", "Decimal", _unchanged(values.decimal)),
        ("pathlib", "PurePosixPath", _titled(values.path)),
    ]
    dates = ("date", "datetime", "time", "timedelta", "timezone")
    late += [("datetime", name, _unchanged(values.date)) for name in dates]
    found = ((objects.loaded(module, name), reader) for module, name, reader in late)
    return {id(cls): reader for cls, reader in found if cls is not None}
