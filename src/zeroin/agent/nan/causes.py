"""Why an operation made NaN or inf, in words, from the numbers that it really got.

Each rule gets the tensors of the operation and gives a sentence for the cause and one for
the remedy, or None if the numbers don't bear it out; then the general words are used.
"""

from __future__ import annotations

from . import backward_causes
from .tensors import facts, indices, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .judge import Judge
    from .plans import Plan

    Words = tuple[str, str]

SMALL = {"float16": "f16", "bfloat16": "bf16", "float8_e4m3fn": "f8", "float8_e5m2": "f8"}
EXPONENTIAL = ("exp", "expm1", "sinh", "cosh", "exp2", "softplus")
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "matmul", "dot", "mv", "convolution", "linear")
NO_WORDS = ("", "")


class Case:
    """One operation with what it got and made."""

    def __init__(self, torch: Any, plan: Plan, args: Any, kwargs: Any, bad: list[Any]) -> None:
        self.torch = torch
        self.plan = plan
        self.name = plan.name.rstrip("_").replace("_foreach_", "").replace("_fused_", "")
        self.args = args
        self.kwargs = kwargs
        self.bad = bad
        self.in_place = bool(plan.written)
        self.given = [value for _, value in plan.inputs(args, kwargs)]
        self.tensors = [one for one in self.given if isinstance(one, torch.Tensor)]

    @property
    def first(self) -> Any:
        """The first tensor, if its numbers are still those that the operation got."""
        return self.tensors[0] if self.tensors and not self.in_place else None

    def second(self) -> Any:
        """The second argument, tensor or number."""
        return self.given[1] if len(self.given) > 1 else None


def of(
    judge: Judge, plan: Plan, args: Any, kwargs: Any, bad: list[Any], told: dict[str, Any]
) -> Words:
    """Find the words for an operation."""
    case = Case(judge.torch, plan, args, kwargs, bad)
    if told["phase"] == "backward":
        found = backward_causes.of(case, told)
        if found is not None:
            return found
    rule = RULES.get(case.name)
    found = rule(case) if rule is not None else None
    return found or _too_large(case) or _general(told)


def of_written(what: str) -> Words:
    """Find the words for a literal: a mask, a start value."""
    return f"{what} is written there, as a mask or a start value, and was never replaced", ""


def of_data(held: dict[str, Any], kind: str, loaded: bool) -> Words:
    """Find the words for what came in."""
    if kind == "weight":
        counts = f"{held['nan']:,} NaN and {held['inf']:,} inf"
        if loaded:
            return f"{counts} were in what was loaded into it", "look at the checkpoint"
        return (
            f"{counts} were in it when it was first used: loaded so, or made before we looked",
            "look at the checkpoint that it was loaded from; with --after, take a smaller number",
        )
    if kind == "uninitialised":
        return (
            "it is memory that torch.empty gave and that nobody has written to",
            "torch.zeros, or write to all of it before it is read",
        )
    return (
        f"no operation of torch in this process made it{_rows(held)}",
        "look at how it was loaded; --sync shows the line where a worker of a DataLoader made it",
    )


def _rows(held: dict[str, Any]) -> str:
    """Say where in a table: "; column 3, rows 4, 9"."""
    where, shape = held.get("where") or [], held["shape"]
    if len(shape) != 2 or not where:
        return f"; first at {where[0]}" if where else ""
    columns = sorted({column for _, column in where})
    rows = ", ".join(str(row) for row in dict.fromkeys(row for row, _ in where))
    more = ", …" if held["nan"] + held["inf"] > len(where) else ""
    if len(columns) == 1:
        return f"; column {columns[0]}, rows {rows}{more}"
    return f"; rows {rows}{more}"


# --- rules ---------------------------------------------------------------------------------


def _log(case: Case) -> Words | None:
    remedy = f"torch.{case.name}(x.clamp_min(1e-12)); log_softmax instead of log(softmax(x))"
    least = -1.0 if case.name == "log1p" else 0.0
    value = case.first
    if value is None or value.is_complex():
        return None
    negative = indices(case.torch, value, lambda x: x < least)
    if negative:
        worst = facts(case.torch, value)["min"]
        return f"{case.name} of a negative number: {shown(worst)}, first at {negative[0]}", remedy
    zero = indices(case.torch, value, lambda x: x == least)
    if zero:
        return f"{case.name} of {shown(least)} at {_listed(zero)}", remedy
    return None


def _sqrt(case: Case) -> Words | None:
    value = case.first
    if value is None or value.is_complex():
        return None
    negative = indices(case.torch, value, lambda x: x < 0)
    if negative:
        worst = shown(facts(case.torch, value)["min"])
        return f"{case.name} of a negative number: {worst}, first at {negative[0]}", (
            "x.clamp_min(0) before the root; a variance made by subtraction can fall below 0"
        )
    zero = indices(case.torch, value, lambda x: x == 0) if case.name == "rsqrt" else []
    return (f"1 / sqrt of 0 at {_listed(zero)}", "torch.rsqrt(x + eps)") if zero else None


