"""What a failing program was given, as something that can get smaller.

A payload is a value with rounds of parts that can be left out (`kinds`), as the search wants it.
Texts are trees of pieces (`node`, `tree`; formats that only say what stands where use `spans`), and
each format has a module of its own. `group` is several payloads as one, `packed` one in another,
`huge` what is too large to be held. `reading` finds out which of them a content is.
"""

from zeroin.axes.payload.reading import read, read_file

__all__ = ["read", "read_file"]
