"""Why a step of the backward pass made NaN or inf: mostly a slope that is infinite there."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .causes import Case

    Words = tuple[str, str]

SLOPES = {
    "SqrtBackward": ("the slope of sqrt is infinite at 0", "torch.sqrt(x + eps)"),
    "RsqrtBackward": ("the slope of 1 / sqrt(x) is infinite at 0", "torch.rsqrt(x + eps)"),
    "LogBackward": ("the slope of log is infinite at 0", "torch.log(x.clamp_min(eps))"),
    "PowBackward": ("the slope of x ** p at 0 is infinite for p below 1", "(x + eps) ** p"),
    "DivBackward": ("the slope of a / b is infinite where b is 0", "a / (b + eps)"),
    "AcosBackward": ("the slope of acos is infinite at -1 and 1", "x.clamp(-1 + eps, 1 - eps)"),
    "AsinBackward": ("the slope of asin is infinite at -1 and 1", "x.clamp(-1 + eps, 1 - eps)"),
    "NormBackward": ("the slope of a norm of 0 is not defined", "(x.square().sum() + eps).sqrt()"),
    "StdBackward": (
        "the slope of std is infinite where all values are equal",
        "(x.var() + eps).sqrt()",
    ),
    "CdistBackward": ("the slope of a distance of 0 is infinite", "squared distances"),
    "ExpBackward": ("the gradient of exp is as large as exp itself", "x.clamp_max(...)"),
}


def of(case: Case, told: dict[str, Any]) -> Words | None:
    """Find the words by the node of the graph, and by whether the gradient was 0 there."""
    known = next((words for name, words in SLOPES.items() if name in told["node"]), None)
    if known is None:
        return None
    cause, remedy = known
    name = told.get("forward_operation") or "f"
    if _gradient_was_zero(case):
        trap = "torch.where, a mask or an index discarded that value in the forward pass"
        return (
            f"{cause}, and 0 × inf is NaN: {trap}, not in the backward pass",
            f"guard the input, too: {name}(torch.where(ok, x, 1)) inside of that torch.where",
        )
    return cause, remedy


def _gradient_was_zero(case: Case) -> bool:
    """Whether, where the result is not finite, one of the factors was 0 and it is NaN."""
    torch, made = case.torch, case.bad[0]
    wrong = torch.isnan(made)
    if not bool(wrong.any()):
        return False
    first = case.tensors[0] if case.tensors else None
    if first is None or case.in_place or first.shape != made.shape:
        return False
    return bool((first[wrong] == 0).all())
