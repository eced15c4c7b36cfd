"""`python -m bench [topic ...]`: measure, and print each figure beside its target.

Nothing is asserted: a figure that misses its target is printed as such, and the exit code
stays 0. Compare figures of one run only; another machine, or another hour of this one, has
others.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bench.report import Row, as_data, as_lines
from bench.scene import Scene
from bench.warm_scene import OURS
from zeroin import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

WARM = ("warm", "warm_first", "warm_idle", "warm_many", "warm_peers")
TOPICS = (
    "startup",
    "run",
    "output",
    "agent",
    "crash",
    "record",
    "files",
    "stacks",
    "look",
    "look_peers",
    "which",
    "leak",
    "shapes",
    "nan",
    *WARM,
    "search",
    "bisect_search",
    "shrink",
    "shrink_slips",
    "bisect_commits",
    "bisect_real",
    "envs",
    "limits",
    "watch",
    "probe",
    "fronts",
    "storm",
)


def main(args: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(args)
    wrong = [name for name in given.topics if name not in TOPICS]
    if wrong:
        print(f"bench: no topic {wrong[0]!r}; there are: {', '.join(TOPICS)}", file=sys.stderr)
        return 2
    ours = os.path.join(OURS, "bin", "python")  # of `make setup`
    if os.path.exists(ours):
        os.environ.setdefault("ZEROIN_TEST_LIBS", ours)
    say = (lambda _: None) if given.json else (lambda line: print(line, flush=True))
    machine = _machine()
    say(_heading(machine))
    results: dict[str, list[dict[str, Any]]] = {}
    with Scene(rounds=given.rounds, quick=given.quick, peers=given.peers) as scene:
        for name in given.topics or TOPICS:
            started = time.monotonic()
            topic = import_module(f"bench.{name}")
            say(f"\n{name}: {(topic.__doc__ or '').splitlines()[0]}")
            rows = _measure(topic, scene)
            results[name] = [as_data(row) for row in rows]
            for line in as_lines(rows):
                say(line)
            say(f"  ({time.monotonic() - started:.0f} s)")
    if given.json:
        print(json.dumps({"schema": 1, "machine": machine, "topics": results}, indent=1))
    else:
        say(_summary(results))
    return 0


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    p.add_argument("topics", nargs="*", metavar="topic", help=f"all of them: {', '.join(TOPICS)}")
    p.add_argument("--json", action="store_true", help="print one JSON object instead")
    p.add_argument("--quick", action="store_true", help="few rounds")
    p.add_argument("--rounds", type=int, metavar="N", help="rounds of the short measurements")
    p.add_argument(
        "--peers",
        action="store_true",
        help="install other tools with pip and measure them beside us: asciinema, con-duct, "
        "guild and pystack (in a temporary environment), watchfiles, IPython, jurigged, marimo, "
        "shrinkray, picire, lithium, icecream, snoop, PySnooper, TorchSnooper, stackprinter, rich "
        "and lovely-tensors (in .cache)",
    )
    return p


def _measure(topic: Any, scene: Scene) -> list[Row]:
    """One topic that can't be measured here must not hide the others."""
    try:
        rows: list[Row] = topic.measure(scene)
    except Exception as error:
        return [Row(f"could not be measured: {type(error).__name__}: {error}")]
    return rows


def _machine() -> dict[str, Any]:
    return {
        "zeroin": __version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 2),
    }


def _heading(machine: dict[str, Any]) -> str:
    busy = machine["load"] > machine["cores"] / 2
    about = "zeroin {zeroin} · Python {python} · {system} · {cores} cores · load {load}"
    return (
        about.format(**machine)
        + "\nEach figure is the minimum of interleaved rounds unless it says otherwise: what else"
        "\nruns on the machine can only add to it. The median stands beside it in brackets."
        + ("\nThe machine is BUSY: times on the clock are too long, look at cpu." if busy else "")
    )


def _summary(results: dict[str, list[dict[str, Any]]]) -> str:
    goals = [goal for rows in results.values() for row in rows for goal in row["goals"]]
    missed = [
        f"\n  {row['what']}: {goal['target']}"
        for rows in results.values()
        for row in rows
        for goal in row["goals"]
        if not goal["holds"]
    ]
    return f"\n{len(goals) - len(missed)} of {len(goals)} targets and aims hold" + (
        "; these do not:" + "".join(missed) if missed else ""
    )


if __name__ == "__main__":
    sys.exit(main())
