"""Masking: what of a message changes from run to run though the failure is the same.

Numbers, addresses, times and folders go; words, quoted names and file names stay, since
"no attribute 'layer1'" and "no attribute 'layer2'" are two failures.
"""

from __future__ import annotations

import re

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NUMBER = "#"
ELSEWHERE = "…/"  # stands for the folders before a file's name
_SHORT = 4  # digits a missing key may have before it looks like an id

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})(?!\d))"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AP]M)?"
_UNIT = r"(?:[nuµm]?s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|milliseconds?)"
_WORD = r"[^\s'\"`<>,;:()\[\]{}|]"
_NAME = r"[^\s'\"`<>,;:()\[\]{}|/]"  # one part of a path

# A traceback inside a message: its frames are read elsewhere, its lines move.
_EMBEDDED = re.compile(
    r'^[ |]*File "[^"\n]+", line \d+.*(?:\n(?![ |]*File )[ |]+.*)*\n?', re.MULTILINE
)
_ITEMS = re.compile(
    r"(?:^[ ]*(?:'[^'\n]*'|\"[^\"\n]*\")[ ]*(?:\n|\Z)){2,}", re.MULTILINE
)  # of a set
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]*", re.IGNORECASE)
_QUOTED_PATH = re.compile(r"(['\"`])((?:~|\.{1,2}|…)?/[^'\"`\n]*)\1")
_BARE_PATH = re.compile(rf"(?<![\w.~/:…])(?:~|\.{{1,2}}|…)?/{_WORD}+")
_TEMP_NAME = re.compile(r"\btmp[a-z0-9_]{6,10}(?![A-Za-z0-9])|\bpsm_[0-9a-f]{6,8}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}\b", re.IGNORECASE)
_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b", re.IGNORECASE)
_DIGEST = re.compile(r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,}\b")
_DATES = re.compile(
    rf"\b\d{{4}}-\d{{2}}-\d{{2}}(?:[T ]{_CLOCK}{_ZONE}?)?(?![\w-])"
    rf"|\b(?:{_DAY},? )?(?:\d{{1,2}} )?{_MONTH}\.? +\d[\d ,:]*\d(?: [AP]M)?{_ZONE}?"
    rf"|\b{_CLOCK}{_ZONE}?(?!\w)"
)
_DURATION = re.compile(rf"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)? ?{_UNIT}\b")
_SIZES = re.compile(r"\b\d+(?:x\d+)+\b")
_NUMBER = re.compile(r"(?<![A-Za-z_\d])\d[\d_]*(?:\.\d+|\.(?![\w.]))?(?:[eE][+-]?\d+)?")
_SIGN = re.compile(r"(?<![\w)\]#'\"])-(?=#)")
_PLACE = re.compile(r"#(?::#)+")  # `3:5`, as `13:45`, which is taken for a time
_NUMBERS = re.compile(r"\[\s*#(?:[,\s]+#)*[,\s]*(?:\.\.\.[,\s]*(?:#[,\s]*)*)?\]")
_DOTTED_NAME = re.compile(r"(['\"])(?=[\w.]*[A-Za-z_])\w+(?:\.\w+)+\1")  # "layers.0.bias"
_SET = re.compile(r"\{('[^'{}]*'(?:, '[^'{}]*')+)\}")
_IN_NAME = re.compile(r"(?<=[-_.])\d+|^\d+(?=[-_.])|(?<=[a-z])\d{3,}")


class Places(NamedTuple):
    """Folders of one run: `roots` are cut off wherever they stand, `temps` hold random names."""

    roots: Sequence[str] = ()
    temps: Sequence[str] = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - we write to none


NOWHERE = Places()


def mask(text: str, places: Places = NOWHERE, *, numbers: bool = True) -> str:
    """Mask what varies.

    With `numbers=False` short numbers stay: a missing key 3 is not a missing key 7.
    """
    text = _EMBEDDED.sub("", text)
    text = _ITEMS.sub(lambda found: "\n".join(sorted(found[0].split())) + "\n", text)
    text = _mask_places(text, places)
    text = _TEMP_NAME.sub(lambda found: found[0][:3] + NUMBER, text)
    text = _UUID.sub(NUMBER, text)
    text = _ADDRESS.sub("0x" + NUMBER, text)
    text = _outside_names(text) if numbers else _NUMBER.sub(_long_ones, text)
    text = _SET.sub(lambda found: "{" + ", ".join(sorted(found[1].split(", "))) + "}", text)
    return " ".join(text.split())


def _mask_places(text: str, places: Places) -> str:
    # The longest first: a checkout may lie in a temp folder, and a temp folder in a checkout.
    for folder in sorted({*places.temps, *places.roots}, key=len, reverse=True):
        plain = folder.rstrip("/")
        if folder in places.temps:
            # What tempfile makes ends in eight random letters, after a prefix of the program's.
            made = rf"{re.escape(plain)}/({_NAME}*?)[a-z0-9_]{{8}}(?!{_NAME})"
            text = re.sub(made, rf"{ELSEWHERE}\1{NUMBER}", text)
        elif plain:
            text = text.replace(plain + "/", ELSEWHERE).replace(plain, "…")
    text = _URL.sub(lambda found: _NUMBER.sub(NUMBER, found[0]), text)
    # Some programs quote a name only if it has a blank, so the quotes go with the folders.
    text = _QUOTED_PATH.sub(lambda found: _file_name(found[2]), text)
    return _BARE_PATH.sub(lambda found: _file_name(found[0]), text)


def _outside_names(text: str) -> str:
    """Mask numbers, but not those that are part of a quoted, dotted name."""
    parts = []
    at = 0
    for name in _DOTTED_NAME.finditer(text):
        parts += [_mask_numbers(text[at : name.start()]), name[0]]
        at = name.end()
    parts.append(_mask_numbers(text[at:]))
    return _NUMBERS.sub(f"[{NUMBER}]", "".join(parts))


def _mask_numbers(text: str) -> str:
    for pattern in (_DATES, _DIGEST, _DURATION, _NUMBER):
        text = pattern.sub(NUMBER, text)
        if pattern is _DURATION:
            text = _SIZES.sub(lambda found: "x".join(NUMBER for _ in found[0].split("x")), text)
    return _PLACE.sub(NUMBER, _SIGN.sub("", text))


def _long_ones(number: re.Match[str]) -> str:
    return number[0] if len(number[0]) <= _SHORT else NUMBER


def _file_name(path: str) -> str:
    """Keep a path's last part: which file it was matters, where the checkout lies does not."""
    name = path.rstrip("/").rpartition("/")[2]
    name = _TEMP_NAME.sub(lambda found: found[0][:3] + NUMBER, name)
    return ELSEWHERE + _IN_NAME.sub(NUMBER, name)
