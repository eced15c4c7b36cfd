"""A form in one line, and back: what stands in a comment is read as it was written.

    (batch=32, seq=128, 768) f32            an array; with a name, where the program has one
    (17..32, 768) bf16 cuda:0               sizes that varied; 12|32 where they were few
    3 x (5..7, 2) f32                       a list or tuple of arrays
    [(32, 10) f32, None]                    a short one, element by element
    {ids: (32, 128) i64}                    a mapping or a record
    (5,) list                               a container of other things
    (32,) f32 | (32, 1) f32                 alternatives

Several places of a line are told apart by their targets: `q, k: (32, 64) f32; mask: (32,) bool`.
A type or word that is not among those below is not written, so whatever is written can be read.
"""

from __future__ import annotations

import re

from zeroin.named import NamedTuple
from zeroin.observe.shapes.forms import Array, Dim, Each, Form, Forms, Named, Plain, Several

FEW = 3  # sizes that are told one by one
MOST = 3  # alternatives
ENTRIES = 6  # of a mapping
DTYPE = (
    r"(?:bf16|[fiuc]\d+(?:_\w+)?|qu?int\d+|bool|str|bytes|object|record|category|other"
    r"|(?:datetime|timedelta|duration)\w*(?:\[\w+\])?|date|time|period\[\w+\])"
)
WORDS = frozenset(
    {"DataFrame", "Series", "Index", "masked", "nested", "sparse", "jagged"}
    | {"csr", "csc", "coo", "bsr", "bsc", "dia", "dok", "lil"}
)
KINDS = ("list", "tuple", "set", "frozenset", "dict")
_WORD = "|".join(sorted(WORDS))
_DEVICE = r"(?:cuda|hip|xpu|xla|mps|meta|gpu|tpu|npu|hpu|mlu|vulkan|privateuseone)(?::\d+)?"
_SIZE = r"\d+(?:\.\.\d+|(?:\|\d+)+)?|\?"
_DIM = re.compile(rf"(?:([^\W\d]\w*)=)?({_SIZE})")
_AFTER = re.compile(rf" (?:({DTYPE})(?: ({_DEVICE}))?(?: ({_WORD}))?|(DataFrame))(?![\w\[(])")
_COUNT = re.compile(rf"({_SIZE}) x ")
_PLAIN = re.compile(rf" ({'|'.join(KINDS)})(?![\w\[(])")
_KEY = re.compile(r"[\w.\-]+")
_LABEL = re.compile(r"[^\W\d][\w.]*(?:\[\.\.\.\])?")


class Entry(NamedTuple):
    """What a comment says: the targets, none where there is only one, and their form."""

    labels: tuple[str, ...]
    forms: Forms
    more: bool = False  # there were further alternatives


def written(entries: list[Entry]) -> str:
    """All of a line."""
    return "; ".join(
        (f"{', '.join(one.labels)}: " if one.labels else "")
        + alternatives(one.forms)
        + " | ..." * one.more
        for one in entries
    )


def alternatives(forms: Forms) -> str:
    """One form after the other, not too many."""
    told = [form(one) for one in forms[:MOST]]
    return " | ".join(told + ["..."] * (len(forms) > MOST))


def form(one: Form) -> str:
    """A single one."""
    match one:
        case Array(dims, dtype, device, word):
            return _array(dims, dtype, device, word)
        case Several(_, length, of):
            inner = alternatives(of)
            return f"{size(length)} x " + (inner if len(of) == 1 else f"[{inner}]")
        case Each(_, of):
            return f"[{', '.join(alternatives(inner) or 'None' for inner in of)}]"
        case Named(length, entries):
            fit = [(name, inner) for name, inner in entries if _KEY.fullmatch(name)]
            told = [f"{name}: {alternatives(inner)}" for name, inner in fit[:ENTRIES]]
            return "{" + ", ".join(told + ["..."] * (length < 0 or len(entries) > len(told))) + "}"
        case Plain(kind, length):
            return f"({size(length)},) {kind}"  # no words that people write: it is taken for ours


