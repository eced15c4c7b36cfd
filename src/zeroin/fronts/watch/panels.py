"""Panels as lines, each exactly as wide as it was given."""

from __future__ import annotations

from zeroin.fronts import words
from zeroin.fronts.watch import cells, table
from zeroin.fronts.watch.cells import amount, fit, percent, rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from zeroin.fronts.watch.look import Look
    from zeroin.tools.watch.things import Line, Panel, Thing

LEAST = {"processes": 80, "command": 40, "file": 40, "gpu": 60}  # cells that a panel needs
NARROW = 44  # the others
ENDED = 3  # of those that have ended, how many are shown
NAMES = {"memory": 9, "gpu": 28}  # cells of a name


def least(panel: Panel) -> int:
    """How narrow it may be."""
    return LEAST.get(panel.kind, NARROW)


def wanted(panel: Panel) -> int:
    """How many lines it would like."""
    if panel.kind == "processes":
        ended = min(ENDED, len(panel.ended))
        return (
            2 + len(panel.things) + ended + bool(panel.message) + (panel.number > len(panel.things))
        )
    if panel.lines:
        return 1 + len(panel.lines)
    return 1 + max(1, len(panel.things) + bool(panel.message))


def lines(panel: Panel, width: int, height: int, look: Look) -> list[str]:
    """At most that many."""
    body = BODIES.get(panel.kind, _shares)(panel, width, max(1, height - 1), look)
    room = width - cells.wide(panel.what) - 6
    rest = cells.joined([cells.clean(part) for part in _about(panel, room)], room)
    shown = [look.rule(panel.what, rest, width), *body]
    if not look.fine:
        shown = [look.plain(line) for line in shown]
    return [cells.exact(line, width) for line in shown[: max(1, height)]]


def _about(panel: Panel, room: int) -> list[str]:
    if panel.kind == "processes":
        return _sum(panel, room)
    if panel.kind == "command" and panel.things:
        return _ran(panel.things[0])
    return [panel.message] if panel.kind == "cpu" else []


def _sum(panel: Panel, room: int) -> list[str]:
    """What comes last is left out first where it is narrow."""
    total = panel.total
    parts: list[str] = []
    if panel.gone:
        parts.append(f"{panel.gone} ended")
    if total is None:
        return parts
    if panel.number > 1:
        real = total.memory if total.pss is None else total.pss
        kind = "RSS" if total.pss is None else "PSS"
        doubt = ", shared pages counted in each" if total.pss is None and room > 70 else ""
        parts += [f"{panel.number:,} processes", f"sum of {kind} {amount(real)}{doubt}"]
        if total.gpu:
            parts.append(f"GPU {amount(total.gpu)}")
        parts += [f"at most {amount(total.peak)}", f"cpu {percent(total.cpu)}"]
    return parts


def _ran(thing: Thing) -> list[str]:
    failed = [f"exit code {thing.exit_code}"] if thing.exit_code else []
    return [*failed, words.seconds(thing.age or 0.0)]


# --- processes ------------------------------------------------------------------------------


def _processes(panel: Panel, width: int, height: int, look: Look) -> list[str]:
    out: list[str] = []
    if panel.message:
        out.append(
            look.paint(fit(f"{panel.message}…" if panel.waits else panel.message, width), "yellow")
        )
    ended = [_ended(thing, width, look) for thing in panel.ended[:ENDED]]
    room = height - len(out) - len(ended)
    if panel.things and room > 0:
        names = table.columns(panel.things, width)
        if room > 1:
            out.append(table.titles(names, width, look))
            room -= 1
        # Where there is one line left, a process is worth more than how many there are.
        hidden = panel.number > min(room, len(panel.things)) and room > 1
        shown = panel.things[: room - hidden]
        out += [table.row(thing, names, width, look) for thing in shown]
        more = panel.number - len(shown)
        if hidden:
            out.append(look.paint(fit(f"        and {more:,} more", width), "dim"))
    return out + ended


def _ended(thing: Thing, width: int, look: Look) -> str:
    gpu = f", GPU {amount(thing.gpu)}" if thing.gpu else ""
    rank = f" rank {thing.rank}" if thing.rank is not None else ""
    said = f"{thing.pid!s:>7}{rank} ended after {cells.span(thing.age)}"
    said = cells.head(f"{said}, peak {amount(thing.peak)}{gpu} ", width)
    return look.paint(said + cells.command(thing.name, width - cells.wide(said)), "dim")


# --- shares of something: disks, memory, devices --------------------------------------------


def _shares(panel: Panel, width: int, height: int, look: Look) -> list[str]:  # noqa: ARG001
    out = [_share(thing, panel, width, look) for thing in panel.things]
    if panel.message:
        out.append(look.paint(fit(panel.message, width), "yellow"))
    return out


