"""Masking output as it comes in pieces, also where a secret lies across two of them.

A secret by name or by form ends with its line, so what waits is the line that is not whole yet;
a private key ends with its last line; a known value waits as long as it may still be one.
"""

from __future__ import annotations

from .secrets import LONGEST, MASK, SHORTEST, find_in_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_LINE = 64 << 10  # bytes of a line that is not whole; a longer one is cut at a blank
MOST_LEARNED = 200
LONGEST_KEY = 32 << 10  # bytes of a private key
MASKED = MASK.encode()
_KEY_BEGIN, _KEY_END, _PRIVATE = b"-----BEGIN ", b"-----END ", b"PRIVATE KEY"


class KnownSecrets:
    """The values to look for: given ones, and those that the output itself gave away.

    `password='…'` says what the line after it may hold without a name.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        given = {one.encode("utf-8", "surrogateescape") for one in values}
        self.longest_first = sorted(given - {b"", MASKED}, key=len, reverse=True)
        self.learned: set[bytes] = set()

    def learn(self, value: bytes) -> None:
        """Remember a value, unless it might be a word, or part of a mask."""
        if value in self.learned or len(self.learned) >= MOST_LEARNED or value in MASKED:
            return
        if SHORTEST <= len(value) <= LONGEST and _is_mixed(value):
            self.learned.add(value)
            self.longest_first = sorted({*self.longest_first, value}, key=len, reverse=True)


def _is_mixed(value: bytes) -> bool:
    has_digit = any(48 <= code <= 57 for code in value)
    return has_digit and value.lower() != value.upper() and b"\n" not in value


class StreamMasker:
    """Masks one stream."""

    def __init__(self, known: KnownSecrets) -> None:
        self._known = known
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Take a piece; give what is masked and can't become part of a secret any more."""
        data = _without_known(self._held + data, self._known)
        cut = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        if len(data) - cut > LONGEST_LINE:
            cut = max(data.rfind(b" ", cut) + 1, len(data) - LONGEST_LINE)
        cut = min(cut, self._start_of_known(data), _start_of_key(data))
        self._held = data[cut:]
        return mask_bytes(data[:cut], self._known)

    def flush(self) -> bytes:
        """Give what was held back, masked as it stands."""
        held, self._held = self._held, b""
        return mask_bytes(held, self._known)

    def _start_of_known(self, data: bytes) -> int:
        """Where a known secret may have begun that has not ended yet."""
        return len(data) - max(
            (_overlap(data, one) for one in self._known.longest_first), default=0
        )


def mask_bytes(data: bytes, known: KnownSecrets) -> bytes:
    """Replace known secrets, and those that are found, which are known from then on."""
    data = _without_known(data, known)
    spans = find_in_bytes(data)
    if not spans:
        return data
    before = len(known.learned)
    for start, end in spans:
        known.learn(data[start:end])
    parts, at = [], 0
    for start, end in spans:
        parts += [data[at:start], MASKED]
        at = end
    masked = b"".join([*parts, data[at:]])
    return masked if len(known.learned) == before else _without_known(masked, known)


def _without_known(data: bytes, known: KnownSecrets) -> bytes:
    for secret in known.longest_first:
        if secret in data:
            data = data.replace(secret, MASKED)
    return data


def _start_of_key(data: bytes) -> int:
    """Where a private key begins whose end has not come yet."""
    begin = data.rfind(_KEY_BEGIN)
    if begin < 0 or len(data) - begin > LONGEST_KEY:
        return len(data)
    line = data[begin:].partition(b"\n")[0]
    if _PRIVATE not in line or _KEY_END in data[begin:]:
        return len(data)
    return begin


def _overlap(data: bytes, secret: bytes) -> int:
    """How many bytes at the end of `data` could be the beginning of the secret."""
    for length in range(min(len(secret) - 1, len(data)), 0, -1):
        if data.endswith(secret[:length]):
            return length
    return 0
