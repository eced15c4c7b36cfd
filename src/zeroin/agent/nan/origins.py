"""Where NaN and inf came from: origins, and the trails that lead back to them.

A trail is kept by the storage of a tensor, so that all its views share it. Storages are
freed and their addresses used again: whoever writes finite numbers into one ends its trail.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST = 20_000  # trails; the oldest are forgotten


class Origin:
    """An operation that made NaN or inf of finite numbers, or data that came in with it."""

    __slots__ = (
        "about",
        "came_of",
        "forward",
        "left_out",
        "module",
        "nan",
        "number",
        "open",
        "optimized",
        "place",
        "round",
        "told",
        "used",
        "weight",
    )

    def __init__(self, number: int, nan: bool, about: dict[str, Any]) -> None:
        self.number = number
        self.nan = nan
        self.about = about  # what the report will say
        self.came_of: Origin | None = None  # the inf that a NaN was made of
        self.place: Any = None
        self.forward: Any = None  # in the backward pass: the line of the forward pass
        self.module: Any = None
        self.weight: Any = None  # that came with it
        self.open: set[int] = set()  # storages that hold it and that nothing has used yet
        self.used: dict[str, Any] | None = None  # where the program read it
        self.round = 0  # how often GradScaler had decided by then
        self.left_out = False  # of a step that GradScaler left out
        self.optimized = False  # it reached the gradient of a weight that an optimizer has
        self.told = False

    @property
    def written(self) -> bool:
        """Whether the program says inf or NaN itself: a mask, a start value."""
        return bool(self.about["kind"] == "written")

    @property
    def first(self) -> Origin:
        """The inf of which it was made, if it was made of one."""
        return self if self.came_of is None else self.came_of.first

    @property
    def backward(self) -> bool:
        """Whether it, or the inf that it was made of, was made in a backward pass."""
        return bool(self.first.about["phase"] == "backward")

    @property
    def held(self) -> bool:
        """Whether something holds it that nothing used: printed as a whole, handed to numpy.

        A gradient that its optimizer did not use was discarded on purpose.
        """
        if not self.open or self.left_out:
            return False
        return (
            not self.optimized if self.backward else self.nan and self.about["phase"] == "forward"
        )

    def note(self, key: int) -> None:
        """One more storage holds it."""
        self.open.add(key)


class Trails:
    """From storages to origins."""

    def __init__(self) -> None:
        self.known: dict[int, Origin] = {}

    def __bool__(self) -> bool:
        return bool(self.known)

    def of(self, tensor: Any) -> Origin | None:
        """Give the origin of what is in a tensor; None if nobody saw it being made."""
        key = key_of(tensor)
        return None if key is None else self.known.get(key)

    def lay(self, tensor: Any, origin: Origin) -> None:
        """From now on this tensor's storage holds what came from there."""
        key = key_of(tensor)
        if key is None:
            return
        self.known.pop(key, None)
        self.known[key] = origin
        origin.note(key)
        if len(self.known) > MOST:
            del self.known[next(iter(self.known))]

    def overwritten(self, tensor: Any, in_place: bool) -> None:
        """Finite numbers were written; a view may have covered only a part.

        In place, nobody can find it there any more; else another tensor got the room of one
        that is gone.
        """
        key = key_of(tensor)
        if key in self.known and covers(tensor):
            origin = self.known.pop(key)
            if in_place:
                origin.open.discard(key)

    def used(self, tensor: Any) -> Origin | None:
        """An operation used it; gives the origin, if it has one."""
        key = key_of(tensor)
        origin = self.known.get(key) if key is not None else None
        if origin is not None and key is not None:
            origin.open.discard(key)
        return origin


def key_of(tensor: Any) -> int | None:
    """Give the identity of a tensor's storage; None for what has none."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except Exception:  # sparse, or torch older than 2.0
        try:
            return int(tensor.data_ptr())
        except Exception:
            return None


def covers(tensor: Any) -> bool:
    """Whether a tensor is all of its storage."""
    try:
        return bool(tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes())
    except Exception:
        return True
