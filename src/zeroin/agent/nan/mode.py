"""The mode through which every operation passes: is what it made finite, and if not, why?

Nothing here may change what the program computes, nor stop it but by `Found`: an error of
our own is kept for the report, and the operation's result is passed on.
"""

from __future__ import annotations

import sys

from . import places, tensors
from .plans import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .judge import Judge


def make(torch: Any, judge: Judge) -> Any:
    """Make the class; each thread enters a mode of its own. The base is the program's torch's."""
    base: Any = sys.modules["torch.utils._python_dispatch"].TorchDispatchMode
    plans: dict[Any, Plan] = {}
    plain: set[Any] = set()  # classes of tensors that are as tensors are
    sequence = torch.autograd._get_sequence_nr

    class Mode(base):  # type: ignore[misc]
        """See the module."""

        made = 0  # nodes of the backward graph, when the last operation ran

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """Torch would load its compiler here, for seconds: see `keep_from_compiler`."""
            return False

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            if types and not plain.issuperset(types) and _takes_apart(torch, types, plain):
                if torch._C._len_torch_dispatch_stack() or _is_torchs_own(types):
                    return func(*args, **kwargs) if kwargs else func(*args)
                return NotImplemented  # such tensors do it by operations that we see in turn
            plan = plans.get(func)
            if plan is None:
                plan = plans[func] = Plan(func)
            if plan.skip or not judge.on:
                if plan.hands_on and judge.on and judge.trails:
                    _safely(judge, judge.handed_on, args[0])
                if judge.ended:
                    judge.stop_if_ended()
                return func(*args, **kwargs) if kwargs else func(*args)
            if plan.written:
                _safely(judge, judge.before, plan, args, kwargs or {})
            made = sequence()
            if made != self.made:  # this operation has a node: the line is its, too
                self.made = made
                judge.lines[made - 1] = plan.name, places.place_of(sys._getframe(1)), judge.module()
            out = func(*args, **kwargs) if kwargs else func(*args)
            _safely(judge, judge.after, plan, args, kwargs or {}, out)
            if judge.ended:
                judge.stop_if_ended()
            return out

    return Mode


def keep_from_compiler(torch: Any, mode: Any) -> None:
    """Once the program has loaded the compiler: it must not compile what we do."""
    mode.__torch_dispatch__ = torch._disable_dynamo(mode.__torch_dispatch__)


def _safely(judge: Judge, look: Any, *given: Any) -> None:
    try:
        look(*given)
    except Exception as error:
        judge.failed(error)


def _is_torchs_own(types: Any) -> bool:
    """Whether the compiler or `torch.export` is at work, with tensors without numbers."""
    return any(cls.__module__.startswith("torch._subclasses") for cls in types)


def _takes_apart(torch: Any, types: Any, plain: set[Any]) -> bool:
    own = [cls for cls in types if tensors.is_foreign(torch, cls)]
    plain.update(cls for cls in types if cls not in own)
    return bool(own)
