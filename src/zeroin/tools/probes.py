"""Probes: what `--at PLACE ACTION ...` asks for, and what has become of it when a run is over."""

from __future__ import annotations

import os
import re

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run.witness import Witness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper

FLAGS = ("die", "pdb", "stack", "mem", "snapshot")
VALUES = ("peek", "if", "sleep", "times", "every")
EXAMPLE = "zeroin run --at train.py:41 peek=x.shape -- python train.py"
_WORD = re.compile(rf"\s+(?=(?:{'|'.join(VALUES)})=|(?:{'|'.join(FLAGS)})(?:\s|$))")
_FUNCTION = re.compile(r"[^\W\d]\w*(\.(?:<locals>\.)?[^\W\d]\w*)*")

# `[rank 2] train.py:41 forward  x = 3`, and the lines of a stack below it.
_SAID = re.compile(r"(?:\[[^]\n]*\] )?(?:\S[^:\n]*\.pyw?:\d+(?: [\w.<>]+)?  |  \S+\.pyw?:\d+)")


class Probed(NamedTuple):
    """One probe after a run. `why` says why it was never reached, else it is empty."""

    at: str  # as it was asked for
    place: str
    reached: int
    acted: int  # times that something was done
    raised: int  # times that an expression of it raised something
    processes: int  # in which it was reached
    file: str = ""  # where it stood
    line: int = 0
    function: str = ""
    why: str = ""
    notes: tuple[str, ...] = ()
    at_least: bool = False  # a process was killed that might have reached it more often


def text_of(words: Sequence[str], cwd: str) -> str:
    """The one text that a probe is kept as; one that can't be meant is refused."""
    import shlex

    every = _WORD.split(words[0].strip()) if len(words) == 1 else [w.strip() for w in words]
    text = shlex.join(every)
    parse(text, cwd)
    return text


def parse(text: str, cwd: str) -> dict[str, Any]:
    """What the agent is told of a probe."""
    import shlex

    place, *actions = shlex.split(text)
    asked: dict[str, Any] = {"at": text, **_place(place, cwd)}
    for action in actions:
        name, equals, value = action.partition("=")
        if name in FLAGS and not equals:
            asked[name] = True
        elif name in VALUES and value:
            _value(asked, place, name, value)
        elif name in VALUES and equals:
            raise UsageError(
                f"--at {place}: {name}= and nothing after it", hint=f"as in: {EXAMPLE}"
            )
        else:
            raise UsageError(f"--at {place}: there is no action {action!r}", hint=_near(action))
    if not asked.keys() & {"peek", "sleep", *FLAGS}:
        raise UsageError(f"--at {place}: and what is to be done there?", hint=f"as in: {EXAMPLE}")
    return asked


def _near(action: str) -> str:
    from difflib import get_close_matches

    every = [*FLAGS, *(f"{name}=" for name in VALUES)]
    near = get_close_matches(action, every, 1)
    return f"did you mean {near[0]}" if near else f"there are: {', '.join(every)}"


def _value(asked: dict[str, Any], place: str, name: str, value: str) -> None:
    from zeroin.tools.sizes import parse_seconds

    if name == "peek":
        asked["peek"] = [*asked.get("peek", ()), *_expressions(value, place)]
    elif name in asked:
        raise UsageError(f"--at {place}: {name}= is given twice")
    elif name == "if":
        _check(value, f"--at {place} if={value}")
        asked["if"] = value
    elif name == "sleep":
        asked["sleep"] = parse_seconds(value)
    elif value.isdecimal() and int(value) > 0:
        asked[name] = int(value)
    else:
        raise UsageError(f"--at {place} {name}={value}: write a number from 1 on")


