"""Tables of pandas: shape, the first columns with their types, and where values are missing.

They are read through the block manager below them, whose arrays are views: a method of
DataFrame would build new frames, and a subclass may have put its own in place of it.
"""

from __future__ import annotations

import sys
from itertools import islice

from . import objects, samples

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .objects import Classes
    from .samples import Form

ROWS = 1_000  # in which missing values are counted
COLUMNS = 6  # that are named


def describe(value: Any, classes: Classes, form: Form) -> str | None:
    """Tell a DataFrame or Series; None if it is neither."""
    is_frame = objects.is_one(classes, objects.loaded("pandas", "DataFrame"))
    if not is_frame and not objects.is_one(classes, objects.loaded("pandas", "Series")):
        return None
    title = objects.name_of(classes[0])
    try:
        manager = dict(objects.attributes(value))["_mgr"]
        return _frame(manager, title, form) if is_frame else _series(manager, title, form)
    except BaseException:  # another release of pandas, or a column type that does as it likes
        return title


def _frame(manager: Any, title: str, form: Form) -> str:
    names, index = manager.axes
    rows, columns = len(index), len(names)
    text = f"{title}[{rows}, {columns}]"
    if not form.full or not columns:
        return text
    told = [
        f"{_name(names[at])} {_column(manager.iget_values(at), form)}"
        for at in range(min(columns, COLUMNS))
    ]
    text += "  " + ", ".join(told + ["…"] * (columns > COLUMNS))
    return text + _label(text, rows)


def _series(manager: Any, title: str, form: Form) -> str:
    rows = len(manager.axes[0])
    text = f"{title}[{rows}]"
    if form.full:
        values = manager.blocks[0].values
        text += f" {_column(values, form)}"
        if form.signs:
            return text + _label(text, rows) + _values(values, form)
    return text + _label(text, rows)


def _values(values: Any, form: Form) -> str:
    """Tell what its numbers are, or the first of what is none."""
    from .arrays import FEW, first_of, listed

    if type(values) is not objects.loaded("numpy", "ndarray"):
        return listed(values[:FEW], len(values)) if _is_from_pandas(type(values)) else ""
    numpy, kind = sys.modules["numpy"], values.dtype.kind
    if kind not in "fiubc":
        return first_of(values, len(values))
    with numpy.errstate(all="ignore"):
        return samples.sampled(values, kind, numpy, form)


def _label(text: str, rows: int) -> str:
    return f"  (of the first {ROWS:,} rows)" if rows > ROWS and " null" in text else ""


def _name(name: Any) -> str:
    if type(name) is str:
        return name[:30]
    return str(name) if type(name) is int else objects.name_of(type(name))


def _column(values: Any, form: Form) -> str:
    """Tell the type of a column, and what is missing in it; strangers' columns by their class."""
    kind = type(values)
    if kind is not objects.loaded("numpy", "ndarray") and not _is_from_pandas(kind):
        return objects.name_of(kind)
    missing = _missing(values[:ROWS])
    return form.kind(str(values.dtype)) + (f" ({missing:,} null)" if missing else "")


def _is_from_pandas(cls: type) -> bool:
    return objects.loaded(objects.module_of(cls), objects.name_of(cls)) is cls and (
        objects.module_of(cls).partition(".")[0] == "pandas"
    )


def _missing(values: Any) -> int:
    """Count what is missing. Objects are only looked at: their `==` may be anybody's."""
    numpy, pandas = sys.modules["numpy"], sys.modules["pandas"]
    if type(values) is not numpy.ndarray:
        return int(values.isna().sum())
    if values.dtype.kind == "O":
        nothing = (None, pandas.NA, pandas.NaT)
        return sum(
            any(one is no for no in nothing) or (type(one) is float and one != one)  # noqa: PLR0124
            for one in islice(values, ROWS)
        )
    if values.dtype.kind in "fcmM":
        return int((numpy.isnat if values.dtype.kind in "mM" else numpy.isnan)(values).sum())
    return 0
