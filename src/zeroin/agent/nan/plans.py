"""What is to be looked at in an operation: made once for each operator, from its schema.

Most operators give new tensors, some write into what they got, and many only give a view of
it: a view holds nothing new.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Their results arrive later, or are not numbers of the program.
FOREIGN = ("c10d", "_c10d_functional", "prim", "prims", "profiler", "inductor", "symm_mem")
EMPTY = frozenset({"empty", "empty_like", "empty_strided", "empty_permuted", "new_empty"})
EMPTY |= {"new_empty_strided"}
# After these a tensor holds what somebody else has put there: another process, a file, numpy.
ANOTHERS = ("set_", "resize_", "_resize_output_", "lift_fresh")
# Asking whether something is finite is no use of it.
ASKING = (
    "isnan",
    "isinf",
    "isfinite",
    "isneginf",
    "isposinf",
    "eq",
    "ne",
    "_has_same_storage_numel",
)
READ = "_local_scalar_dense"


class Plan:
    """How to look at one operator."""

    __slots__ = (
        "anothers",
        "asks",
        "empty",
        "func",
        "hands_on",
        "name",
        "names",
        "reads",
        "skip",
        "written",
    )

    def __init__(self, func: Any) -> None:
        self.func = func
        schema = func._schema
        self.name = schema.name.partition("::")[2]
        self.names = [one.name for one in schema.arguments]
        self.written = [
            (at, one.name, one.kwarg_only)
            for at, one in enumerate(schema.arguments)
            if one.alias_info is not None and one.alias_info.is_write
        ]
        self.reads = self.name == READ
        self.asks = self.name in ASKING
        self.anothers = self.name in ANOTHERS
        self.empty = self.name in EMPTY
        self.hands_on = self.name == "detach"  # a gradient, to the weight that it belongs to
        is_view = not self.written and any(r.alias_info is not None for r in schema.returns)
        # `torch.tensor([...])` passes here with what it was given.
        literal = self.name == "lift_fresh"
        self.skip = (is_view and not literal) or func.namespace in FOREIGN

    def results(self, args: Any, kwargs: Any, out: Any) -> list[Any]:
        """List what was written to, or is new."""
        if not self.written:
            return [out] if not isinstance(out, (tuple, list)) else flat(out)
        found = self.targets(args, kwargs)
        known = set(map(id, found))
        for one in flat(out) if isinstance(out, (tuple, list)) else [out]:
            if id(one) not in known:
                found.append(one)
        return found

    def targets(self, args: Any, kwargs: Any) -> list[Any]:
        """List what it writes into."""
        found: list[Any] = []
        for at, name, only_by_name in self.written:
            value = args[at] if not only_by_name and at < len(args) else kwargs.get(name)
            found += flat(value) if isinstance(value, (tuple, list)) else [value]
        return found

    def inputs(self, args: Any, kwargs: Any) -> list[tuple[str, Any]]:
        """Name all tensors that it gets, those in lists with their number."""
        found: list[tuple[str, Any]] = []
        pairs = [*zip(self.names, args), *kwargs.items()]
        for name, value in pairs:
            if isinstance(value, (tuple, list)):
                found += [(f"{name}[{n}]", one) for n, one in enumerate(value)]
            else:
                found.append((name, value))
        return found


def flat(values: Any) -> list[Any]:
    """Flatten lists in lists: some operators give a list among their results."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, (tuple, list)):
            found += flat(value)
        else:
            found.append(value)
    return found
