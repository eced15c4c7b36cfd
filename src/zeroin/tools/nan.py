"""`nan`: the first operation that made NaN or inf which mattered."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.run.witness import Until
from zeroin.tools.run import RunReport, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.agent_order import AgentOrder
    from zeroin.run.execute import Ended
    from zeroin.run.inbox import Inbox
    from zeroin.run.keep import Keeper
    from zeroin.tools.run import Options

GRACE = 10.0  # seconds that the whole program has to end after the process that found it


class Wanted(NamedTuple):
    """What is looked for, and whether the program goes on."""

    inf: bool = False  # also inf that leads to nothing
    go_on: bool = False
    after: int = 0  # steps of optimizers before anything is looked at

    def as_text(self) -> str:
        """For the agent."""
        words = ["inf"] * self.inf + ["go-on"] * self.go_on
        return ",".join([*words, f"after={self.after}"])


class Seen(NamedTuple):
    """What the processes told."""

    findings: list[dict[str, Any]]  # the first one first
    numpy: list[dict[str, Any]]  # and of jax
    ends: list[dict[str, Any]]  # one for each process and library


class NanReport(NamedTuple):
    """A run, and what was not finite in it."""

    run: RunReport
    seen: Seen
    wanted: Wanted

    @property
    def verdict(self) -> str:
        """Say found, clean, or unknown where nothing could be looked at."""
        if self.seen.findings or any(self.counts(one) for one in self.seen.numpy):
            return "found"
        if any("steps" not in one for one in self.seen.ends if one["library"] == "torch"):
            return "unknown"  # torch was there, and could not be looked at
        if any(one.get("error") for one in self.seen.ends if one["library"] == "jax"):
            return "unknown"
        return "clean" if self.seen.ends and not self.only_warnings else "unknown"

    @property
    def only_warnings(self) -> bool:
        """Whether numpy is all there was: its values are not looked at, only what it warns of."""
        return {one["library"] for one in self.seen.ends} == {"numpy"}

    def counts(self, told: dict[str, Any]) -> bool:
        """Whether a line of numpy's or jax's is a finding.

        Inf alone is one if it is asked for, and where nothing tells whether it matters.
        """
        return told["what"] == "NaN" or self.wanted.inf or self.only_warnings


def nan(cycle: Cycle, options: Options, environ: Mapping[str, str], wanted: Wanted) -> NanReport:
    """Run it once, each operation looked at."""
    watch = NanWitness(wanted)
    report = run(cycle, options, environ, witnesses=[watch])
    return NanReport(report, watch.seen, wanted)


class NanWitness(Until):
    """Asks the agents to look at each operation; ends the run after the finding that counts."""

    def __init__(self, wanted: Wanted) -> None:
        super().__init__(_is_final, GRACE)
        self._wanted = wanted
        self.seen = Seen([], [], [])  # once the run is over

    def ask_agent(self, order: AgentOrder, env: dict[str, str]) -> AgentOrder:  # noqa: ARG002
        """See `Witness`."""
        return order._replace(nan=self._wanted.as_text())

    def collect(self, ended: Ended, inbox: Inbox, keeper: Keeper) -> None:  # noqa: ARG002
        """See `Witness`."""
        self.seen = _sorted(inbox.messages)


def _is_final(message: Mapping[str, Any]) -> bool:
    return message.get("kind") == "nan" and bool(message.get("final"))


def _sorted(messages: list[dict[str, Any]]) -> Seen:
    """What mattered while it ran comes before what was read at the end of a process."""
    findings = [one for one in messages if one["kind"] == "nan"]
    findings.sort(key=lambda one: (one["how"] == "end", one["time"]))
    numpy = [one for one in messages if one["kind"] == "nan-numpy"]
    ends = [one for one in messages if one["kind"] == "nan-end"]
    return Seen(findings, sorted(numpy, key=lambda one: float(one["time"])), ends)