def _div(case: Case) -> Words | None:
    torch, by = case.torch, case.second()
    remedy = "add an epsilon to the divisor: a / (b + 1e-8), or b.clamp_min(1e-8)"
    if isinstance(by, (int, float)):
        return ("division by the number 0", remedy) if by == 0 else None
    if not isinstance(by, torch.Tensor):
        return None
    zero = indices(torch, by, lambda x: x == 0)
    if not zero:
        return None
    if by.numel() == 1:
        return "division by 0: the divisor is the single number 0", remedy
    above = case.tensors[0]
    both = not case.in_place and above.shape == by.shape and bool(((above == 0) & (by == 0)).any())
    return f"division {'of 0 ' if both else ''}by 0 at {_listed(zero)} of the divisor", remedy


def _reciprocal(case: Case) -> Words | None:
    zero = indices(case.torch, case.first, lambda x: x == 0) if case.first is not None else []
    return (f"1 / 0 at {_listed(zero)}", "add an epsilon to the divisor") if zero else None


def _pow(case: Case) -> Words | None:
    torch, value, power = case.torch, case.first, case.second()
    if value is None or not isinstance(power, (int, float)):
        return None
    if power < 0 and (zero := indices(torch, value, lambda x: x == 0)):
        return f"0 to the power of {power:g} at {_listed(zero)}", "add an epsilon to the base"
    if power != int(power) and (low := indices(torch, value, lambda x: x < 0)):
        worst = shown(facts(torch, value)["min"])
        return f"a negative number, {worst} at {low[0]}, to the power of {power:g}", (
            "x.clamp_min(0) ** p, or x.abs() ** p"
        )
    return None


def _exp(case: Case) -> Words | None:
    if case.first is None:
        return None
    most = facts(case.torch, case.first)["max"]
    if most is None:
        return None
    kind = _short(case.bad[0].dtype)
    largest = case.torch.finfo(case.bad[0].dtype).max
    cause = f"{case.name} of {shown(most)}: its result does not fit into {kind}"
    return (
        f"{cause} (largest {shown(largest)})",
        "torch.logsumexp, log_softmax or cross_entropy work on the logarithm; or x.clamp_max(...)",
    )


def _softmax(case: Case) -> Words | None:
    value = case.first
    dim = case.given[1] if len(case.given) > 1 and isinstance(case.given[1], int) else -1
    if value is None or not value.dim():
        return None
    rows = (value == float("-inf")).all(dim=dim)
    if bool(rows.any()):
        at = rows.nonzero()[:4].tolist()
        where = f" (row {', '.join(map(str, at))})" if rows.dim() else ""
        count = f"{int(rows.sum())} of {rows.numel()} rows"
        return (
            f"softmax over nothing: {count} are -inf throughout{where}",
            "leave at least one entry of each row unmasked, or mask with a large finite number",
        )
    if bool((value == float("inf")).any()):
        return "softmax of +inf: inf - inf is NaN", "see where the +inf came from"
    return None


def _deviation(case: Case) -> Words | None:
    value = case.first
    if value is None:
        return None
    left = case.bad[0].numel()
    if value.numel() // max(1, left) <= 1:
        return (
            f"{case.name} of a single value: it is divided by n - 1 = 0",
            f"torch.{case.name}(x, correction=0), or more than one value",
        )
    return None


def _mean(case: Case) -> Words | None:
    if case.first is not None and case.first.numel() == 0:
        return "the mean of no values at all: 0 / 0", "skip it when the selection is empty"
    return None


def _nll(case: Case) -> Words | None:
    target = next((one for one in case.tensors if not one.is_floating_point()), None)
    ignored = case.args[4] if len(case.args) > 4 else -100
    if target is not None and bool((target == ignored).all()):
        return (
            f"all {target.numel()} targets are ignored ({ignored}): the mean over none is 0 / 0",
            "skip such a batch, or reduction='sum' divided by max(1, count)",
        )
    given = facts(case.torch, case.tensors[0])
    if given["inf"]:
        return "the log-probability of a target is -inf: its class was masked out, or log(0)", (
            "see that no target's class is masked"
        )
    return None


def _range(case: Case) -> Words | None:
    value = case.first
    if value is None:
        return None
    out = indices(
        case.torch, value, lambda x: x.abs() > 1 if case.name != "atanh" else x.abs() >= 1
    )
    return (
        (
            f"{case.name} of a number outside of -1 to 1, first at {out[0]}",
            "x.clamp(-1 + 1e-6, 1 - 1e-6)",
        )
        if out
        else None
    )


