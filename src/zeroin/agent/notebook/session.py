"""Hears of each cell before and after it runs: measures, follows the values, says a line."""

from __future__ import annotations

import sys
import time

from .. import amounts, costs, summary
from . import flow, fresh, history, reset, running, screen, warning
from .document import Document

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LEAST_SECONDS = 0.5  # below that, and below so many bytes, a cell's cost is not worth a line
LEAST_BYTES = 20_000_000
PATIENCE = 0.05  # seconds, where there is something to warn of
READABLE = frozenset(
    ("builtins", "collections", "datetime", "decimal", "numpy", "pandas", "polars", "torch", "jax")
)
BY_TEXT = "text:"  # a cell without a name is known by what stands in it
NAMELESS = "note: the front end names no cells: one that was edited counts as another"
OURS = ("_", "__", "___", "_i", "_ii", "_iii", "_ih", "_oh", "_dh", "_exit_code")


class Session:
    """One shell that the extension is loaded in."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.mode = "on"  # or "quiet": warnings only; or "off"
        self.history = history.History()
        self.document = Document(shell.user_ns)
        self.warner = warning.Warner(self.history, self.document)
        self.is_terminal = screen.is_terminal(shell)
        self.cells: list[Cell] = []  # that are running: a magic may run one inside of another
        self.costs: dict[int, costs.Cost] = {}
        # The cell that `%zeroin fresh --reset` is running, and its number.
        self._inside: tuple[str, int] | None = None
        self.is_running_all = False

    def begin(self) -> None:
        """Listen."""
        self.shell.events.register("pre_run_cell", self.before)
        self.shell.events.register("post_run_cell", self.after)
        self.shell.input_transformers_post.append(self.transform)

    def end(self) -> None:
        """Listen no more."""
        for cell in self.cells:
            if cell.tee is not None:
                cell.tee.stop()
        self.cells.clear()
        if self.transform in self.shell.input_transformers_post:
            self.shell.input_transformers_post.remove(self.transform)
        for name, function in (("pre_run_cell", self.before), ("post_run_cell", self.after)):
            try:
                self.shell.events.unregister(name, function)
            except ValueError:  # somebody has taken it away
                continue

    def forget(self, cells: list[dict[str, Any]]) -> None:
        """The session is empty: nothing that ran before counts, but that these are its cells."""
        again = [history.Run(one["key"], one["number"], one["source"]) for one in cells]
        self.history = history.History([run for run in again if run.number is not None])
        self.warner = warning.Warner(self.history, self.document)

    def transform(self, lines: list[str]) -> list[str]:
        """What IPython is to run instead of the lines of a cell."""
        return running.awaiting(self.shell, lines)

    async def run_all(self) -> None:
        """`%zeroin fresh --reset`; in a cell that does so itself, it is under way already."""
        if self.is_running_all:
            return
        self.is_running_all = True
        try:
            await reset.run_all(self, print)
        finally:
            self.is_running_all = False

    async def run_inside(self, key: str, number: int | None, source: str) -> Any:
        """Run a cell of the notebook from within another one: it keeps its number."""
        self._inside = (key, number or self.shell.execution_count)
        try:
            return await running.run(self.shell, source, store_history=False)
        finally:
            self._inside = None

    # --- around a cell --------------------------------------------------------------------------

    def before(self, info: Any) -> None:
        """It is about to run."""
        inside, self._inside = self._inside, None
        ours = fresh.is_ours(info.raw_cell)
        if inside is None and (self.mode == "off" or ours or not info.store_history):
            self.cells.append(Cell(None, {}, None))
            return
        number = self.shell.execution_count
        key, number = inside or (self._key(info, number), number)
        run = history.Run(key, number, info.raw_cell)
        bound = {name: id(value) for name, value in self._own_names()}
        cell = Cell(run, bound, screen.Tee(self.shell), counted=inside is None)
        self.cells.append(cell)
        cell.meter = costs.Meter()  # last: what we do is none of its cost

    def _key(self, info: Any, number: int) -> str:
        """What stays the same when a cell is run again: its id, else its text.

        In a terminal each line is a cell of its own.
        """
        if self.is_terminal:
            return f"line:{number}"
        return str(getattr(info, "cell_id", None) or f"{BY_TEXT}{info.raw_cell.strip()}")

    def nameless(self) -> list[str]:
        """What can't be told where the front end, as nbclient, does not say which cell it runs."""
        known = any(run.key.startswith(BY_TEXT) for run in self.history.runs)
        return [NAMELESS] if known else []

    def after(self, result: Any) -> None:
        """It has run. Whatever goes wrong here must not spoil the user's session."""
        if not self.cells:
            return  # the cell that loaded us
        cell = self.cells.pop()
        cost = cell.meter.read() if cell.meter else None
        if cell.run is None or cell.tee is None:
            return
        cell.run.printed = cell.tee.stop()
        if cell.counted:
            cell.run.number = getattr(result, "execution_count", None) or cell.run.number
        try:
            self._keep(cell, result)
            if cost is not None:
                self.costs[cell.run.number] = cost
            self._say(cell.run, cost)
        except Exception as error:
            self.mode = "off"
            screen.show(
                self.shell, f"zeroin: {type(error).__name__}: {error}; %zeroin is off", "warning"
            )

    def _keep(self, cell: Cell, result: Any) -> None:
        run = cell.run
        if run is None:
            return
        names = self.shell.user_ns
        error = getattr(result, "error_before_exec", None) or getattr(result, "error_in_exec", None)
        run.failed = error is not None
        run.error = type(error).__name__ if error is not None else ""
        if getattr(result, "result", None) is not None:
            run.result = told(result.result)
        changed = {name for name, value in self._own_names() if cell.bound.get(name) != id(value)}
        statements = flow.read(run.source, self.shell.transform_cell)
        upto = None if error is None else _line_of(error, names)
        self.history.add(run, statements, changed, self._is_value, upto)

    def _own_names(self) -> list[tuple[str, Any]]:
        hidden = self.shell.user_ns_hidden
        return [
            (name, value)
            for name, value in list(self.shell.user_ns.items())
            if type(name) is str
            and not (name[:1] == "_" and _is_history(name))
            and not (name in hidden and hidden[name] is value)
        ]

    def _is_value(self, name: str) -> bool:
        """Whether the session has it, and it is no module."""
        names = self.shell.user_ns
        return name in names and type(names[name]) is not type(sys)

    def _say(self, run: history.Run, cost: costs.Cost | None) -> None:
        if self.mode == "on" and cost is not None and _is_worth_it(cost):
            screen.show(self.shell, cost_line(cost), "dim")
        if self.is_terminal or not self.warner.has_something(run):
            return
        # The next cell of "run all" may be on its way still.
        until = time.monotonic() + PATIENCE
        while not screen.more_to_come(self.shell):
            if time.monotonic() > until:
                for line in self.warner.after(run):
                    screen.show(self.shell, line, "warning")
                return
            time.sleep(PATIENCE / 10)


