"""`zeroin doctor`."""

from __future__ import annotations

import sys

from zeroin.fronts import words
from zeroin.fronts.cli.options import add_json
from zeroin.fronts.cli.parsing import Parser
from zeroin.observe.machine import probe_all

EXAMPLES = """\
  zeroin doctor              what works here, and the one command that mends each lack
  zeroin doctor --json | jq '.probes[] | select(.state == "missing")'
"""
MARKS = {
    "ok": ("✓", "green"),
    "limited": ("~", "yellow"),
    "missing": ("✗", "red"),
    "absent": ("·", "dim"),
}
NO_FAULT = ("ok", "absent")


def parser() -> Parser:
    """All options of `doctor`."""
    p = Parser(
        "doctor",
        "What works on this machine (✓), what works in part (~) or is missing (✗), with the\n"
        "command that mends it, and what this machine does not have (·), which is no fault.",
        "[options]",
        EXAMPLES,
    )
    add_json(p)
    return p


def main(args: list[str]) -> int:
    """Look."""
    given = parser().parse_args(args)
    probes = probe_all()
    if given.json:
        words.put_json({"schema": 1, "probes": [probe._asdict() for probe in probes]})
        return 0
    paint = words.Paint(sys.stdout)
    wide = max(len(probe.name) for probe in probes)
    for probe in probes:
        mark, colour = MARKS[probe.state]
        words.put(f"{paint(mark, colour)} {probe.name:<{wide}}  {words.clean(probe.detail)}")
        if probe.state not in NO_FAULT:
            if probe.matters:
                words.put(paint(f"  {'':<{wide}}  for: {probe.matters}", "dim"))
            if probe.fix:
                words.put(f"  {'':<{wide}}  mend: {paint(probe.fix, 'bold')}")
    return 0
