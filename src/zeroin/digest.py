"""Short names for long things."""

from __future__ import annotations

try:
    # `hashlib` loads OpenSSL first, which takes longer than most of our runs' whole start-up.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b


def digest(data: str | bytes, size: int = 8) -> str:
    """A hash of `size` bytes, as hexadecimal digits."""
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogateescape")
    return str(blake2b(data, digest_size=size).hexdigest())
