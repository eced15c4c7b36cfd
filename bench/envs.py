"""Which package of many broke it: how many tries, and what an environment for a try costs.

The tries are counted without running anything: changes that can be put back only with others are
drawn at random. The environments are real ones, of packages made here: composed of links, and
copied as an installer does it.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from typing import TYPE_CHECKING

from bench.measure import command, interleave
from bench.report import Row, at_most
from zeroin.cycle import Verdict
from zeroin.run import interpreter
from zeroin.run.composed import Part, compose
from zeroin.search.bisection import Bisection
from zeroin.search.cure import Chain, Cure, Edge, Graph

if TYPE_CHECKING:
    from bench.scene import Scene

CHANGES = 178
PACKAGES, FILES = 200, 20
_MIRROR = {Verdict.SAME: Verdict.PASSED, Verdict.PASSED: Verdict.SAME}


def measure(scene: Scene) -> list[Row]:
    """Tries, then seconds."""
    return [*_tries(scene), *_costs(scene)]


# --- tries --------------------------------------------------------------------------------------


def _tries(scene: Scene) -> list[Row]:
    drawn = random.Random(3)
    times = 20 if scene.quick else 200
    rows = []
    for culprits, limit in ((1, 15), (2, 25)):
        counts = [_asked(drawn, culprits) for _ in range(times)]
        mean, most = sum(counts) / times, max(counts)
        rows.append(
            Row(
                f"{culprits} of {CHANGES} changes, {CHANGES // 2} pairs that go only together",
                f"{mean:.1f} tries, at most {most}",
                "one after the other, nothing known about any change",
                (at_most(most, limit, "tries"),),
                {"mean": mean, "most": most},
            )
        )
    return rows


def _asked(drawn: random.Random, culprits: int) -> int:
    ones = [(drawn.randrange(CHANGES), drawn.randrange(CHANGES)) for _ in range(CHANGES // 2)]
    graph = Graph(CHANGES, ones)
    bad = frozenset(drawn.sample(range(CHANGES), culprits))
    known: dict[frozenset[int], Verdict] = {}

    def verdict(put_back: frozenset[int]) -> Verdict:
        fails = bad <= graph.all - put_back
        return known.setdefault(put_back, Verdict.SAME if fails else Verdict.PASSED)

    verdict(frozenset())
    verdict(graph.all)
    search = Cure(graph, [1.0] * CHANGES, list(range(CHANGES))).search()
    question = next(search)
    try:
        while True:
            if isinstance(question, Chain):
                halves = Bisection.of(len(question.sets) - 1, question.chances)
                while not halves.is_over:
                    (at,) = halves.plan((), 1)
                    halves = halves.told(at, _MIRROR[verdict(question.sets[at])])
                question = search.send(Edge(halves.good, halves.bad))
            else:
                question = search.send(verdict(question.put_back))
    except StopIteration:
        return len(known)


# --- environments -------------------------------------------------------------------------------


def _costs(scene: Scene) -> list[Row]:
    python = interpreter.at(scene.python, scene.folder, scene.env)
    parts = [_package(scene.make(f"pins/{number}"), number) for number in range(PACKAGES)]
    linked, copied = scene.make("linked"), scene.make("copied")
    began = time.monotonic()
    made = compose(linked, python, parts)
    composing = time.monotonic() - began
    plain = compose(copied, python, [])
    began = time.monotonic()
    for part in parts:
        shutil.copytree(part.folder, plain.site, dirs_exist_ok=True)
    copying = time.monotonic() - began
    words = ["-c", f"import {', '.join(f'package{number}' for number in range(0, PACKAGES, 4))}"]
    cases = {
        "linked": command([made.python, *words], scene.env, scene.folder),
        "copied": command([plain.python, *words], scene.env, scene.folder),
    }
    series = interleave(cases, scene.rounds)
    ratio = series["linked"].wall / series["copied"].wall
    return [
        Row(
            f"an environment of {PACKAGES} packages, {FILES * PACKAGES:,} files",
            f"{composing * 1000:.0f} ms",
            f"{copying / composing:.0f} times as long if the files are copied",
            (at_most(composing / copying, 0.5, "of that"),),
            {"composing": composing, "copying": copying},
        ),
        Row(
            "a start in it, with a quarter of them imported",
            f"{series['linked'].wall * 1000:.0f} ms",
            f"× {ratio:.2f} of one where the files are copied",
            (at_most(ratio, 1.2, "times"),),
            {"linked": series["linked"].wall, "copied": series["copied"].wall},
        ),
    ]


def _package(folder: str, number: int) -> Part:
    own = os.path.join(folder, f"package{number}")
    info = os.path.join(folder, f"package{number}-1.0.dist-info")
    os.makedirs(own)
    os.makedirs(info)
    for name in ("__init__", *(f"module{one}" for one in range(FILES - 1))):
        with open(os.path.join(own, f"{name}.py"), "w", encoding="utf-8") as file:
            file.write(f"def function():\n    return {number}\n" * 20)
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as file:
        file.write(f"Metadata-Version: 2.1\nName: package{number}\nVersion: 1.0\n")
    return Part(folder, is_own=True)
