"""`stacks` as text and as JSON."""

from __future__ import annotations

from zeroin.fronts import words
from zeroin.fronts.files_text import short
from zeroin.observe.stacks.denied import ENDED
from zeroin.observe.stacks.stack import module_of, owner_of
from zeroin.observe.stacks.verdict import let_go, who

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.observe.stacks.judge import Seen
    from zeroin.observe.stacks.merge import Group, Thread
    from zeroin.observe.stacks.stack import Frame
    from zeroin.tools.stacks import StacksReport

SHOWN_VALUES = 12  # of one frame
LIBRARY = 2  # frames of a library that are shown in a row: the call, and where it ends
PIDS = 6


def lines(
    report: StacksReport, paint: Paint, *, everything: bool = False, most: int = 10
) -> list[str]:
    """The verdict, then the groups, the odd one first, then what could not be seen."""
    groups = [g for g in report.look.groups if everything or not _is_hidden(g)]
    out = [paint(words.clean(report.look.verdict), "bold")]
    for group in groups[:most]:
        out += ["", *_group(report, group, paint, everything=everything)]
    about = []
    if len(groups) > most:
        about.append(f"{len(groups) - most} more groups: -n {len(groups)}")
    about += _left_out(report, everything=everything)
    notes = _notes(report.look.processes, paint)
    if about or notes:
        out.append("")
    out += [paint("  " + " · ".join(about), "dim")] if about else []
    return out + notes


def heading(report: StacksReport, paint: Paint) -> str:
    """Of one of several trees."""
    top = report.look.processes[0]
    return paint(f"== {report.wanted.said}: {words.cut(words.clean(top.command), 80)}", "cyan")


def _is_hidden(group: Group) -> bool:
    """Who waits for work, helpers, and processes of which there is nothing to show."""
    role = group.threads[0].name.role
    nothing = not group.frames and group.threads[0].wait.kind not in ("write", "stopped", "kernel")
    return group.idle or nothing or role in ("helper", "zeroin", "launcher")


def _left_out(report: StacksReport, *, everything: bool) -> list[str]:
    if everything:
        return []
    hidden = [g for g in report.look.groups if _is_hidden(g)]
    idle = sum(len(g.threads) for g in hidden if g.frames and g.idle)
    pids = {pid for g in hidden if not g.idle for pid in g.pids}
    pids -= {pid for g in report.look.groups if not _is_hidden(g) for pid in g.pids}
    pids -= {one.pid for one in report.look.processes if one.denied is not None}
    found = []
    if idle:
        found.append(f"{idle} idle thread{'s' * (idle > 1)}")
    if pids:
        found.append(f"{len(pids)} other process{'es' * (len(pids) > 1)}")
    return [f"{' and '.join(found)}: --all"] if found else []


def _group(report: StacksReport, group: Group, paint: Paint, *, everything: bool) -> list[str]:
    many = len(group.threads) > 1
    head = words.clean(f"{who(group.threads)}{_numbers(group)}")
    out = [f"{paint(head, 'bold', 'cyan')} {words.clean(group.standing.said(many=many))}"]
    state = [*group.details[:3], *_unseen_tasks(report, group), *_movement(report, group)]
    if let_go(group):
        state.append(f"to let it go on: {let_go(group)}")
    out += [paint(f"    {words.clean(text)}", "dim") for text in state if text]
    shown = [thread for thread in group.threads if thread.stack.locals] or group.threads[:1]
    if many and shown[0].stack.locals:
        out.append(paint(f"    the variables are those of {words.clean(who(shown[:1]))}", "dim"))
    out += _frames(shown[0], everything=everything)
    return out


def _unseen_tasks(report: StacksReport, group: Group) -> list[str]:
    """Without its tasks an event loop is only a loop."""
    if group.standing.kind not in ("loop", "loop-blocked"):
        return []
    means = {one.pid: one.means for one in report.look.processes}
    why = {means[pid].failed.get("asyncio") for pid in group.pids if pid in means}
    return [f"what its tasks wait for can't be read: {one}" for one in sorted(filter(None, why))]


def _numbers(group: Group) -> str:
    pids = group.pids
    if group.labels == [f"pid {pid}" for pid in pids]:
        return ""
    text = ", ".join(map(str, pids[:PIDS])) + (", …" if len(pids) > PIDS else "")
    return f" (pid{'s' * (len(pids) > 1)} {text})"


def _movement(report: StacksReport, group: Group) -> list[str]:
    """With `--every`: what has changed since the look before."""
    if report.moved is None:
        return []
    keys = [(t.stack.pid, t.stack.tid, t.stack.thread) for t in group.threads]
    moved = sum(report.moved.get(key, True) for key in keys)
    text = "moved" if moved == len(keys) else f"{moved} of {len(keys)} moved" if moved else "same"
    busy = sum(thread.busy for thread in group.threads)
    return [f"{text} since the last look · {busy:.0%} of a processor"]


def _frames(thread: Thread, *, everything: bool) -> list[str]:
    stack = thread.stack
    values = list(stack.locals) or [{}] * len(stack.frames)
    pairs = list(zip(stack.frames, values, strict=False))
    if not everything:
        pairs = _from_users(pairs)
    out: list[str] = []
    run: list[tuple[Frame, dict[str, str]]] = []
    for pair in pairs:
        if owner_of(pair[0][0]) == "user" or everything:
            out += _run(run)
            run = []
            out += _frame(pair[0], pair[1])
        else:
            run.append(pair)
    return out + _run(run)


