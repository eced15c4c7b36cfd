"""Finding secrets in text, and masking them: the one masker of driver and agent.

Three things give a secret away: that its value is *known* (a variable of the environment, a word
of the command line), the *name* before it (`password=…`, `Authorization: …`, `--token …`), and its
own *form* (`ghp_…`, a private key, the password in an address). Each rule gives spans of the text;
a *hide* then says what stands in their place.
"""

from __future__ import annotations

import os

from .names import (
    BEGINNINGS,
    LONGEST_NAME,
    NAME_STEMS,
    SHORT,
    is_secret,
    is_secret_name,
    is_secret_variable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Callable

    Hide = Callable[[str], str]

__all__ = [
    "LONGEST",
    "LONGEST_NAME",
    "MASK",
    "SHORTEST",
    "find_in_bytes",
    "find_secrets",
    "forms_of",
    "holds_secret",
    "is_secret",
    "is_secret_name",
    "is_secret_variable",
    "list_secrets",
    "mask",
    "mask_forms",
    "mask_found",
    "mask_head",
    "mask_words",
    "of_environment",
    "replace_spans",
]

MASK = "<secret>"
SHORTEST = 6  # a shorter text would be masked inside innocent words
LONGEST = 1000  # more of a secret than this is never shown, so more is never looked for

# A text without any of these in small letters holds no secret that a rule would find: what names
# are made of, and the flags of tools; and how tokens begin.
_STEMS = (
    *NAME_STEMS,
    *("://", "@", "basic ", "-----begin", "login", "'-", '"-', " -p", " -u", " -a ", " -w "),
    *(" -n ", " -k ", " -x ", " -b ", " -c ", " -hp", "sqlplus", " /p:", " --user"),
)
_LONG_WORD = b"a" * 14  # in a text with an `a` for every character that tokens are made of
_DOTTED_WORD = 50  # characters of a bot's token, which has no beginning of its own
MOST_SHAPES = 20_000
SHORT_LINE = 24  # bytes
FEW = 50  # kinds of lines that are looked at one by one
LONGEST_SHAPE = 2000  # characters of a line that is remembered

_tables: list[bytes] = []  # small letters with 0 for digits; `a` for what tokens are made of
_clean_shapes: set[bytes] = set()  # lines in which nothing was found, with 0 for each digit


def find_secrets(text: str) -> list[tuple[int, int]]:
    """Give where secrets stand that their name or their form gives away."""
    if len(text) > SHORT:
        return _find_in_block(text, text.encode("ascii", "replace"))
    data = text.encode("ascii", "replace")
    if not _may_hold_secret(data.lower().translate(_get_tables()[0])):
        return []
    from . import rules

    return rules.find_spans(text)


def holds_secret(text: str) -> bool:
    """Whether the text gives a secret away; short words are answered at once."""
    if len(text) < len(_LONG_WORD) and not any(char in text for char in "=:@-"):
        return False
    return bool(find_secrets(text))


def find_in_bytes(data: bytes) -> list[tuple[int, int]]:
    """Likewise in output as a program wrote it."""
    low = data.lower()
    # Many short lines are not told apart one by one, unless there is a reason to.
    if len(data) < SHORT_LINE * low.count(b"\n") and not _may_hold_secret(low, is_block=True):
        return []
    return _find_in_block(data.decode("latin-1"), low)


def _get_tables() -> list[bytes]:
    if not _tables:
        made = bytes(48 if 48 <= code <= 57 else code for code in range(256))
        parts = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789_.-ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        _tables[:] = [made, bytes(97 if code in parts else 32 for code in range(256))]
    return _tables


_stems: list[tuple[bytes, ...]] = []


def _may_hold_secret(low: bytes, *, is_block: bool = False) -> bool:
    """Whether a rule could find something in small letters: most text is done with here."""
    if not _stems:
        _stems[:] = [tuple(one.encode() for one in group) for group in (_STEMS, BEGINNINGS)]
    for stem in _stems[0]:
        if stem in low:
            return True
    words = low.translate(_get_tables()[1])
    if _LONG_WORD not in words:
        return False
    if is_block or b"a" * _DOTTED_WORD in words:
        return True
    return any(beginning in low for beginning in _stems[1])


def _find_in_block(text: str, data: bytes) -> list[tuple[int, int]]:
    """Look at the lines of a long text, at those that differ in digits alone only once."""
    from . import rules

    new: dict[bytes, list[int]] = {}  # where the lines begin that were not seen before
    at = 0
    for shape in data.lower().translate(_get_tables()[0]).split(b"\n"):
        if shape not in _clean_shapes:
            found = new.get(shape)
            if found is None:
                new[shape] = [at]
            else:
                found.append(at)
        at += len(shape) + 1
    suspects = {shape: new[shape] for shape in _list_suspects(list(new))}
    guilty = _find_suspects(text, suspects)
    lines = [(start, start + len(shape)) for shape in guilty for start in suspects[shape]]
    spans = _find_in_lines(text, sorted(lines))
    for shape in new.keys() - guilty:
        _remember_clean(shape)
    if b"-----begin" in data.lower():
        spans += rules.find_key_blocks(text)
    return rules.merge_spans(spans)


def _list_suspects(shapes: list[bytes]) -> list[bytes]:
    """Give the kinds of lines that may hold something: each stem is looked for in all at once."""
    if len(shapes) < FEW:
        return [shape for shape in shapes if _may_hold_secret(shape)]
    from bisect import bisect_right

    joined = b"\n".join(shapes)
    begins, at = [], 0
    for shape in shapes:
        begins.append(at)
        at += len(shape) + 1
    begins.append(at)
    found: set[int] = set()
    dotted = b"a" * _DOTTED_WORD
    words = joined.translate(_get_tables()[1])  # line ends are none of a word's characters
    wanted = [(joined, one) for one in (*_STEMS, *BEGINNINGS)]
    for where, stem in [*((text, one.encode()) for text, one in wanted), (words, dotted)]:
        at = where.find(stem)
        while at >= 0:
            number = bisect_right(begins, at) - 1
            found.add(number)
            at = where.find(stem, begins[number + 1])
    return [shapes[number] for number in sorted(found) if _may_hold_secret(shapes[number])]


def _find_suspects(text: str, suspects: dict[bytes, list[int]]) -> set[bytes]:
    """Tell which kinds of lines hold something, by the first line of each."""
    first = {starts[0]: shape for shape, starts in suspects.items()}
    lines = sorted((start, start + len(shape)) for start, shape in first.items())
    guilty = {first[start] for start, _ in _find_lines(text, lines)}
    # Whether a word in Base64 is a name and a password, its digits say.
    return guilty | {shape for shape in suspects if b"basic " in shape}


def _find_in_lines(text: str, lines: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [span for _, span in _find_lines(text, lines)]


def _find_lines(text: str, lines: list[tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    """Give the secrets in some lines, each with where its line begins."""
    from bisect import bisect_right

    from . import rules

    begins, at = [], 0  # of each line in all of them joined
    for start, end in lines:
        begins.append(at)
        at += end - start + 1
    found = []
    for start, end in rules.find_spans("\n".join([text[start:end] for start, end in lines])):
        number = bisect_right(begins, start) - 1
        shift = lines[number][0] - begins[number]
        found.append((lines[number][0], (start + shift, min(end + shift, lines[number][1]))))
    return found


def _remember_clean(shape: bytes) -> None:
    if len(shape) > LONGEST_SHAPE:
        return
    if len(_clean_shapes) >= MOST_SHAPES:
        _clean_shapes.clear()
    _clean_shapes.add(shape)


def mask_found(text: str, hide: Hide | None = None) -> str:
    """Replace the secrets that their name or their form gives away."""
    return replace_spans(text, find_secrets(text), hide)


def replace_spans(text: str, spans: list[tuple[int, int]], hide: Hide | None = None) -> str:
    """Put what `hide` gives, or the plain mask, in the place of each span."""
    if not spans:
        return text
    parts, at = [], 0
    for start, end in spans:
        parts += [text[at:start], MASK if hide is None else hide(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def mask_words(words: Sequence[str], hide: Hide | None = None) -> list[str]:
    """Replace the secrets in the words of a command."""
    whole = f" {' '.join(words)} ".encode("ascii", "replace").lower()
    if not _may_hold_secret(whole.translate(_get_tables()[0])):
        return list(words)
    from . import commands, rules

    hidden: dict[int, list[tuple[int, int]]] = {}
    for number, span in commands.find_in_words(words):
        hidden.setdefault(number, []).append(span)
    return [
        replace_spans(word, rules.merge_spans([*hidden.get(number, []), *find_secrets(word)]), hide)
        for number, word in enumerate(words)
    ]


def list_secrets(text: str) -> list[str]:
    """Give the secrets in a text: what else is looked for, once it is known."""
    return [text[start:end] for start, end in find_secrets(text)]


# --- known values ---------------------------------------------------------------------------


def of_environment(environ: Mapping[str, str]) -> list[str]:
    """List the secret values of an environment that are long enough to be told from words."""
    found: list[str] = []
    for name, value in environ.items():
        if is_secret_variable(name) or is_secret(name, value):
            if not _is_file(value):
                found.append(value)
        elif value:
            found += list_secrets(value)
    return list(dict.fromkeys(one for one in found if len(one) >= SHORTEST))


def mask(text: str, secrets: Iterable[str]) -> str:
    """Replace every known secret in a text, also where `repr` has escaped it, and those found."""
    return mask_found(mask_forms(text, forms_of(secrets)))


def forms_of(secrets: Iterable[str]) -> list[str]:
    """Give the texts to look for, the longest first: one secret may hold another."""
    heads = {secret[:LONGEST] for secret in secrets if len(secret) >= SHORTEST}
    heads.update([repr(head)[1:-1] for head in heads])
    heads -= {head for head in heads if head in MASK}  # or the mask itself would be masked
    return sorted(heads, key=lambda head: (-len(head), head))


def mask_forms(text: str, forms: list[str]) -> str:
    """Replace texts to look for that were made before."""
    for form in forms:
        text = text.replace(form, MASK)
    return text


def mask_head(text: str, forms: list[str]) -> str:
    """Mask a text that was cut at its end: the beginning of a secret may be left there."""
    text = mask_forms(text, forms)
    for form in forms:
        for length in range(min(len(form) - 1, len(text)), 2, -1):
            if text.endswith(form[:length]):
                return text[:-length] + MASK
    return text


def _is_file(text: str) -> bool:
    """Whether it only says where a secret is, as SSH_AUTH_SOCK does."""
    return text.startswith("/") and os.path.lexists(text)
