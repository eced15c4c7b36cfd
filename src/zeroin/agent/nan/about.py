"""What is told of an origin, made at once: its inputs may be gone a line later."""

from __future__ import annotations

import sys

from . import causes, places, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .judge import Judge
    from .plans import Plan

INPUTS = 6
OUTPUTS = 3


def operation(judge: Judge, plan: Plan, args: Any, kwargs: Any, bad: list[Any]) -> dict[str, Any]:
    """An operation that made it."""
    torch = judge.torch
    frame = places.users_frame(sys._getframe(1))
    node = torch._C._current_autograd_node()
    told: dict[str, Any] = {
        "kind": "operation",
        "operation": plan.name,
        "inputs": _inputs(judge, plan, args, kwargs, frame),
        "outputs": [_tensor(torch, one) for one in bad[:OUTPUTS]],
        "frames": places.frames_from(frame),
        "phase": "forward",
        "node": None,
        "forward": None,
    }
    if node is not None:
        told.update(_backward(judge, node, frame))
    elif judge.in_step and not torch.is_grad_enabled():  # a closure is a forward pass within it
        told["phase"] = "optimizer"
    told["cause"], told["remedy"] = causes.of(judge, plan, args, kwargs, bad, told)
    return told


def written(judge: Judge, plan: Plan, bad: list[Any], nan: bool) -> dict[str, Any]:
    """A line that says inf or NaN itself."""
    outputs = [_tensor(judge.torch, one) for one in bad[:OUTPUTS]]
    cause, remedy = causes.of_written("NaN" if nan else name_infinity(outputs))
    return {
        "kind": "written",
        "operation": plan.name,
        "inputs": [],
        "outputs": outputs,
        "frames": places.frames_from(places.users_frame(sys._getframe(1))),
        "phase": "forward",
        "node": None,
        "forward": None,
        "cause": cause,
        "remedy": remedy,
    }


def data(judge: Judge, plan: Plan, args: Any, name: str, tensor: Any, empty: Any) -> dict[str, Any]:
    """A tensor that was not finite when it was first seen."""
    torch = judge.torch
    frame = places.users_frame(sys._getframe(1))
    (called,) = places.names_of(frame, [tensor])
    weight, is_loaded = _weight(torch, plan, args, tensor)
    held = {**_tensor(torch, weight if weight is not None else tensor), "name": name}
    held["variable"] = called
    kind = "weight" if weight is not None else "data" if empty is None else "uninitialised"
    told: dict[str, Any] = {
        "kind": kind,
        "loaded": is_loaded,
        "weight": weight,
        "operation": plan.name,
        "inputs": [held],
        "outputs": [],
        "frames": places.frames_from(frame),
        "phase": "forward",
        "node": None,
        "forward": places.described(empty),
    }
    told["cause"], told["remedy"] = causes.of_data(held, kind, is_loaded)
    return told


def _weight(torch: Any, plan: Plan, args: Any, tensor: Any) -> tuple[Any, bool]:
    """The weight that it is, or is a view of; or that it is loaded into, as from a checkpoint."""
    own = tensor._base if tensor._is_view() else tensor
    if _is_weight(torch, own):
        return own, False
    into = args[0] if plan.name == "copy_" else None
    return (into, True) if into is not None and _is_weight(torch, into) else (None, False)


def _is_weight(torch: Any, tensor: Any) -> bool:
    return isinstance(tensor, torch.nn.Parameter) or (tensor.requires_grad and tensor.is_leaf)


def _backward(judge: Judge, node: Any, frame: Any) -> dict[str, Any]:
    """The step of the backward pass, and the line of the forward pass that it belongs to."""
    name = str(node.name()).rpartition("::")[2]
    number = node._sequence_nr() if hasattr(node, "_sequence_nr") else -1
    operation, place, module = judge.line_of(number) or ("", None, None)
    custom = getattr(node, "_forward_cls", None)  # a Function of the user's, or of a library's
    if custom is not None:
        operation = custom.__name__
    return {
        "phase": "backward",
        "own_frames": places.frames_below("apply", "torch/autograd/function.py", frame),
        "node": name,
        "forward": places.described(place),
        "forward_operation": operation,
        "forward_module": module,
    }


def _inputs(judge: Judge, plan: Plan, args: Any, kwargs: Any, frame: Any) -> list[dict[str, Any]]:
    torch = judge.torch
    written = set(map(id, plan.targets(args, kwargs)))
    found = plan.inputs(args, kwargs)
    variables = places.names_of(frame, [value for _, value in found])
    listed: list[dict[str, Any]] = []
    for (name, value), variable in zip(found, variables):
        if isinstance(value, torch.Tensor) and len(listed) < INPUTS:
            told = _tensor(torch, value)
            if id(value) in written:  # its numbers from before are gone
                told.update({"min": None, "max": None, "overwritten": True})
                told.update(dict.fromkeys(("nan", "inf", "minus_inf"), 0))
            listed.append({**told, "name": name, "variable": variable})
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            listed.append({"name": name, "value": tensors.shown(float(value)), "variable": ""})
    return listed


def name_infinity(tensors_told: list[dict[str, Any]]) -> str:
    """Say "-inf" where tensors have no other inf."""
    infinite = sum(one.get("inf", 0) for one in tensors_told)
    minus = sum(one.get("minus_inf", 0) for one in tensors_told)
    return "-inf" if infinite and infinite == minus else "inf"


def _tensor(torch: Any, value: Any) -> dict[str, Any]:
    told = tensors.facts(torch, value)
    if told["nan"] or told["inf"]:
        told["where"] = tensors.indices(torch, value)
    return told
