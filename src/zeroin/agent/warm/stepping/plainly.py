"""A program that traces itself goes on with its plain code.

A tracer sees lines, branches, instructions: also those of hooks that do nothing. So when one is
set, all functions get the code that they would have without us, but for those that are running.
"""

from __future__ import annotations

import sys

from ..source import codes, constants, texts, weave
from . import steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any

_FUNCTION: Any = type(codes.hide)
_SUSPENDED = 0x20 | 0x80 | 0x200  # generators, coroutines, asynchronous generators


def go_on() -> None:
    """No steps from here on, and no code of ours where that can be done."""
    if steps.is_stopped():
        return
    steps.stop()
    known: dict[int, tuple[CodeType, CodeType]] = {}
    for file in list(steps.files.values()):
        if len(file.layers) == 1:  # else some of it runs under texts that are gone
            known.update((id(old), (old, new)) for old, new in _pairs(file))
    for stepped, _ in known.values():
        _exchange_inner(stepped, known)
    _exchange_functions(known)


def in_use(every: list[CodeType]) -> set[int]:
    """Which of these a frame or a generator runs: those that have it must keep it."""
    import gc

    used = {id(frame.f_code) for frame in _frames()}
    for one in gc.get_referrers(*(code for code in every if code.co_flags & _SUSPENDED)):
        for attribute in ("gi_code", "cr_code", "ag_code"):
            used.add(id(getattr(one, attribute, None)))
    return used


def _frames() -> Iterator[Any]:
    for frame in sys._current_frames().values():
        one: Any = frame
        while one is not None:
            yield one
            one = one.f_back


def _pairs(file: texts.File) -> list[tuple[CodeType, CodeType]]:
    """Each code object of a file that has hooks, and the same without."""
    source, stepped = file.current.source, file.current.code
    plain: CodeType = compile(source, file.filename, "exec", dont_inherit=True)
    pairs: list[tuple[CodeType, CodeType]] = []
    left = [(stepped, plain)]
    while left:
        old, new = left.pop()
        if _facts(old) != _facts(new):
            return []
        pairs.append((old, new))
        inner = [one for one in texts.within(old) if not weave.is_ours(one)], texts.within(new)
        if len(inner[0]) != len(inner[1]):
            return []
        left += zip(*inner)
    return pairs


def _facts(code: CodeType) -> tuple[Any, ...]:
    return code.co_name, code.co_firstlineno, code.co_varnames, code.co_cellvars, code.co_freevars


def _exchange_inner(code: CodeType, known: dict[int, tuple[CodeType, CodeType]]) -> None:
    """Functions that are made from now on are made of plain code."""
    for inner in code.co_consts:
        if id(inner) in known:
            constants.exchange(code, inner, known[id(inner)][1])


def _exchange_functions(known: dict[int, tuple[CodeType, CodeType]]) -> None:
    import gc

    every = [stepped for stepped, _ in known.values()]
    used = in_use(every)
    for one in gc.get_referrers(*every):
        if type(one) is _FUNCTION and id(one.__code__) in known and id(one.__code__) not in used:
            one.__code__ = known[id(one.__code__)][1]
