"""Judging one operation: did it make NaN or inf, or only pass it on, or take it away?"""

from __future__ import annotations

import _thread
import math
import sys

from . import about, places, tensors
from .origins import Origin, Trails, key_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .plans import Plan

SEEN = 50_000  # storages that an operation is known to have written
EMPTIES = 4_000  # tensors that nobody has written to yet
ORIGINS = 2_000
IN_A_ROW = 16  # steps that GradScaler may leave out: its scale has fallen from 65,536 to 1


class Input:
    """A tensor that an operation got, and that is not finite."""

    __slots__ = ("name", "nan", "tensor", "trail")

    def __init__(self, name: str, tensor: Any, nan: bool, trail: Any) -> None:
        self.name = name
        self.tensor = tensor
        self.nan = nan
        self.trail = trail


class Found(SystemExit):
    """Ends the program: what was looked for is found. No `except Exception` stops it."""


class Judge:
    """What is known so far. One for all threads of a process."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        # Called with an origin that is to be told, why, and from which line.
        self.matters: Callable[[Origin, str, Any], None] = lambda *_: None
        self.trails = Trails()
        self.origins: list[Origin] = []
        self.literals: dict[Any, Origin] = {}  # by line
        self.lines: dict[int, Any] = {}  # of nodes of the backward graph
        self.seen: dict[int, None] = {}
        self.empties: dict[int, Any] = {}
        self.prior: list[tuple[Any, Any]] = []  # what the operation writes into, as it was
        self.module: Callable[[], Any] = lambda: None
        self.line_of: Callable[[int], Any] = self.lines.get
        self.is_optimized: Callable[[Any], bool] = lambda _: False
        self.strict_inf = False
        self.in_step = False  # of an optimizer
        self.not_finite_in_backward = False
        self.in_backward: Origin | None = None  # of the last that was not finite there
        self.in_a_row = 0  # steps that GradScaler left out
        self.scaled = 0  # steps that GradScaler has decided on
        self.skips: list[float] = []  # scales at which GradScaler left a step out
        self.error = ""
        self.on = True
        self.over = False
        self.ended = False
        self.stopped: set[int] = set()  # threads that were told of the end
        self.enrich: Callable[[Origin], None] = lambda _: None

    def failed(self, error: Exception) -> None:
        """Keep the first error of our own: the report mentions it."""
        text = str(error).partition("\n")[0]
        self.error = self.error or f"{type(error).__name__}: {text}"

    def end(self, told: bool = True) -> None:
        """Look no more; and if it was told, end the program."""
        self.on = False
        self.over = True
        self.ended = self.ended or told

    def stop_if_ended(self) -> None:
        """End this thread, once: what it does on its way out is its own affair."""
        if self.ended and _thread.get_ident() not in self.stopped:
            self.stopped.add(_thread.get_ident())
            raise Found(1)

    # --- before and after an operation ---------------------------------------------------

    def before(self, plan: Plan, args: Any, kwargs: Any) -> None:
        """Note what is in the tensors that will be written to."""
        self.prior = []
        for tensor in plan.targets(args, kwargs):
            if not tensors.readable(self.torch, tensor):
                continue
            key = key_of(tensor)
            trail = self.trails.known.get(key) if key is not None else None
            if trail is None and (key in self.seen or key in self.empties):
                continue
            if tensors.is_finite(self.torch, tensor):
                continue
            self.prior.append((tensor, trail))

    def after(self, plan: Plan, args: Any, kwargs: Any, out: Any) -> None:
        """Look at what it made."""
        if plan.reads:
            if type(out) is float and not math.isfinite(out):
                self.read(args[0], out)
            return
        if plan.empty:
            self._note_empty(out)
            return
        if plan.anothers:
            self._forget(out)
            if plan.written:
                return
        bad = []
        for tensor in plan.results(args, kwargs, out):
            if not tensors.readable(self.torch, tensor):
                continue
            self._note_seen(tensor)
            if not tensors.is_finite(self.torch, tensor):
                bad.append(tensor)
            elif self.trails:
                self.trails.overwritten(tensor, in_place=bool(plan.written))
        if bad:
            self._not_finite(plan, args, kwargs, bad)
        elif self.trails:
            self._finite(plan, args, kwargs)
        self.prior = []
        if plan.name == "_amp_update_scale_":
            self._scaler(args)

    def _note_seen(self, tensor: Any) -> None:
        key = key_of(tensor)
        if key is None or key in self.seen:
            return
        self.empties.pop(key, None)
        self.seen[key] = None
        if len(self.seen) > SEEN:
            self.seen.clear()

    def _forget(self, tensor: Any) -> None:
        """Its storage has come from elsewhere, perhaps at an address that we knew."""
        key = key_of(tensor) if isinstance(tensor, self.torch.Tensor) else None
        if key is not None:
            self.empties.pop(key, None)
            self.seen.pop(key, None)
            self.trails.known.pop(key, None)

    def _note_empty(self, out: Any) -> None:
        key = key_of(out) if isinstance(out, self.torch.Tensor) else None
        if key is None:
            return
        self._forget(out)
        self.empties[key] = places.place_of(sys._getframe(3))
        if len(self.empties) > EMPTIES:
            del self.empties[next(iter(self.empties))]

    # --- judging -------------------------------------------------------------------------

    def _finite(self, plan: Plan, args: Any, kwargs: Any) -> None:
        """Finite, though an input may not have been: taken away, or about to matter."""
        for _, value in plan.inputs(args, kwargs):
            if not isinstance(value, self.torch.Tensor):
                continue
            if plan.name == "ones_like":
                if places.is_called_by("_make_grads", "autograd/__init__.py", sys._getframe(4)):
                    self._loss(value)
                return
            origin = self.trails.of(value)
            # Who asks whether a gradient is finite sees to it; others only want to know.
            if not plan.asks or (origin is not None and origin.backward):
                self.trails.used(value)

    def _loss(self, value: Any) -> None:
        origin = self.trails.of(value)
        if origin is not None and not tensors.is_finite(self.torch, value):
            self.matters(origin, "loss", self._place())

    def read(self, tensor: Any, value: float) -> None:
        """The program looks at a number that is not finite: at the loss, or at something else."""
        origin = self.trails.of(tensor)
        if origin is None:
            return
        if tensor.requires_grad and not (origin.written and math.isinf(value)):
            self.matters(origin, "loss", self._place())
        elif origin.used is None and not origin.written:
            origin.used = places.described(self._place())

    def _not_finite(self, plan: Plan, args: Any, kwargs: Any, bad: list[Any]) -> None:
        written = set(map(id, plan.targets(args, kwargs)))
        inputs = [
            (name, value)
            for name, value in plan.inputs(args, kwargs)
            if id(value) not in written and tensors.readable(self.torch, value)
        ]
        wrong = [
            Input(name, value, tensors.has_nan(self.torch, value), self.trails.of(value))
            for name, value in inputs
            if not tensors.is_finite(self.torch, value)
        ]
        for tensor, trail in self.prior:
            nan = trail is None or trail.nan
            wrong.append(Input("self", tensor, nan, trail))
        nan = any(tensors.has_nan(self.torch, one) for one in bad)
        trail = self._trail(plan, args, kwargs, bad, wrong, nan)
        for one in wrong:
            if not plan.asks:
                self.trails.used(one.tensor)
        for tensor in bad:
            self.trails.lay(tensor, trail)
        node = self.torch._C._current_autograd_node()
        if node is not None:
            self.not_finite_in_backward = True
            self.in_backward = trail
            self._arrived(node, trail)

    def handed_on(self, tensor: Any) -> None:
        """Autograd takes a gradient as it is, without an operation that makes a new one."""
        node = self.torch._C._current_autograd_node()
        origin = self.trails.of(tensor) if node is not None else None
        if origin is not None:
            self._arrived(node, origin)

    def _arrived(self, node: Any, origin: Origin) -> None:
        """Note whether it is now in a gradient that an optimizer will use."""
        leaf = getattr(node, "variable", None)  # of AccumulateGrad
        if leaf is not None and self.is_optimized(leaf):
            origin.optimized = True

    def _trail(
        self, plan: Plan, args: Any, kwargs: Any, bad: list[Any], wrong: list[Input], nan: bool
    ) -> Origin:
        carried = [one for one in wrong if one.nan or not nan]
        if carried:  # passed on
            trails = [one.trail or self._came_in(plan, args, one) for one in carried]
            return next((one for one in trails if not one.written), trails[0])
        if not wrong and _is_written_out(args, kwargs):
            return self._written(nan, plan, bad)
        made = self._origin(nan, about.operation(self, plan, args, kwargs, bad))
        for one in wrong:
            trail = one.trail or self._came_in(plan, args, one)
            if not trail.written:
                made.came_of = trail
                made.optimized = trail.optimized
        if not nan and self.strict_inf:
            self.matters(made, "inf", None)
        return made

    def _came_in(self, plan: Plan, args: Any, one: Input) -> Origin:
        """It was not finite, and no operation made it: data, or memory nobody wrote to."""
        key = key_of(one.tensor)
        empty = self.empties.get(key) if key is not None else None
        if plan.name == "lift_fresh" and one.tensor.numel() == 1:
            return self._written(one.nan, plan, [one.tensor])
        told = about.data(self, plan, args, one.name, one.tensor, empty)
        made = self._origin(one.nan, told)
        self.trails.lay(one.tensor, made)
        return made

    def _written(self, nan: bool, plan: Plan, bad: list[Any]) -> Origin:
        """The program says it itself: one origin for each line, a mask is made at each step."""
        place = self._place()
        key = place[:2] if place is not None else None
        if key not in self.literals:
            self.literals[key] = Origin(-1, nan, about.written(self, plan, bad, nan))
            self.literals[key].place = place
            self.enrich(self.literals[key])
        return self.literals[key]

    def _origin(self, nan: bool, told: dict[str, Any]) -> Origin:
        made = Origin(len(self.origins), nan, told)
        made.place = self._place()
        made.round = self.scaled
        made.module = self.module()
        self.enrich(made)
        self.origins.append(made)
        if len(self.origins) > ORIGINS:
            del self.origins[: ORIGINS // 2]
        return made

    def _place(self) -> Any:
        return places.place_of(sys._getframe(1))

    def _scaler(self, args: Any) -> None:
        """GradScaler: `args` are the scale, how long it was good, and whether it was not."""
        self.scaled += 1
        if float(args[2]) == 0:
            self.in_a_row = 0
            return
        for one in self.origins:
            one.left_out = one.left_out or (one.backward and one.round == self.scaled - 1)
        self.skips.append(float(args[0]))
        self.in_a_row += 1
        self.not_finite_in_backward = False
        if self.in_a_row >= IN_A_ROW and self.in_backward is not None:
            self.matters(self.in_backward, "scaler", self._place())


def _is_written_out(args: Any, kwargs: Any) -> bool:
    """Whether inf or NaN is an argument: `full(..., -inf)`, `masked_fill(mask, -inf)`."""
    given = (*args, *kwargs.values())
    return any(type(value) is float and not math.isfinite(value) for value in given)
