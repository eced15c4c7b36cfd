"""What objects refer to, asked in a way that leaves the interpreter as it was.

The state of a compiled module may hold objects that are free already and wait to be used again.
`gc.get_referents` gives them to us as if they were alive, and when we let go of them they are
freed a second time. Python 3.12 does that to `_asyncio`: its list of free objects then ends in
itself, and whoever walks along it next, the garbage collector too, never comes back. So a module
is asked for its names only.
"""

from __future__ import annotations

import gc
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Iterable

_MODULE_NAMES: Any = vars(types.ModuleType)["__dict__"]


def list_referents(objects: Iterable[Any]) -> list[Any]:
    """What these objects refer to, as often as they do; of a module only its namespace."""
    found, others = [], []
    for one in objects:
        if issubclass(type(one), types.ModuleType):
            found.append(_MODULE_NAMES.__get__(one))
        else:
            others.append(one)
    return found + gc.get_referents(*others)