def _infinite(case: Case) -> Words | None:
    """Arithmetic with inf: the one thing wrong with it is that it was inf already."""
    found = [facts(case.torch, one) for one in case.tensors if one.is_floating_point()]
    if case.in_place or not any(one["inf"] for one in found):
        return None
    word = {"sub": "inf - inf", "add": "inf + (-inf)", "mul": "0 × inf", "div": "inf / inf"}
    how = word.get(case.name, "inf - inf or 0 × inf within a sum of products")
    return f"{how} is NaN: an input was inf already", "see where the inf came from"


def _first_of(*rules: Callable[[Case], Words | None]) -> Callable[[Case], Words | None]:
    return lambda case: next((found for rule in rules if (found := rule(case))), None)


# --- general -------------------------------------------------------------------------------


def _too_large(case: Case) -> Words | None:
    """Say what does not fit: the inputs are finite and the result is inf."""
    torch = case.torch
    dtype = case.bad[0].dtype
    if dtype.is_complex:
        return None
    kind, largest = _short(dtype), torch.finfo(dtype).max
    given = [facts(torch, one) for one in case.tensors if one.is_floating_point()]
    if any(one["inf"] or one["nan"] for one in given) and not case.in_place:
        return None
    sizes = [size for one in given if (size := _size(one)) is not None]
    value = _in_full(case)
    said = f"{shown(value)} does" if value is not None else "the result does"
    if str(dtype).replace("torch.", "") in SMALL:
        return f"{said} not fit into {kind} (largest {shown(largest)})", (
            "bf16 has the range of f32; or do this operation in f32: x.float()"
            if kind != "bf16"
            else "keep the numbers small: normalise, clip, a smaller learning rate"
        )
    if value is None and (not sizes or max(sizes) < largest**0.25):
        return None
    inputs = " and ".join(map(shown, sizes[:2]))
    return f"{said} not fit into {kind} (largest {shown(largest)}); inputs reach {inputs}", (
        "smaller numbers: normalisation; in a training a smaller learning rate, gradient clipping"
    )


def _in_full(case: Case) -> float | None:
    """Do it again in f64, where that changes nothing: how large would it be?"""
    torch = case.torch
    again = case.plan.name in PRODUCTS or case.name in ("add", "sub", "mul", "sum", "pow", "square")
    if case.plan.name in ("_to_copy", "copy_"):
        sources = [one for one in case.tensors if one.dtype is not case.bad[0].dtype]
        return _size(facts(torch, sources[0])) if sources else None
    if not again or case.in_place or sum(one.numel() for one in case.tensors) > 1 << 22:
        return None
    try:
        wide = [
            one.double() if isinstance(one, torch.Tensor) and one.is_floating_point() else one
            for one in case.args
        ]
        told = facts(torch, case.plan.func(*wide, **case.kwargs))
    except Exception:  # an operator that has no f64: then without
        return None
    return None if told["nan"] or told["inf"] else _size(told)


def _size(told: dict[str, Any]) -> float | None:
    """The largest |x| that is finite."""
    return None if told["max"] is None else float(max(told["max"], -told["min"]))


def _general(told: dict[str, Any]) -> Words:
    if any(one.get("overwritten") for one in told["inputs"]):
        return "it wrote over its input, whose numbers from before are gone", ""
    return "its inputs were finite, its result was not", ""


def _listed(where: list[list[int]]) -> str:
    texts = [str(one) for one in where[:3]] if where[0] else ["its only element"]
    return ", ".join(texts) + (", …" if len(where) > 3 else "")


def _short(dtype: Any) -> str:
    name = str(dtype).replace("torch.", "")
    return SMALL.get(name, name.replace("float", "f"))


RULES: dict[str, Callable[[Case], Words | None]] = {
    **dict.fromkeys(("log", "log2", "log10", "log1p"), _log),
    **dict.fromkeys(("sqrt", "rsqrt"), _sqrt),
    **dict.fromkeys(("div", "true_divide", "addcdiv"), _first_of(_div, _infinite)),
    **dict.fromkeys(EXPONENTIAL, _exp),
    **dict.fromkeys(("_softmax", "_log_softmax", "_safe_softmax"), _softmax),
    **dict.fromkeys(("std", "var", "var_mean", "std_mean"), _deviation),
    **dict.fromkeys(("acos", "asin", "atanh"), _range),
    **dict.fromkeys((*PRODUCTS, "add", "sub", "mul", "sum"), _infinite),
    "mean": _first_of(_mean, _infinite),
    "reciprocal": _reciprocal,
    "pow": _pow,
    "nll_loss_forward": _nll,
}
