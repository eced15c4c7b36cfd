"""What is asked of the probes, as the driver has written it, and what has become of each here."""

from __future__ import annotations

import _ast
import os
from itertools import count

from .. import post
from . import places, tally

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Probe:
    """One probe, as asked for, and what has become of it in this process."""

    def __init__(self, asked: dict[str, Any], number: int) -> None:
        self.id = asked["id"]
        self.wants = asked
        self.file: str = asked.get("file", "")
        self.part = bool(asked.get("part"))
        self.module: str = asked.get("module", "")
        self.line: int = asked.get("line", 0)
        self.function: str = asked.get("function", "").replace("<locals>.", "")
        self.at_return = bool(asked.get("return"))
        self.every: int = asked.get("every", 1)
        self.times: int = asked.get("times", 0)
        self.quiet = bool(asked.get("quiet"))
        self.texts = {"if": asked.get("if", "")}
        self.turns = _Turns()
        self.reached, self.acted, self.raised, self.called = tally.counters(number)
        self.spent = False  # it has done all that it was asked to do
        self.told: set[str] = set()
        self.snapshots = 0
        self.others = 0
        self.stands = False  # somewhere, in this process
        self.may_be_ours = False
        self.owner: type | None = None  # the class it is for, where the method is a base's
        self.names: set[str] = set()
        self.condition: Any = None
        self.peeks: list[tuple[str, Any]] = []
        self.understand()
        for text in (*asked.get("peek", ()), self.texts["if"]):
            self.names |= places.names_in(text) if text else set()

    def understand(self, around: tuple[Any, ...] = ()) -> None:
        """Compile the expressions, as they are meant inside of these definitions."""
        classes = [one.name for one in around if isinstance(one, _ast.ClassDef)]
        cls = classes[-1] if classes else ""
        self.peeks = [(text, _compiled(text, cls)) for text in self.wants.get("peek", ())]
        self.condition = _compiled(self.texts["if"], cls) if self.texts["if"] else None

    def tell(self, event: str, **about: Any) -> None:
        """Tell the driver."""
        post.send({"kind": "probe", "id": self.id, "event": event, "pid": os.getpid(), **about})


class _Turns:
    """Which time it is that the condition holds; for `every`."""

    def __init__(self) -> None:
        self.step = count(1).__next__


def _compiled(text: str, cls: str = "") -> Any:
    """An expression, as it is understood in a class: there `__x` is `_Class__x`."""
    if "__" not in text or not cls:
        return compile(text, "<at>", "eval", dont_inherit=True)
    tree: Any = compile(text, "<at>", "eval", _ast.PyCF_ONLY_AST, dont_inherit=True)
    for node in places.walk(tree):
        field = {_ast.Name: "id", _ast.Attribute: "attr"}.get(type(node), "")
        name = getattr(node, field, "")
        if name.startswith("__") and not name.endswith("__"):
            setattr(node, field, f"_{cls.lstrip('_')}{name}")
    return compile(tree, "<at>", "eval", dont_inherit=True)