def _from_users(pairs: list[Any]) -> list[Any]:
    """Without what every program and every thread begins with."""
    first = next((n for n, pair in enumerate(pairs) if owner_of(pair[0][0]) == "user"), 0)
    return pairs[first:]


def _run(run: Sequence[Any]) -> list[str]:
    """Frames of libraries in a row: the outermost one is what was called."""
    if len(run) <= LIBRARY + 1:
        return [line for frame, _ in run for line in _frame(frame, {})]
    rest = len(run) - LIBRARY
    return [*_frame(run[0][0], {}), f"    … {rest} more", *_frame(run[-1][0], {})]


def _frame(frame: Frame, values: dict[str, str]) -> list[str]:
    file, line, name = frame
    owner = owner_of(file)
    shown = short(file) if owner == "user" else module_of(file)
    where = f"{shown}:{line}" if line else shown
    text = f"  {where} in {name}" if where else f"  {name} (in C)"
    out = [words.clean(text)]
    if owner == "user":
        told = list(values.items())
        out += [f"      {k} = {words.cut(words.clean(v), 160)}" for k, v in told[:SHOWN_VALUES]]
        if len(told) > SHOWN_VALUES:
            out.append(f"      … {len(told) - SHOWN_VALUES} more")
    return out


def _notes(processes: Sequence[Seen], paint: Paint) -> list[str]:
    """Who has ended, who could not be seen and what helps, who was seen by other means."""
    out = [
        f"  {words.clean(one.name.label)} (pid {one.pid}) {one.words}"
        if one.name.label != f"pid {one.pid}"
        else f"  pid {one.pid} {one.words}"
        for one in processes
        if one.state == "Z"
    ]
    left = [str(one.pid) for one in processes if one.orphan]
    if left:
        out.append(f"  who started them has ended; to end what is left: kill {' '.join(left)}")
    refused: dict[tuple[str, str], list[Seen]] = {}
    for one in processes:
        if one.denied is not None and one.denied.why != ENDED:
            remedy = one.denied.remedy.replace(str(one.pid), "PID")
            refused.setdefault((one.denied.why, remedy), []).append(one)
    for (why, _), seen in refused.items():
        pids = ", ".join(str(one.pid) for one in seen[:PIDS]) + ", …" * (len(seen) > PIDS)
        out.append(paint(f"  no stack of pid{'s' * (len(seen) > 1)} {pids}: {why}", "yellow"))
        remedy = seen[0].denied.remedy if seen[0].denied else ""
        if remedy:
            out.append(f"    what helps: {remedy}")
    for source in ("faulthandler", "gdb"):
        by = [one for one in processes if one.means.source == source]
        if by:
            said = by[0].means.failed.get("py-spy", "")
            pids = ", ".join(str(one.pid) for one in by[:PIDS])
            out.append(paint(f"  by {source} (pid {pids}): py-spy says: {said}", "dim"))
    return out


# --- JSON ------------------------------------------------------------------------------------


def as_json(report: StacksReport) -> dict[str, Any]:
    """One object."""
    from zeroin.fronts import report_json

    return {
        "schema": report_json.SCHEMA,
        "of": report.wanted.said,
        "verdict": report.look.verdict,
        "groups": [_group_json(report, group) for group in report.look.groups],
        "processes": [_process_json(one) for one in report.look.processes],
        "seconds": round(report.look.seconds, 3),
    }


def _group_json(report: StacksReport, group: Group) -> dict[str, Any]:
    first = group.threads[0]
    values = list(first.stack.locals) or [{}] * len(group.frames)
    moved = report.moved
    return {
        "ranks": group.ranks,
        "pids": group.pids,
        "labels": group.labels,
        "threads": [
            {
                "pid": one.stack.pid,
                "tid": one.stack.tid,
                "name": one.stack.thread,
                "gil": one.stack.gil,
                "busy": round(one.busy, 3),
                "waits": one.wait.words,
                "waits_for": list(one.wait.pids),
                "moved": moved.get((one.stack.pid, one.stack.tid, one.stack.thread), True)
                if moved is not None
                else None,
            }
            for one in group.threads
        ],
        "main": group.is_main,
        "idle": group.idle,
        "kind": group.standing.kind,
        "verdict": f"{who(group.threads)} {group.standing.said(many=len(group.threads) > 1)}",
        "frames": [
            {"file": file, "line": line, "name": name, "owner": owner_of(file), "locals": found}
            for (file, line, name), found in zip(group.frames, values, strict=False)
        ],
    }


def _process_json(one: Seen) -> dict[str, Any]:
    return {
        "pid": one.pid,
        "parent": one.parent,
        "label": one.name.label,
        "role": one.name.role,
        "rank": one.name.rank,
        "command": one.command,
        "state": one.state,
        "words": one.words,
        "source": one.means.source or None,
        "failed": one.means.failed,
        "why_not": one.denied.why if one.denied else None,
        "remedy": (one.denied.remedy or None) if one.denied else None,
        "busy": round(one.busy, 3),
        "orphan": one.orphan,
    }