def _array(dims: tuple[Dim, ...], dtype: str, device: str, word: str) -> str:
    inside = ", ".join((f"{dim.name}=" if dim.name else "") + size(dim) for dim in dims)
    known = re.fullmatch(DTYPE, dtype)
    words = [dtype if known else "other" if dtype or word != "DataFrame" else ""]
    words += [device if re.fullmatch(_DEVICE, device) else "", word if word in WORDS else ""]
    return " ".join([f"({inside}{',' * (len(dims) == 1)})", *filter(None, words)])


def size(dim: Dim) -> str:
    """`32`, `17..32`, `12|32`, `?`."""
    values = dim.values
    if not values:
        return "?"
    if len(values) == 1:
        return str(values[0])
    if dim.wide or len(values) > FEW or values == tuple(range(values[0], values[0] + FEW)):
        return f"{values[0]}..{values[-1]}"
    return "|".join(map(str, values))


# --- reading ----------------------------------------------------------------------------------


class _Unread(Exception):  # noqa: N818 - no error: a comment of somebody's
    """It is not one of these lines."""


def parsed(text: str) -> list[Entry] | None:
    """The entries of a line; None if it is anything else."""
    try:
        return _Reader(text).line()
    except _Unread:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def line(self) -> list[Entry]:
        entries = [self._entry()]
        while self._take("; "):
            entries.append(self._entry())
        if self.at != len(self.text):
            raise _Unread
        return entries

    def _entry(self) -> Entry:
        labels: list[str] = []
        back = self.at
        while (found := _LABEL.match(self.text, self.at)) is not None:
            self.at = found.end()
            labels.append(found[0])
            if not self._take(", "):
                break
        if not labels or not self._take(": "):
            self.at, labels = back, []
        forms, more = self._alternatives()
        if not forms:
            raise _Unread
        return Entry(tuple(labels), forms, more)

    def _alternatives(self) -> tuple[Forms, bool]:
        if self._take("None"):
            return (), False
        found = [self._form()]
        while self._take(" | "):
            if self._take("..."):
                return tuple(found), True
            found.append(self._form())
        return tuple(found), False

    def _form(self) -> Form:
        if self._take("("):
            return self._sized()
        if self._take("{"):
            return self._named()
        if self._take("["):
            return Each("list", tuple(self._each()))
        if (count := _COUNT.match(self.text, self.at)) is not None:
            self.at = count.end()
            return self._several(_dim(count[1]))
        raise _Unread

    def _several(self, length: Dim) -> Several:
        inner = self._form()
        if isinstance(inner, Each) and len(inner.of) == 1:
            return Several("list", length, inner.of[0])
        return Several("list", length, (inner,))

    def _each(self) -> list[Forms]:
        found = [self._alternatives()[0]]
        while self._take(", "):
            found.append(self._alternatives()[0])
        self._need("]")
        return found

    def _named(self) -> Named:
        found: list[tuple[str, Forms]] = []
        while not self._take("..."):
            key = _KEY.match(self.text, self.at)
            if key is None:
                raise _Unread
            self.at = key.end()
            self._need(": ")
            found.append((key[0], self._alternatives()[0]))
            if not self._take(", "):
                self._need("}")
                return Named(len(found), tuple(found))
        self._need("}")
        return Named(-1, tuple(found))

    def _sized(self) -> Array | Plain:
        dims: list[Dim] = []
        while not self._take(")"):
            found = _DIM.match(self.text, self.at)
            if found is None:
                raise _Unread
            self.at = found.end()
            dims.append(_dim(found[2])._replace(name=found[1] or ""))
            if not self._take(", "):
                if len(dims) == 1:
                    self._need(",")
                self._need(")")
                break
        plain = _PLAIN.match(self.text, self.at)
        if plain is not None and len(dims) == 1 and not dims[0].name:
            self.at = plain.end()
            return Plain(plain[1], dims[0])
        after = _AFTER.match(self.text, self.at)
        if after is None:
            raise _Unread
        self.at = after.end()
        return Array(tuple(dims), after[1] or "", after[2] or "", after[3] or after[4] or "")

    def _take(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise _Unread


def _dim(text: str) -> Dim:
    if text == "?":
        return Dim(())
    first, _, last = text.partition("..")
    if last:
        return Dim(((int(first), 1), (int(last), 1)), wide=True)
    return Dim(tuple((int(one), 1) for one in text.split("|")))