def _expressions(text: str, place: str) -> list[str]:
    """`x.shape, f(y, z)`: at the commas that are in no brackets."""
    import ast

    source = f"_({text}\n)"
    where = f"--at {place} peek={text}"
    _check(source, where)
    call = ast.parse(source, mode="eval").body
    if not isinstance(call, ast.Call) or call.keywords or not call.args:
        raise UsageError(f"{where}: write expressions, with commas between")
    if any(isinstance(one, ast.Starred) for one in call.args):
        raise UsageError(f"{where}: a star can't be shown", hint="leave it out")
    return [ast.get_source_segment(source, one) or text for one in call.args]


def _check(expression: str, where: str) -> None:
    import ast

    try:
        compile(expression, "<at>", "eval", dont_inherit=True)
        if any(isinstance(one, ast.NamedExpr) for one in ast.walk(ast.parse(expression))):
            raise UsageError(
                f"{where}: it would set a variable of the program", hint="leave := out"
            )
    except (SyntaxError, ValueError) as error:
        said = error.msg if isinstance(error, SyntaxError) else error
        raise UsageError(f"{where}: {said}", hint="write a Python expression") from None


# --- places -----------------------------------------------------------------------------------


def _place(text: str, cwd: str) -> dict[str, Any]:
    rest, colon, last = text.rpartition(":")
    at_return = last == "return" and ":" in rest
    if at_return:
        rest, colon, last = rest.rpartition(":")
    if not colon or not rest or not last:
        raise UsageError(
            f"--at {text}: this is no place", hint="write FILE:LINE, FILE:FUNC or MODULE:FUNC"
        )
    found = _source(rest, text, cwd)
    if last.isdecimal():
        if at_return or int(last) < 1:
            raise UsageError(f"--at {text}: name a line from 1 on, or a function")
        return {**found, "line": int(last)}
    if not _FUNCTION.fullmatch(last):
        raise UsageError(f"--at {text}: {last!r} is neither a line nor a function's name")
    return {**found, "function": last, **({"return": True} if at_return else {})}


def _source(name: str, text: str, cwd: str) -> dict[str, Any]:
    full = os.path.join(cwd, os.path.expanduser(name))
    if os.path.isfile(full):
        if full.endswith((".so", ".pyc", ".pyd")):
            raise UsageError(f"--at {text}: {name} has no source; name the file it is made of")
        return {"file": os.path.realpath(full)}
    if name.endswith((".py", ".pyw")) or os.sep in name:
        if os.path.isabs(full) and name[:1] in (os.sep, "~", "."):
            raise UsageError(f"--at {text}: there is no such file: {full}")
        return {"file": os.path.normpath(name), "part": True}
    if not all(word.isidentifier() for word in name.split(".")):
        raise UsageError(f"--at {text}: {name!r} is neither a file nor a module's name")
    return {"module": name}


# --- during a run -------------------------------------------------------------------------------


class ProbeWitness(Witness):
    """Asks the agents for the probes of a cycle, and tells what has become of each."""

    def __init__(self, cycle: Cycle) -> None:
        self._texts = cycle.at
        self._asked = [parse(text, cycle.cwd) for text in cycle.at]
        self.probed: tuple[Probed, ...] = ()  # once the run is over

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:  # noqa: ARG002
        """See `Witness`; `zeroin.agent.probes` reads it."""
        numbered = [{"id": number, **one} for number, one in enumerate(self._asked)]
        return order._replace(probes=tuple(numbered))

    def trim_output(self, text: str) -> str:
        """See `Witness`."""
        return "".join(line for line in text.splitlines(True) if not _SAID.match(line))

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        from zeroin.tools import probes_told

        counts = probes_told.counts(inbox.folder, len(self._texts))
        is_python = any(message["kind"] == "start" for message in inbox.messages)
        found = []
        for number, text in enumerate(self._texts):
            events = [m for m in inbox.messages if m["kind"] == "probe" and m["id"] == number]
            asked, status = self._asked[number], ended.status
            how = probes_told.How(asked, events, counts[number], is_python=is_python, status=status)
            found.append(probes_told.probed(text, how))
        self.probed = tuple(found)
