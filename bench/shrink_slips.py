"""Does a search end at another failure than the one it began with?

Programs are made at random that can fail in several ways, and payloads that fail in one of them;
each is shrunk, and what is left is run without us: exception, function and message must be those
of the payload as it was. The same is done with inputs of compilers, linters, formatters and
parsers, as many of those as there are on the machine: the first error must stay what it is.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import time
from typing import TYPE_CHECKING, Any

from bench.report import Goal, Row
from bench.tool_failures import TOOLS, ToolFailure, first_error, make_failure

if TYPE_CHECKING:
    from bench.scene import Scene

CASES = 200
FIELDS = ("price", "count", "name", "tags", "parent")
# What a row may be asked for, and what it answers.
CHECKS = (
    "100 / row['count']",
    "row['name'].upper()",
    "row['tags'][1]",
    "int(row['name'])",
    "rows[row['parent']]",
    "row['price'] + 'x'",
    "known[row['name']]",
    "assert_positive(row['price'])",
    "assert_positive(row['count'])",
    "len(row['tags'][0])",
)


def measure(scene: Scene) -> list[Row]:
    """All of them, and how many slipped."""
    return [_measure_programs(scene), _measure_tools(scene)]


def _measure_programs(scene: Scene) -> Row:
    count = 20 if scene.quick else CASES
    slips, others, tries, small = [], 0, 0, 0
    started = time.monotonic()
    made = 0
    seed = 0
    while made < count:
        seed += 1
        folder = scene.make(f"slips/{seed}")
        if not _make(scene, folder, random.Random(seed)):
            continue
        made += 1
        told, before, after = _shrunk(scene, folder)
        others += len(told["other_failures"])
        tries += told["tries"]
        small += told["payloads"][0]["parts_after"] <= 2
        if before != after or not told["confirmed"]:
            slips.append(f"{seed}: {before} became {after}")
    return Row(
        f"{count} programs that can fail in several ways",
        f"{len(slips)} slips",
        f"{tries / count:.0f} tries each, {(time.monotonic() - started) / count:.2f} s each; "
        f"{others / count:.1f} other failures met each; at most 2 rows left in {small}",
        (Goal("target 0 slips", not slips),),
        {"slips": slips},
    )


def _make(scene: Scene, folder: str, drawn: random.Random) -> bool:
    """A program and its rows; False if that does not fail."""
    checks = drawn.sample(CHECKS, 4)
    functions = "\n\n".join(
        f"def check{n}(row, rows, known):\n    return {check}" for n, check in enumerate(checks)
    )
    calls = "\n".join(f"        check{n}(row, rows, known)" for n in range(len(checks)))
    text = f"""
import json

def assert_positive(value):
    if value < 0:
        raise ValueError("negative")

{functions}

def main():
    with open("rows.jsonl") as file:
        rows = [json.loads(line) for line in file]
    known = {{row["name"]: row for row in rows}}
    for row in rows:
{calls}

