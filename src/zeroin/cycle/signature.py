"""`Signature`: what failed, said in a way that survives moving lines and folders.

It never holds line numbers or file names, since shrinking and bisecting move code about. It
holds the types of the chain, the user's innermost function, and the masked message.
"""

from __future__ import annotations

from enum import Enum

from zeroin.digest import digest
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from zeroin.cycle.crash import Crash, Frame, Link
    from zeroin.cycle.mask import Places

LONGEST = 600  # characters of a signature; the rest goes into a short hash


class Strength(Enum):
    """How much has to agree for two failures to be the same."""

    LOOSE = "loose"  # the type
    NORMAL = "normal"  # type, user's function, masked message
    STRICT = "strict"  # all the user's functions, and the message as it is


class Signature(NamedTuple):
    """One failure at three strengths; each is a single stable line of text."""

    loose: str
    normal: str
    strict: str

    def __str__(self) -> str:
        return self.normal

    def at(self, strength: Strength) -> str:
        """The line to compare at that strength."""
        return str(getattr(self, strength.value))

    def same(self, other: Signature | None, strength: Strength = Strength.NORMAL) -> bool:
        """Whether the other is the same failure."""
        return other is not None and self.at(strength) == other.at(strength)


def of_crash(crash: Crash, places: Places | None = None) -> Signature:
    """The signature of an exception and of what led to it."""
    return _of_chain(crash.chain, places)


def of_child(child: Signature, parent: Signature) -> Signature:
    """A worker failed, and its parent failed because of it: both tell."""
    return Signature(
        child.loose,
        cut(f"{child.normal} → {parent.loose}"),
        cut(f"{child.strict} → {parent.strict}"),
    )


def _of_chain(chain: Sequence[Link], places: Places | None) -> Signature:
    last = chain[-1]
    normal = [_normal(link, places, full=link is last) for link in chain]
    strict = [_strict(link, places) for link in chain]
    return Signature(last.type, cut(" → ".join(normal)), cut(" → ".join(strict)))


def _normal(link: Link, places: Places | None, *, full: bool) -> str:
    """A link the user's code took no part in counts by its type alone."""
    where = link.where()
    if not full and (where is None or where.owner != "user"):
        return link.type
    # Every missing key is a failure of its own, so its number is part of its name.
    is_key = link.type == "KeyError" and "\n" not in link.message
    message = _masked(link.message, places, numbers=not is_key)
    return _sentence(link, [where] if where else [], message, _members(link, places, "normal"))


def _strict(link: Link, places: Places | None) -> str:
    at = " < ".join(reversed(link.users_functions()))
    text = link.type + (f" at {at}" if at else "") + f": {' '.join(link.message.split())}"
    return text + _members(link, places, "strict")


def _sentence(link: Link, where: list[Frame], message: str, members: str) -> str:
    text = link.type
    if where:
        text += f" at {call(where[0].label)}"
    if message:
        text += f": {message}"
    return text + members


def _members(link: Link, places: Places | None, strength: str) -> str:
    """The members of a group in any order, each kind of failure once."""
    if not link.group:
        return ""
    texts = {getattr(_of_chain(chain, places), strength) for chain in link.group if chain}
    return " [" + "; ".join(sorted(texts)) + "]"


def _masked(text: str, places: Places | None, *, numbers: bool = True) -> str:
    from zeroin.cycle.mask import NOWHERE, mask  # its patterns take milliseconds to compile

    return mask(text, places or NOWHERE, numbers=numbers)


def call(name: str) -> str:
    """`forward` → `forward()`; `<module>` stays."""
    return name if name.startswith("<") else name + "()"


def of_words(
    kind: str,
    *,
    where: Iterable[str] = (),
    message: str = "",
    places: Places | None = None,
) -> Signature:
    """A failure that is no exception: a signal, a hang, an exit code, a limit."""
    at = ", ".join(call(name) for name in where)
    text = kind + (f" at {at}" if at else "")
    strict = text + (f": {' '.join(message.split())}" if message else "")
    normal = text + (f": {_masked(message, places)}" if message else "")
    return Signature(kind, cut(normal), cut(strict))


def cut(text: str) -> str:
    """Bound the length, and keep long ones apart by a hash of the whole."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… [{digest(text.encode('utf-8', 'replace'), 4)}]"
