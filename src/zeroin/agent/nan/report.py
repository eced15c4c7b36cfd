"""Telling the driver: the origin, what led to it, and why it matters."""

from __future__ import annotations

import os
import sys
import time

from .. import post, summary
from . import about, places, tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .judge import Judge
    from .origins import Origin
    from .training import Training

WEIGHTS = 6  # of the module
LISTED = 8  # weights or gradients that are not finite
PLACES = 20  # of what was made and taken away again
RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK")


class Reporter:
    """Sends what was found."""

    def __init__(self, torch: Any, judge: Judge, training: Training, go_on: bool) -> None:
        self.torch = torch
        self.judge = judge
        self.training = training
        self.go_on = go_on
        self.told = 0

    def enrich(self, origin: Origin) -> None:
        """Keep what will have changed by the time it is told."""
        module = origin.about.pop("forward_module", None) or self.training.current()
        origin.module = module
        origin.about["module"] = self._module(module)
        origin.about["before"] = list(self.training.ranges)
        origin.about["step"] = self.training.steps + 1
        origin.about["weights_before"] = list(self.training.weights)
        origin.weight = origin.about.pop("weight", None)

    def matters(self, origin: Origin, how: str, place: Any) -> None:
        """It has reached the loss, a gradient, a weight."""
        self.tell(origin, how, places.described(place))

    def weights(self, pairs: Any, how: str) -> None:
        """Gradients about to be used, or weights: which are not finite, and whose doing is it?"""
        wrong: list[str] = []
        first: Origin | None = None
        with self.torch._C._DisableTorchDispatch():
            for weight, value in pairs:
                if tensors.readable(self.torch, value) and not tensors.is_finite(self.torch, value):
                    wrong.append(self.training.name_of(weight))
                    trail = self.judge.trails.of(value)
                    if first is None and trail is not None:
                        first = trail
        if wrong and first is not None:
            self.tell(first, how, None, affected=wrong)

    def tell(self, origin: Origin, how: str, place: Any, affected: Any = ()) -> None:
        """Send it, once; and end the program, unless it is to go on."""
        first = origin.first
        if first.told:
            return
        first.told = origin.told = True
        if first.weight is not None:  # by now its module may have been called, and have a name
            first.about["inputs"][0]["variable"] = self.training.name_of(first.weight)
        if first.about["kind"] == "data":
            first.about["batch"] = _batch()
        with self.torch._C._DisableTorchDispatch():
            message = self._message(origin, how, place, list(affected))
        post.send(message)
        self.told += 1
        if not self.go_on and how != "end":
            self.judge.end()

    def _message(self, origin: Origin, how: str, place: Any, affected: list[str]) -> dict[str, Any]:
        first = origin.first
        became = {**origin.about, "what": "NaN"} if origin is not first else None
        return {
            "kind": "nan",
            "pid": os.getpid(),
            "time": time.time(),
            "rank": rank(),
            "what": _what(origin),
            "how": how,
            "final": not self.go_on and how != "end",
            "first": {**first.about, "what": _what(first)},
            "became": became,
            "surfaced": place,
            "affected": affected[:LISTED],
            "affected_count": len(affected),
            "weights": self._weights(first.module),
            "optimizers": sorted(set(self.training.optimizers.values())),
            "steps": self.training.steps,
            "seed": int(self.torch.initial_seed()),
            "error": self.judge.error,
        }

    def at_end(self, crashed: bool) -> None:
        """At the end of the process: what was read though not finite, and what was in vain."""
        self.judge.end(told=False)
        left = [one for one in self.judge.origins if not one.first.told]
        used = [one for one in left if one.used is not None and not one.left_out]
        reads = [one for one in used if one.nan or one.backward]
        held = [one for one in left if one.held]
        failed = [one for one in left if one.nan] if crashed else []
        if not self.told:
            for one in [*reads, *held, *failed[-1:]][: None if self.go_on else 1]:
                self.tell(one, "end", one.used)
        if not self.told:
            found = _left_gradients(self.torch)
            free = [pair for pair in found if not self.training.is_optimized(pair[0])]
            self.weights(free, "end")
        mattered = [one.first for one in (*used, *held)]
        left = [one for one in left if not one.first.told and one.first not in mattered]
        post.send(
            {
                "kind": "nan-end",
                "library": "torch",
                "pid": os.getpid(),
                "rank": rank(),
                "steps": self.training.steps,
                "discarded": len(left),
                "places": _places(left),
                "scaled": self.judge.scaled,
                "skipped": len(self.judge.skips),
                "scales": self.judge.skips[-4:],
                "error": self.judge.error,
            }
        )

    def _module(self, module: Any) -> dict[str, Any] | None:
        if module is None:
            return None
        return {"name": self.training.name_of(module), "class": type(module).__name__}

    def _weights(self, module: Any) -> list[dict[str, Any]]:
        if module is None:
            return []
        own = list(module.named_parameters(recurse=False))[:WEIGHTS]
        # Under a mode of anybody's the summary leaves the numbers alone.
        with sys.modules["torch.utils._python_dispatch"]._disable_current_modes():
            texts = summary.summarise_all([(name, value.detach()) for name, value in own])
        return [{"name": name, "text": text} for (name, _), text in zip(own, texts)]


def _what(origin: Origin) -> str:
    return "NaN" if origin.nan else about.name_infinity(origin.about.get("outputs") or [])


def rank() -> str | None:
    """The number of this process in a job, if it is one of several."""
    named = next((os.environ[name] for name in RANKS if name in os.environ), None)
    if named is not None:
        return named
    distributed = sys.modules.get("torch.distributed")
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return str(distributed.get_rank())


def _places(origins: list[Origin]) -> list[dict[str, Any]]:
    """The lines that made NaN or inf in vain, each once."""
    found: dict[Any, dict[str, Any]] = {}
    for one in origins:
        frames = one.about["frames"]
        if not frames:
            continue
        key = (frames[-1]["file"], frames[-1]["line"], one.about["operation"])
        if key in found:
            found[key]["times"] += 1
        elif len(found) < PLACES:
            found[key] = {
                "file": key[0],
                "line": key[1],
                "name": frames[-1]["qualname"],
                "operation": key[2],
                "what": _what(one),
                "phase": one.about["phase"],
                "times": 1,
            }
    return list(found.values())


def _left_gradients(torch: Any) -> list[tuple[Any, Any]]:
    """Tensors that have a gradient at the end of the process, with it."""
    import gc

    kinds = (torch.Tensor, torch.nn.Parameter)
    every = [one for one in gc.get_objects() if type(one) in kinds]
    found = [one for one in every if one.is_leaf or one.retains_grad]
    return [(one, one.grad) for one in found if one.grad is not None]


def _batch() -> int | None:
    """The number of the batch that a DataLoader gave last, if exactly one is at work."""
    import gc

    module = sys.modules.get("torch.utils.data.dataloader")
    kind = getattr(module, "_BaseDataLoaderIter", None)
    if kind is None:
        return None
    # By type: `isinstance` asks objects for their class, and some answer with a warning.
    found = [one for one in gc.get_objects() if kind in type(one).__mro__]
    return int(found[0]._num_yielded) if len(found) == 1 else None
