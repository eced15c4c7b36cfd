"""One of a code object's constants, exchanged while other threads may be running the code.

No reference is counted by hand: a count that is read and written back would lose what other
threads count in between, and the thing would be freed under them. The new constant comes out
of a tuple of ours, and the old one goes into its place: both keep the reference they had.
"""

from __future__ import annotations

from _thread import allocate_lock

from . import codes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

# Where a bytearray says how many bytes it has room for, where its memory is, and where it begins.
_MEMORY, _BEGIN = codes.HEADER + 2 * codes.WORD, codes.HEADER + 3 * codes.WORD
_one_at_a_time = allocate_lock()


def exchange(code: CodeType, was: object, value: object) -> None:
    """Put a value where the other one stands; nothing happens while another thread does so."""
    if not _one_at_a_time.acquire(False):
        return
    try:
        for index, one in enumerate(code.co_consts):
            if one is was:
                ours = (value,)
                _put(_slot(code.co_consts, index), value)
                _put(_slot(ours, 0), was)
    finally:
        _one_at_a_time.release()


def _slot(items: tuple[object, ...], index: int) -> int:
    return id(items) + tuple.__basicsize__ + index * codes.WORD


def _put(address: int, thing: object) -> None:
    """Write a pointer by one instruction, with the interpreter's lock held.

    Through the file of our memory the lock would be let go, and others could read half of it.
    So a view is made that a bytearray of ours gives away of memory which it takes for its own.
    """
    cover = bytearray(codes.WORD)
    own = codes.read(id(cover) + _BEGIN, codes.WORD)
    if own != codes.read(id(cover) + _MEMORY, codes.WORD):  # laid out in another way
        codes.write(address, id(thing).to_bytes(codes.WORD, "little"))
        return
    codes.write(id(cover) + _BEGIN, address.to_bytes(codes.WORD, "little"))
    view = memoryview(cover)
    codes.write(id(cover) + _BEGIN, own)
    view.cast("Q")[0] = id(thing)
