"""Following modules and optimizers: which module runs, which step it is, how numbers grow."""

from __future__ import annotations

import _thread
import sys
import weakref

from . import tensors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .judge import Judge

BEFORE = 12  # modules whose ranges are kept
STEPS = 8  # steps whose largest weight is kept
GENERATIONS = 4  # optimizer steps for which lines of the forward pass are kept
WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "FullyShardedDataParallel": "module",
}


class Training:
    """What is known of the run as a training."""

    def __init__(self, torch: Any, judge: Judge) -> None:
        self.torch = torch
        self.judge = judge
        self.steps = 0
        self.each: dict[int, int] = {}  # steps of each optimizer
        self.optimizers: dict[int, str] = {}
        self.optimized: dict[int, Any] = {}  # references to the weights that optimizers have
        self.roots: dict[int, Any] = {}  # modules that were called from outside of any
        self.running: dict[int, list[Any]] = {}  # by thread: modules, the innermost last
        self.ranges: list[dict[str, Any]] = []
        self.weights: list[dict[str, Any]] = []
        self.older: list[dict[int, Any]] = []
        self.names: dict[int, str] = {}
        self.measured: tuple[int, int] = (0, 0)
        self.on_step: Callable[[int], None] = lambda _: None
        self.at_weights: Callable[[Any, str], None] = lambda *_: None

    # --- modules -------------------------------------------------------------------------

    def enter(self, module: Any, _: Any) -> None:
        """A hook before each module."""
        running = self.running.setdefault(_thread.get_ident(), [])
        if not running and id(module) not in self.roots:
            self.roots[id(module)] = module
            self._name(module)
        running.append(module)

    def leave(self, module: Any, _: Any, out: Any) -> None:
        """A hook after each module, also when it failed."""
        running = self.running.get(_thread.get_ident()) or []
        while running and running.pop() is not module:
            pass
        try:
            # What is done to a tensor while it is traced becomes a part of the traced program.
            if self.judge.on and not self.torch.jit.is_tracing():
                self._measure(module, out)
        except Exception as error:
            self.judge.failed(error)

    def current(self) -> Any:
        """The innermost module that runs in this thread."""
        running = self.running.get(_thread.get_ident())
        return running[-1] if running else None

    def _measure(self, module: Any, out: Any) -> None:
        """Note the range of what it gave; once where a container gives what its last part gave."""
        tensor = next(iter(self._tensors(out)), None)
        if (
            type(module).__name__ in WRAPPERS
            or tensor is None
            or not tensors.readable(self.torch, tensor)
        ):
            return
        same = (tensor.data_ptr(), 0 if tensor.is_inference() else tensor._version)
        if same == self.measured:
            return
        self.measured = same
        with self.torch._C._DisableTorchDispatch():  # what we do is not the program's
            most = tensors.largest(self.torch, tensor.detach())
        self.ranges.append(
            {
                "module": self.name_of(module),
                "class": type(module).__name__,
                "largest": most,
                "dtype": str(tensor.dtype).replace("torch.", ""),
            }
        )
        del self.ranges[:-BEFORE]

    def _tensors(self, value: Any, depth: int = 0) -> list[Any]:
        """Find tensors in what a module gave: tuples, dicts, dataclasses."""
        if isinstance(value, self.torch.Tensor):
            return [value]
        if depth > 3:
            return []
        if isinstance(value, (tuple, list)):
            inner: Any = value
        elif isinstance(value, dict):
            inner = value.values()
        else:
            inner = vars(value).values() if hasattr(value, "__dataclass_fields__") else ()
        return [one for part in inner for one in self._tensors(part, depth + 1)]

    # --- names ---------------------------------------------------------------------------

    def _name(self, root: Any) -> None:
        while type(root).__name__ in WRAPPERS:  # nobody thinks of them as part of the model
            root = getattr(root, WRAPPERS[type(root).__name__])
        title = type(root).__name__
        for name, part in root.named_modules():
            self.names.setdefault(id(part), f"{title}.{name}" if name else title)
        for name, weight in root.named_parameters():
            self.names.setdefault(id(weight), f"{title}.{name}")

    def name_of(self, thing: Any) -> str:
        """Give the path of a module or a weight below the module that was called."""
        found = self.names.get(id(thing))
        if found is None:
            for root in list(self.roots.values()):
                self._name(root)
            found = self.names.get(id(thing)) or _name_in_main(thing)
        return found

    # --- optimizers ----------------------------------------------------------------------

    def note_optimizer(self, optimizer: Any) -> None:
        """Know its weights: it may be gone when it is asked which gradients were for one."""
        for group in optimizer.param_groups:
            for weight in group["params"]:
                if not self.is_optimized(weight):
                    self._note_weight(weight, id(weight))

    def _note_weight(self, weight: Any, key: int) -> None:
        """Until it is gone."""

        def forget(_: Any) -> None:
            self.optimized.pop(key, None)

        self.optimized[key] = weakref.ref(weight, forget)

    def is_optimized(self, weight: Any) -> bool:
        """Whether an optimizer has it: a gradient that it did not use was left on purpose."""
        known = self.optimized.get(id(weight))
        return known is not None and known() is weight

    def before_step(self, optimizer: Any, *_: Any) -> None:
        """A hook: gradients that are not finite are about to be used."""
        if not self.judge.on:
            return
        self.optimizers[id(optimizer)] = type(optimizer).__name__
        self.note_optimizer(optimizer)
        if self.judge.not_finite_in_backward:
            self.judge.not_finite_in_backward = False
            self.at_weights(_grads(optimizer), "gradient")
            self.judge.stop_if_ended()
        if not self.weights:
            try:
                self._weigh(optimizer)
            except Exception as error:
                self.judge.failed(error)
        self.judge.in_step = True

    def after_step(self, optimizer: Any, *_: Any) -> None:
        """A hook: count, and see how large the weights are."""
        self.judge.in_step = False
        self.steps += 1
        self.each[id(optimizer)] = self.each.get(id(optimizer), 0) + 1
        self.older.append(self.judge.lines)
        del self.older[:-GENERATIONS]
        self.judge.lines = {}
        self.ranges.clear()
        try:
            if self.judge.on:
                wrong = self._weigh(optimizer)
                if wrong:
                    self.at_weights([(one, one) for one in wrong], "weight")
            self.on_step(self.steps)
        except Exception as error:
            self.judge.failed(error)
        self.judge.stop_if_ended()

    def _weigh(self, optimizer: Any) -> list[Any]:
        """Note how large the weights are; which of them are not finite."""
        weights = [one for group in optimizer.param_groups for one in group["params"]]
        largest, where, wrong = 0.0, None, []
        with self.torch._C._DisableTorchDispatch():  # what we do is not the program's
            for one in weights:
                if tensors.readable(self.torch, one):
                    most = tensors.largest(self.torch, one.detach())
                    if most is None:
                        wrong.append(one)
                    elif most >= largest:
                        largest, where = most, one
        told = {"step": self.steps, "largest": largest, "name": ""}
        told["name"] = self.name_of(where) if where is not None else ""
        self.weights.append(told)
        del self.weights[:-STEPS]
        return wrong

    def line_of(self, number: int) -> Any:
        """The line of the forward pass that made a node of the backward graph."""
        for lines in (self.judge.lines, *reversed(self.older)):
            if number in lines:
                return lines[number]
        return None


def _name_in_main(thing: Any) -> str:
    """Give the name of a tensor that belongs to no module, as the script has it."""
    main = sys.modules.get("__main__")
    for name, value in list(vars(main).items()) if main is not None else ():
        if value is thing:
            return name
    shape = getattr(thing, "shape", None)
    return type(thing).__name__ + ("" if shape is None else str(list(shape)))


def _grads(optimizer: Any) -> list[tuple[Any, Any]]:
    return [
        (one, one.grad)
        for group in optimizer.param_groups
        for one in group["params"]
        if one.grad is not None
    ]
