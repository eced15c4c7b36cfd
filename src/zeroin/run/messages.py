"""What agents may say: the shape of each kind of message, and whether one fits.

The socket is the program's as much as its agent's, so anything may arrive there. Who reads a
message further on relies on these shapes, and what does not fit never gets that far.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

DEEPEST = 50  # lists and tables in one another

_NUMBER = (int, float)
_OPTIONAL = "?"  # at the end of a key: it may be missing


class TableOf:
    """A table whose keys are any texts, and whose values all have one shape."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class Maybe:
    """A shape, or nothing."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape


class Row:
    """A list with as many entries as there are shapes."""

    def __init__(self, *shapes: Any) -> None:
        self.shapes = shapes


_TEXTS = TableOf(str)
_PYTHON = {"version": str, "executable": str}
_FACTS = {
    "python?": _PYTHON,
    "path?": [str],
    "modules?": _TEXTS,
    "installed?": _TEXTS,
    "where?": _TEXTS,
    "which?": {
        "loaded": [str],
        "reached": int,
        "before": object,
        "refused": str,
        "lines": [Row(str, int, int)],
    },
}
_FRAME = {
    "file": str,
    "line": int,
    "name": str,
    "owner": str,
    "qualname": str,
    "class?": str,
    "module?": str,
    "span?": Row(int, int, int, int),
    "source?": {"first": int, "lines": [str]},
    "locals?": _TEXTS,
    "left_out_before?": int,
}
_LINK: dict[str, Any] = {
    "type": str,
    "message": str,
    "frames": [_FRAME],
    "module?": str,
    "leads_by?": str,
    "notes?": [str],
    "syntax?": {"message": str, "file": str, "line": int, "text?": str},
}
_CHAIN = [_LINK]
_LINK["group?"] = [_CHAIN]
_LINK["worker?"] = {"name": str, "item": str, "pid": int, "chain": _CHAIN}
_CRASH = {
    "time?": _NUMBER,
    "thread?": str,
    "fatal?": object,
    "test?": str,
    "chain": _CHAIN,
    **_FACTS,
}
_PLACE = {"file": str, "line": int, "name": str, "source?": {"first": int, "lines": [str]}}
_VALUE = {
    "name?": str,
    "variable?": str,
    "shape?": [int],
    "nan?": int,
    "inf?": int,
    "minus_inf?": int,
    "max?": Maybe(object),
    "where?": list,
}
_ORIGIN = {
    "kind": str,
    "operation": str,
    "phase": str,
    "what": str,
    "cause": str,
    "frames": [_PLACE],
    "inputs": [_VALUE],
    "outputs": [_VALUE],
    "forward": Maybe(_PLACE),
    "own_frames?": int,
    "remedy?": str,
    "step?": int,
}

# kind → what belongs to it, beside `kind` and `pid`.
SHAPES: dict[str, dict[str, Any]] = {
    "start": _FACTS,
    "exit": _FACTS,
    "crash": _CRASH,
    "snapshot": {
        "time": _NUMBER,
        "probe": int,
        "number": int,
        "place": str,
        "frames": [_FRAME],
    },
    "probe": {
        "id": int,
        "event": str,
        "file?": str,
        "line?": int,
        "function?": str,
        "defines?": str,
        "reason?": str,
        "text?": str,
        "error?": str,
        "lines?": int,
        "near?": list,
    },
    "test": {
        "crash": {"pid": int, "test": str, **_CRASH},
        "command": [str],
        "cwd": str,
        "seconds?": Maybe(_NUMBER),
        "peak_bytes?": Maybe(_NUMBER),
    },
    "full": {"folder": str, "where": list},
    "reached": {"file": str, "line": int, "stack": [dict]},
    "leak": {
        "times": int,
        "traced": _NUMBER,
        "left": _NUMBER,
        "cycles": [dict],
        "gc": bool,
        "sites": [dict],
        "containers": [dict],
        "types": [dict],
        "graph_held": list,
        "graph_elements": int,
    },
    "leak_progress": {"done": int, "of": int},
    "nan": {
        "time": _NUMBER,
        "what": str,
        "how": str,
        "first": _ORIGIN,
        "became": Maybe(dict),
        "affected": [str],
        "affected_count": int,
        "weights": [{"name": str, "text": str}],
        "optimizers": [str],
        "steps": int,
        "rank": Maybe(str),
        "final?": bool,
    },
    "nan-numpy": {
        "library": str,
        "time": _NUMBER,
        "what": str,
        "text": str,
        "frames": [_PLACE],
        "arrays": [{"name": str, "text": str}],
    },
    "nan-end": {
        "library": str,
        "error?": Maybe(str),
        "steps?": int,
        "skipped?": int,
        "scaled?": int,
        "scales?": [_NUMBER],
        "places?": [{"times": int, "what": str, "operation": str, "phase": str, **_PLACE}],
    },
}
# Events of probes whose further keys are read.
_EVENTS: dict[str, dict[str, Any]] = {
    "reached": {"file": str, "line": int},
    "placed": {"file": str, "line": int},
    "raised": {"text": str, "error": str},
    "other": {"file": str},
    "refused": {"reason": str},
    "no-code": {"file": str, "lines": int, "near": [Row(int, str)]},
    "no-function": {"file": str, "near": [str]},
}


def is_message(value: Any) -> bool:
    """Whether an agent of ours may have sent it."""
    if not isinstance(value, dict) or not _is_plain_int(value.get("pid")):
        return False
    shape = SHAPES.get(value["kind"]) if isinstance(value.get("kind"), str) else None
    if shape is None or not _fits(value, shape, DEEPEST):
        return False
    if value["kind"] in ("crash", "test"):
        crash = value if value["kind"] == "crash" else value["crash"]
        return bool(crash["chain"])
    if value["kind"] == "full":
        return not value["where"] or _fits(value["where"], Row(str, int), DEEPEST)
    if value["kind"] == "probe":
        return _fits(value, _EVENTS.get(value["event"], {}), DEEPEST)
    return True


def _is_plain_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 31


def _fits(value: Any, shape: Any, deep: int) -> bool:
    if not deep:
        return False
    if isinstance(shape, Maybe):
        return value is None or _fits(value, shape.shape, deep)
    if isinstance(shape, list):
        return isinstance(value, list) and all(_fits(one, shape[0], deep - 1) for one in value)
    if isinstance(shape, Row):
        return (
            isinstance(value, list)
            and len(value) == len(shape.shapes)
            and all(map(_fits, value, shape.shapes, [deep - 1] * len(value)))
        )
    if isinstance(shape, TableOf):
        return isinstance(value, dict) and all(
            _fits(one, shape.shape, deep - 1) for one in value.values()
        )
    if isinstance(shape, dict):
        return isinstance(value, dict) and all(
            _fits(value[name], inner, deep - 1)
            if (name := key.rstrip(_OPTIONAL)) in value
            else key.endswith(_OPTIONAL)
            for key, inner in shape.items()
        )
    if shape is int or shape is _NUMBER:  # a line or a size that no machine has is no number
        return isinstance(value, shape) and (
            isinstance(value, float) or -(1 << 63) <= value < 1 << 63
        )
    return isinstance(value, shape)
