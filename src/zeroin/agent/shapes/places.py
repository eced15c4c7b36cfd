"""What each place has seen: a look costs little where it sees what it saw before.

A look remembers the type of the last value and its quick reading. As long as both are the same
it only counts. Arrays are looked at each time, so that the one last, smaller batch is not missed;
containers, which take longer, less and less often while they stay the same; ints until they have
proved to be counters; other values never again.
"""

from __future__ import annotations

from . import arrays, kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

MOST = 64  # forms of a place; further ones are told as ranges
NUMBERS = 6  # different ints at a place, after which it is a counter
OBJECTS = 16  # calls of a method in which the object's own sizes are looked for
LOOK = "look"
OTHER = ("o",)
PATIENCE = ((4096, 255), (512, 31), (64, 7))  # so often the same: one of so many is looked at


class Slot:
    """The forms of one place, each with how often it was seen."""

    __slots__ = ("_changes", "_numbers", "_same", "_turn", "forms", "take", "tell", "wide")

    def __init__(self, tell: Callable[[Any], None]) -> None:
        self.forms: dict[Any, int] = {}
        self.wide: dict[Any, Any] = {}  # beyond MOST: rank and type → a form with ranges
        self.tell = tell  # of a new form
        self.take: Callable[[], None] = _nothing  # counts what the look has counted
        self._changes = self._numbers = self._same = self._turn = 0

    def __reduce__(self) -> Any:
        """Functions that are sent by value take their looks along, which see nothing there.

        What is made there has a `look` that gives back what it is given, without any code of ours.
        """
        from functools import partial
        from types import SimpleNamespace
        from typing import cast

        return SimpleNamespace, (), {LOOK: partial(cast, None)}

    def see(self, value: Any) -> tuple[Any, Any, Any]:
        """Note the form of a value; give it, its quick reading, and how to read the next one."""
        describe, quick = kinds.reading(type(value))
        found = describe(value)
        if found is None:
            self.note(OTHER)
        if found is None or found is arrays.UNSEEN:
            return None, None, describe if kinds.is_container(describe) else quick
        self.note(found)
        if found[0] == "i":
            self._numbers += 1
            return found, value, None if self._numbers > NUMBERS else quick
        if quick is not None:
            return found, quick(value), quick
        if found[0] == "n":  # the names of an object don't change
            return None, None, None
        if kinds.is_container(describe):
            self._same = self._turn = 0
            return found, found, lambda one: self._again(one, describe, found)
        return found, found, describe

    def note(self, found: Any) -> None:
        """Count a form; too many of them become ranges."""
        if found in self.forms:
            self.forms[found] += 1
        elif len(self.forms) < MOST:
            self.forms[found] = 1
            self.tell(found)
        elif found[0] in "ap":
            self._widen(found)

    def _widen(self, found: Any) -> None:
        """Told when the number of changes has doubled: it may grow by one a million times."""
        rank = ("a", len(found[1]), *found[2:]) if found[0] == "a" else found[:2]
        before = self.wide.get(rank)
        wider = found if before is None else _joined(before, found)
        if wider != before:
            self.wide[rank] = wider
            self._changes += 1
            if not self._changes & (self._changes - 1):
                self.tell(wider)

    def _again(self, value: Any, describe: Any, last: Any) -> Any:
        """Read a container, or believe that it is like the one before."""
        self._turn += 1
        for often, mask in PATIENCE:
            if self._same >= often:
                if self._turn & mask:
                    return last
                break
        self._same += 1
        return describe(value)


def _joined(one: Any, other: Any) -> Any:
    if one[0] == "p":
        return ("p", one[1], kinds.widest(one[2], other[2]))
    return ("a", tuple(map(kinds.widest, one[1], other[1])), *one[2:])


def _nothing() -> None:
    """Until there is a look."""


_METHOD: Any = type(Slot(lambda _: None).note)


def look(slot: Slot) -> Callable[[Any], Any]:
    """The look itself: given a value, gives it back. A method of the slot, so it can be sent."""
    kind: Any = slot  # which no type is
    read: Any = None
    last: Any = None
    form: Any = None
    hits = 0

    def at(_: Any, value: Any) -> Any:
        nonlocal kind, read, last, form, hits
        if type(value) is kind:
            if read is None:
                return value
            if read(value) == last:
                hits += 1
                return value
        try:
            take()
            form, last, read = slot.see(value)
            kind = type(value)
        except Exception:  # what can't be read is not looked at again; the program goes on
            kind, read = type(value), None
        return value

    def take() -> None:
        nonlocal hits
        if hits and form in slot.forms:
            slot.forms[form] += hits
        hits = 0

    slot.take = take
    at.__name__ = LOOK
    made: Callable[[Any], Any] = _METHOD(at, slot)
    return made


def attribute_look(slot: Slot, name: str) -> Callable[[Any], Any]:
    """A look that is given an object, and looks at what it keeps under a name."""
    from ..summary import objects

    inner = look(slot)

    def at(_: Any, value: Any) -> Any:
        try:
            held = objects.instance_dict(value)
            found = held.get(name)
            for parts in ("_parameters", "_buffers"):  # where models of torch keep them
                if found is None and type(held.get(parts)) is dict:
                    found = held[parts].get(name)
        except Exception:
            return value
        inner(found)
        return value

    at.__name__ = LOOK
    made: Callable[[Any], Any] = _METHOD(at, slot)
    return made


def self_look(slot: Slot) -> Callable[[Any], Any]:
    """A look at the object of a method, for the ints that it keeps; a few times only."""
    left = OBJECTS

    def at(_: Any, value: Any) -> Any:
        nonlocal left
        if left:
            left -= 1
            try:
                found = kinds.own_names(value)
                if found is not None:
                    slot.note(found)
            except Exception:
                left = 0
        return value

    at.__name__ = LOOK
    made: Callable[[Any], Any] = _METHOD(at, slot)
    return made