main()
"""
    with open(os.path.join(folder, "use.py"), "w", encoding="utf-8") as file:
        file.write(text)
    rows = [_row(drawn, number) for number in range(30)]
    with open(os.path.join(folder, "rows.jsonl"), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    os.makedirs(os.path.join(folder, ".zeroin"), exist_ok=True)
    return _failure(scene, folder) != ""


def _row(drawn: random.Random, number: int) -> dict[str, object]:
    odd = drawn.random() < 0.06
    row: dict[str, object] = {
        "price": drawn.randrange(1, 99),
        "count": drawn.randrange(1, 9),
        "name": str(number),
        "tags": ["a", "b"],
        "parent": drawn.randrange(30),
    }
    if odd:
        field = drawn.choice(FIELDS)
        row[field] = {"price": -5, "count": 0, "name": None, "tags": [], "parent": 99}[field]
        if drawn.random() < 0.3:
            del row[field]
    return row


def _failure(scene: Scene, folder: str) -> str:
    """Function and last line of the traceback; empty if there is none."""
    done = subprocess.run(
        [os.path.realpath(scene.python), "use.py"],
        cwd=folder,
        env=scene.env,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    places = [line.rpartition(" in ")[2] for line in lines if line.startswith("  File")]
    return f"{lines[-1]} in {places[-1]}" if places else ""


def _shrunk(scene: Scene, folder: str) -> tuple[dict[str, object], str, str]:
    before = _failure(scene, folder)
    command = [os.path.realpath(scene.python), "use.py"]
    done = subprocess.run(
        [scene.zeroin, "shrink", "--json", "rows.jsonl", "--", *command],
        cwd=folder,
        env=scene.env,
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    os.replace(os.path.join(folder, "rows.min.jsonl"), os.path.join(folder, "rows.jsonl"))
    return told, before, _failure(scene, folder)


# --- compilers, linters, formatters, parsers ------------------------------------------------------


def _measure_tools(scene: Scene) -> Row:
    missing = sorted({one.program for one in TOOLS if not shutil.which(one.program)})
    tools = [one for one in TOOLS if one.program not in missing]
    if scene.quick:
        tools = [one for one in tools if not one.is_slow][:6]
    cases = [make_failure(one, seed) for one in tools for seed in ((1,) if one.is_slow else (1, 2))]
    slips, tries, lines = [], 0, 0
    started = time.monotonic()
    for case in cases:
        folder = scene.make(f"slips/{case.name.replace(' ', '-')}")
        slip, told = _shrunk_input(scene, folder, case)
        tries += told["tries"]
        lines += told["payloads"][0]["parts_after"] if told["payloads"] else 0
        if slip:
            slips.append(f"{case.name}: {slip}")
    names = {one.program for one in tools}
    without = f"; not there: {', '.join(missing)}" if missing else ""
    return Row(
        f"{len(cases)} inputs of {len(names)} compilers, linters, formatters, parsers",
        f"{len(slips)} slips",
        f"{tries / len(cases):.0f} tries each, {(time.monotonic() - started) / len(cases):.1f} s "
        f"each; {lines / len(cases):.1f} parts left{without}",
        (Goal("target 0 slips", not slips),),
        {"slips": slips, "missing": missing},
    )


def _shrunk_input(scene: Scene, folder: str, case: ToolFailure) -> tuple[str, dict[str, Any]]:
    """What is wrong with the result, if anything, and what was told of it."""
    os.makedirs(os.path.join(folder, ".zeroin"), exist_ok=True)
    for name, text in ((case.tool.file, case.text), *case.tool.beside):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
    env = _toolchains() | scene.env
    before = _reported(folder, case, env)
    words = [scene.zeroin, "shrink", "--json", case.tool.file, "--", *case.command]
    done = subprocess.run(words, cwd=folder, env=env, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)
    if told["verdict"] != "found":
        return f"{before} was {told['verdict']}", told
    target = os.path.join(folder, case.tool.file)
    os.replace(os.path.join(folder, case.result), target)
    after = _reported(folder, case, env)
    if not before or before != after:
        return f"{before} became {after}", told
    payload = told["payloads"][0]
    with open(target, encoding="utf-8", newline="\n") as file:
        counts = {"line": len(file.readlines())}
    if payload["bytes_after"] != os.path.getsize(target):
        return f"{payload['bytes_after']} bytes told of {os.path.getsize(target)}", told
    if payload["parts_after"] != counts.get(payload["noun"], payload["parts_after"]):
        return f"{payload['parts_after']} lines told of {counts['line']}", told
    return "", told


def _reported(folder: str, case: ToolFailure, env: dict[str, str]) -> str:
    program, *words = case.command
    done = subprocess.run(
        [program, *case.tool.quiet, *words],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return first_error(case.tool, done.stdout, done.stderr) if done.returncode else ""


def _toolchains() -> dict[str, str]:
    """Where rustup has what it starts: the scene has another home."""
    folder = os.environ.get("RUSTUP_HOME") or os.path.expanduser("~/.rustup")
    return {"RUSTUP_HOME": folder}