def _share(thing: Thing, panel: Panel, width: int, look: Look) -> str:
    if thing.total is None or thing.used is None:
        return _part(thing, width)
    # Of a disk, a part may be neither used nor free for us.
    whole = thing.used + thing.free if panel.kind == "disk" and thing.free else thing.total
    share = thing.used / whole if whole else 1.0
    size = width // 4 if panel.kind == "gpu" else width // 3
    name = "" if panel.kind == "disk" else fit(thing.name, min(NAMES[panel.kind], size)) + " "
    parts = [f"{percent(100 * share):>5} of {amount(whole)}"]
    if panel.kind == "gpu":
        parts = [f"{amount(thing.used)} of {amount(whole)}", f"{percent(thing.cpu)} busy"]
    parts += _change(thing) if panel.kind in ("disk", "memory") else []
    parts.append(f"{amount(thing.free)} free")
    parts += [cells.clean(thing.state)] if thing.state else []
    if panel.kind == "gpu":
        parts.append(f"peak {amount(thing.peak)}")
    room = width - cells.wide(name)
    said = cells.joined(parts, room - 7) or fit(parts[0], max(0, room - 1))
    room -= cells.wide(said) + 1
    curve = " " + cells.spark(thing.curve, 10, look.signs) if room >= 19 else ""
    size = max(0, min(24, room - len(curve)))
    colour = "red" if share > 0.95 else "yellow" if share > 0.85 else "green"
    drawn = look.paint(cells.bar(share, size, *look.bars), colour) + look.paint(curve, "cyan")
    return f"{name}{drawn} {said}" + " " * (room - size - len(curve))


def _change(thing: Thing) -> list[str]:
    """`+1.2 MB/s`, `full in 2:40 h`."""
    if thing.rate is None or abs(thing.rate) < 1000:
        return []
    full = [f"full in {cells.span(thing.full_in)}"] if thing.full_in is not None else []
    return [*full, f"{'+' if thing.rate > 0 else ''}{rate(thing.rate)}"]


def _part(thing: Thing, width: int) -> str:
    """A file that grows, or a process that holds memory of a device."""
    if thing.pid is not None:
        said = f"  {amount(thing.gpu):>8} {thing.pid:>7} "
        return said + cells.command(thing.name, width - len(said))
    said = f"  {amount(thing.used):>8} +{rate(thing.rate)} "
    return fit(said, min(width, 22)) + cells.command(thing.name, max(0, width - 22))


def _cpu(panel: Panel, width: int, height: int, look: Look) -> list[str]:
    """All together, then each; several to a line."""
    if not panel.things:
        return []
    whole, *each = panel.things
    curve = look.paint(cells.spark(whole.cpu_curve, 20, look.signs, least=100.0), "green")
    size = max(0, min(24, width - 38))
    bar = look.paint(cells.bar((whole.cpu or 0) / 100, size, *look.bars), "green")
    tail = " " * max(0, width - 36 - size)
    out = [cells.head(f"{'all':<5}", width) + f"{percent(whole.cpu):>6} {bar} {curve}   {tail}"]
    out = [out[0]] if width >= 38 else [fit(f"all {percent(whole.cpu)}", width)]
    per = max(1, width // 24)
    for at in range(0, len(each), per):
        if len(out) >= height:
            break
        parts = [_core(thing, look) for thing in each[at : at + per]]
        gap = " " * (width - 24 * len(parts)) if width >= 24 * len(parts) else ""
        out.append("".join(parts) + gap)
    return out


def _core(thing: Thing, look: Look) -> str:
    curve = look.paint(cells.spark(thing.cpu_curve, 10, look.signs, least=100.0), "green")
    return f"{fit(thing.name, 4)} {percent(thing.cpu):>6} {curve}  "


def _net(panel: Panel, width: int, height: int, look: Look) -> list[str]:  # noqa: ARG001
    out = []
    for thing in panel.things:
        said = f"{fit(thing.name, 8)} in {rate(thing.read):>10}  out {rate(thing.write):>10}"
        curve = cells.spark(thing.curve, 10, look.signs, least=1000.0) if width > 50 else ""
        out.append(fit(said, width - len(curve)) + look.paint(curve, "green"))
    return out or [fit(panel.message, width)]


# --- text -----------------------------------------------------------------------------------


def _text(panel: Panel, width: int, height: int, look: Look) -> list[str]:
    out = []
    if panel.message:
        out.append(look.paint(fit(panel.message, width), "yellow"))
    room = max(0, height - len(out))
    shown = panel.lines[-room:] if panel.kind == "file" and room else panel.lines[:room]
    if panel.kind != "file" and len(panel.lines) > room > 1:
        shown = panel.lines[: room - 1]
    out += [_line(line, width, look) for line in shown]
    if panel.kind != "file" and len(panel.lines) > len(shown):
        more = len(panel.lines) - len(shown)
        out.append(look.paint(fit(f"and {more:,} more lines", width), "dim"))
    return out


def _line(line: Line, width: int, look: Look) -> str:
    """New characters reversed."""
    if not (look.marks and any(line.marks)):
        return fit(cells.clean(line.text), width)
    out, taken, on = "", 0, False
    for character, new in zip(line.text, line.marks, strict=True):
        shown = cells.clean(character)
        if taken + cells.wide(shown) > width:
            break
        if new != on:
            out += words.style("7" if new else "27")
            on = new
        out += shown
        taken += cells.wide(shown)
    return out + (words.style("27") if on else "") + " " * (width - taken)


BODIES: dict[str, Callable[[Panel, int, int, Look], list[str]]] = {
    "processes": _processes,
    "cpu": _cpu,
    "net": _net,
    "command": _text,
    "file": _text,
}
