"""What goes wrong with PATH, said with what to do about it."""

from __future__ import annotations

import contextlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


class RestoreError(OSError):
    """PATH could not be saved or put back; the message says why and what to do."""


class RestoreRefused(RestoreError):  # noqa: N818 - a refusal is not a failure
    """PATH is not something that may be put back; nothing was touched."""


@contextlib.contextmanager
def reported(path: str, what: str) -> Iterator[None]:
    """Turn what the system says into an error that names PATH."""
    try:
        yield
    except RestoreError:
        raise
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        raise RestoreError(f"{path} could not be {what}: {error.strerror}{where}") from error
    except RecursionError:
        raise RestoreError(f"{path} could not be {what}: its folders go too deep") from None
