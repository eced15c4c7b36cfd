"""Text of strangers on a terminal: what would steer it is shown instead of obeyed."""

from __future__ import annotations

# What changes the order of what is read without being seen: text could pretend to be another.
_HIDDEN_ORDER = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
)


def escape_controls(text: str, kept: str = "\n\t") -> str:
    r"""Show control characters as Python writes them (`\x1b`), but for those in `kept`."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in kept else repr(char)[1:-1] for char in text
    )
