"""What a probe costs: other code, the function it stands in, and the start.

The program calls functions of one file and times them itself. With a probe on one of them
(`--at probed.py:12 ...`) the others must keep their speed: that is the target. The function
that holds the probe pays for it each time it is reached; how much is told for a condition
that is never met, and for a probe that is done (`times=1`) and only counts. A debugger's
breakpoint by `sys.settrace`, on the same line, stands beside it.

A clock can't tell 2 %: two runs of the same command differ by more, since each process has another
layout of memory. So the target is held against instructions, which valgrind counts.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from bench.listening import Listener
from bench.measure import CommandFailedError, Sample, counted, interleave, valgrind
from bench.report import Row, at_most, more, ms
from bench.scene import interpreters
from zeroin.cycle import Cycle
from zeroin.run.agent_order import AgentOrder
from zeroin.tools.probes import ProbeWitness

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.scene import Scene

LINE = 12  # of programs/probed.py, inside `watched`
TURNS = 100_000
ROUNDS = 60
FEW, MANY = 10_000, 50_000  # turns, where each instruction is counted
NEVER = f"probed.py:{LINE} 'if=x < 0' peek=y"
DONE = f"probed.py:{LINE} peek=x times=1"
OTHERS = 1.02
START = 25  # milliseconds


def measure(scene: Scene) -> list[Row]:
    """On the oldest and the newest interpreter."""
    pythons = interpreters()
    script = scene.program("probed.py")
    rounds = 5 if scene.quick else ROUNDS
    rows = []
    with Listener(scene) as listener:
        for version in dict.fromkeys([next(iter(pythons)), list(pythons)[-1]]):
            rows += _instructions(scene, listener, [pythons[version], script], version)
            rows += _speeds(listener, [pythons[version], script], version, rounds)
            rows.append(_start(listener, [pythons[version], script, "0"], version, scene.rounds))
    return rows


def _instructions(scene: Scene, listener: Listener, words: list[str], version: str) -> list[Row]:
    """How many the other functions take, by two runs that differ in nothing but their turns."""
    log = os.path.join(scene.make("probe"), "counted")
    tool = valgrind(log)
    if not tool:
        return [Row(f"instructions, CPython {version}: valgrind is not installed")]
    bare, listener.bare = listener.bare, {**listener.bare, "PYTHONHASHSEED": "0"}

    def instructions(text: str, turns: int) -> int:
        _run(listener, [*tool, *words, str(turns), "others"], text)
        return counted(log)

    try:
        for text in ("", NEVER, DONE):  # the first of all runs compiles what is loaded
            _run(listener, [*words, "0", "others"], text)
        each = {
            text: (instructions(text, MANY) - instructions(text, FEW)) / (MANY - FEW)
            for text in ("", NEVER, DONE)
        }
    finally:
        listener.bare = bare
    titles = {NEVER: "a condition that is never met", DONE: "done after one peek, only counting"}
    return [
        Row(
            f"{title}, CPython {version}",
            f"other functions {each[text] / each['']:.3f} ×",
            f"{each[text]:,.0f} instructions, without a probe {each['']:,.0f}",
            (at_most(each[text] / each[""], OTHERS, "×"),),
            {"instructions": each[text], "bare": each[""]},
        )
        for text, title in titles.items()
    ]


def _speeds(listener: Listener, words: list[str], version: str, rounds: int) -> list[Row]:
    """The best of many processes: each has another layout of memory, which moves it by 5 %."""
    asked = {"none": "", "again": "", "never": NEVER, "done": DONE, "trace": ""}
    best: dict[str, tuple[float, float]] = {}
    for _ in range(rounds):
        for name, text in asked.items():
            more_words = ["trace"] if name == "trace" else []
            written, _cpu = _run(listener, [*words, str(TURNS), *more_words], text)
            _, others, _, own = map(float, written.split())
            before = best.get(name, (others, own))
            best[name] = (min(before[0], others), min(before[1], own))
    titles = {
        "again": "without a probe, once more: the noise",
        "never": "a condition that is never met",
        "done": "done after one peek, only counting",
        "trace": "a debugger's settrace instead",
    }
    bare_others, bare_own = best["none"]
    rows = []
    for name, title in titles.items():
        others, own = best[name]
        ratio = others / bare_others
        each = (own - bare_own) / TURNS
        rows.append(
            Row(
                f"{title}, CPython {version}",
                f"other functions {ratio:.3f} ×",
                f"its own: {own / bare_own:.2f} ×, {each * 1e6:+.2f} µs a call",
                (),
                {"others": ratio, "own": own / bare_own, "each": each},
            )
        )
    return rows


def _run(listener: Listener, words: list[str], text: str) -> tuple[bytes, float]:
    """With the agent, and with the probe if there is one: what it wrote, and its CPU time."""
    script = next(word for word in words if word.endswith("probed.py"))
    cycle = Cycle(("python",), os.path.dirname(script), at=(text,) if text else ())
    if text:
        listener.ask_agents(ProbeWitness(cycle).ask_agent(AgentOrder(), {}))
    try:
        ended, written, messages = listener.run(words, agent=True)
    finally:
        listener.ask_agents(AgentOrder())
    reached = any(m["kind"] == "probe" and m["event"] == "reached" for m in messages)
    if ended.code or reached is not bool(text):
        raise CommandFailedError(f"the probe did not work: {text}")
    return written, ended.cpu


def _start(listener: Listener, words: list[str], version: str, rounds: int) -> Row:
    def timed(text: str) -> Callable[[], Sample]:
        def once() -> Sample:
            started = time.perf_counter()
            _, cpu = _run(listener, words, text)
            return Sample(time.perf_counter() - started, cpu)

        return once

    cases = {"agent": timed(""), "probe": timed(f"probed.py:{LINE} 'if=x < 0' die")}
    series = interleave(cases, rounds, warm_up=2)
    bare, ours = series["agent"], series["probe"]
    added = ours.cpu - bare.cpu
    return Row(
        f"start, with one probe, CPython {version}",
        f"{ms(ours.wall)} ({ms(ours.median)})  cpu {ms(ours.cpu)}",
        f"cpu {more(added)} to {ms(bare.cpu)} with the agent alone",
        (at_most(added * 1000, START, "ms"),),
        {"added": added, "wall": ours.wall},
    )