class Cell:
    """A cell that is running."""

    __slots__ = ("bound", "counted", "meter", "run", "tee")

    def __init__(
        self, run: history.Run | None, bound: dict[str, int], tee: Any, counted: bool = False
    ) -> None:
        self.run = run
        self.counted = counted  # IPython gives it a number
        self.bound = bound  # names of the session, and the objects they were bound to
        self.tee = tee
        self.meter: costs.Meter | None = None


def cost_line(cost: costs.Cost) -> str:
    """`1.24 s · +200 MB (peak +512 MB) · in use 1.1 GB`."""
    peak = f" (peak +{amounts.size(cost.peak)})" if cost.peak > max(0, cost.grown) else ""
    grown = amounts.signed_size(cost.grown)
    return f"{amounts.seconds(cost.seconds)} · {grown}{peak} · in use {amounts.size(cost.used)}"


def told(value: Any) -> str:
    """A result, by what can be read off it: no code of the user's is run after each cell."""
    kind = type(value)
    root = str(getattr(kind, "__module__", "")).partition(".")[0]
    if root in READABLE:
        return summary.summarise(value)
    return f"<{kind.__name__}>"


def _is_worth_it(cost: costs.Cost) -> bool:
    return cost.seconds >= LEAST_SECONDS or max(abs(cost.grown), cost.peak) >= LEAST_BYTES


def _is_history(name: str) -> bool:
    """`_12`, `_i3` and the like."""
    return name in OURS or name.lstrip("_i").isdigit()


def _line_of(error: BaseException, names: Any) -> int:
    """The line of the cell at which it failed; 0 if none of it ran."""
    tb = error.__traceback__
    while tb is not None:
        frame = tb.tb_frame
        name = frame.f_code.co_name  # IPython has named it in both ways
        if frame.f_globals is names and name.startswith(("<module>", "<cell line")):
            return tb.tb_lineno
        tb = tb.tb_next
    return 0
