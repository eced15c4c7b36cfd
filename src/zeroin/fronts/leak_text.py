"""`leak` as text and as JSON."""

from __future__ import annotations

import shlex

from zeroin.fronts import words
from zeroin.fronts.files_text import short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.observe.trend import Trend
    from zeroin.tools.leak.report import Leak, Place

NOUNS = {
    "fds": ("open file", "open files"),
    "threads": ("thread", "threads"),
    "children": ("child process", "child processes"),
}
PYTHONS = 0.3  # of the growth: with less, it is compiled code that grows
MOST = 4  # sites, containers and types that are shown
NOBODY = "held by compiled code, or by nobody that could be found"
GIVEN_UP = "who holds it was not found in the time there was"


def lines(found: Leak, paint: Paint) -> list[str]:
    """The verdict first, then who holds it."""
    out = [paint(_head(found), {"leaks": "red", "steady": "green"}.get(found.verdict, "yellow"))]
    out[0] += words.clean(_sentence(found))
    if found.place is not None:
        out.append(f"  {paint('each time', 'dim')}  {_place(found.place)}")
    out += [f"  {line}" for line in _figures(found)]
    if found.who is not None:
        out += _who(found, paint)
    elif found.reason == "silent":
        out.append(
            "  who holds it was not found: the process gave no answer for two minutes while it "
            "was looked into, and was ended"
        )
    return out + _next(found)


def _head(found: Leak) -> str:
    return {"leaks": "leak: ", "steady": "no leak: ", "fills": "fills up: "}.get(found.verdict, "")


def _sentence(found: Leak) -> str:
    if found.verdict == "leaks":
        return " and ".join(_grows(key, found.trends[key]) for key in found.grown)
    if found.verdict == "fills":
        return "it grew, and more slowly in the end: a cache that has an end?"
    if found.verdict == "cycles":
        return (
            "no leak: what grows is garbage in reference cycles, that the collector frees when "
            "it gets to it"
        )
    if found.verdict == "steady":
        return f"{_steady(found)}"
    return {
        "never": "that function was never called",
        "nothing": "no loop or function of your own files was seen to repeat",
        "few": "nothing in it repeats often enough to tell",
    }.get(found.reason, "too few repetitions to tell")


def _grows(key: str, trend: Trend) -> str:
    if key in NOUNS:
        one, many = NOUNS[key]
        count = trend.slope
        text = f"{count:.0f}" if abs(count - round(count)) < 0.05 else f"{count:.2f}"
        return f"+{text} {one if text == '1' else many} each time"
    what = " of GPU memory" if key == "gpu" else ""
    if trend.slope <= 0:
        return f"{_size(trend.total)}{what} in {trend.repetitions} repetitions, in steps"
    return f"{_size(trend.slope)}{what} each time (±{_size(trend.spread)})"


def _steady(found: Leak) -> str:
    use, kept = found.trends.get("in_use"), found.trends.get("rss")
    text = "memory in use is constant"
    if use is not None and abs(use.total) > 1 << 20:
        text = "memory in use goes up and down, and no more with each repetition"
    if kept is not None and kept.verdict in ("grows", "fills") and kept.total > 1 << 20:
        text += f"; {_size(kept.total)} more are retained by the allocator, which is not a leak"
    return text


def _figures(found: Leak) -> list[str]:
    use, rss = found.trends.get("in_use"), found.trends.get("rss")
    out = []
    if use is not None and use.samples:
        text = f"in use {_signed(use.total)} over {use.repetitions} repetitions"
        text += f", resident {_signed(rss.total)}" if rss is not None else ""
        out.append(f"memory     {text}; {use.samples} samples, the first ones left out")
    return out


def _signed(size: float) -> str:
    return f"{'+' if size >= 0 else '−'}{_size(abs(size))}"


def _size(size: float) -> str:
    return words.size(int(size))


def _place(place: Place) -> str:
    where = f"{short(place.file)}:{place.line}"
    if place.kind == "loop":
        return f"the loop at {where}, {place.times} times"
    if place.kind == "function":
        return f"{place.name}() at {where}, {place.times} calls"
    return f"the whole of {place.name}, {place.times - 1} times in one process"


# --- who holds it ------------------------------------------------------------------------------


def _who(found: Leak, paint: Paint) -> list[str]:
    who = found.who or {}
    out: list[str] = []
    nobody = GIVEN_UP if who["given_up"] else NOBODY
    held = [_container(one, nobody) for one in who["containers"][:MOST]]
    ways = [one["held"] for one in who["containers"] if one["held"]]
    types = [one for one in who["types"] if one["held"] and not _below(one["held"], ways)]
    held += [_type(one) for one in types[: max(0, MOST - len(held))]]
    if who["cycles"]:
        held += [
            f"+{_number(one['more'])} {one['type']}, in reference cycles"
            for one in who["cycles"][:2]
        ]
    carried = who["graph_held"] if who["graph"] else []
    if who["tensors"][0] > 0 or carried:
        count, size = (one / who["times"] for one in who["tensors"])
        graph = f", with what autograd kept for them ({who['graph']})" if who["graph"] else ""
        text = f"{_more(count, 'tensor', 'tensors')} ({_size(size)}) each time{graph}"
        if count <= 0:
            text = f"a graph of autograd that is longer each time ({who['graph']})"
        # What grows comes first: a container, or the tensor that carries its graph along.
        at = 0 if carried else min(len(who["containers"]), MOST)
        held.insert(at, f"{text}: {_way(carried)}" if carried else text)
    if held:
        out += [paint("held by", "bold"), *(f"  {one}" for one in held)]
    if who["sites"]:
        part = "" if _is_pythons(found) else ", as far as Python itself did it"
        out.append(paint(f"allocated at{part}", "bold"))
        out += [f"  {_site(one)}" for one in who["sites"][:MOST]]
    out += _others(found, paint)
    return out


def _below(held: list[str], ways: list[list[str]]) -> bool:
    """Whether the way to it leads through a container that is told already."""
    return any(held[: len(way)] == way for way in ways)


def _container(one: dict[str, Any], nobody: str) -> str:
    of = f" of {one['of']}" if one["of"] else ""
    if one["type"].endswith("_lru_cache_wrapper"):
        return f"{_more(one['items'], 'entry', 'entries')} in the lru_cache of {one['name']}()"
    items = _more(one["items"], "item", "items")
    return f"{items}{of} in a {one['type']}: {_way(one['held'], nobody)}"


def _more(count: float, noun: str, nouns: str) -> str:
    text = _number(count)
    return f"+{text} {noun if text == '1' else nouns}"


def _type(one: dict[str, Any]) -> str:
    return f"+{_number(one['more'])} {one['type']}: {_way(one['held'])}"


def _way(held: list[str], nobody: str = NOBODY) -> str:
    if not held:
        return nobody
    root, *names = held
    if root.startswith("module ") and names:
        module = root.removeprefix("module ")
        return "".join(
            [f"{'the script' if module == '__main__' else module}'s {names[0]}", *_rest(names[1:])]
        )
    if root.startswith("local of ") and names:
        return "".join([f"{names[0]}, a {root}", *_rest(names[1:])])
    return "".join([root, *_rest(names)])


def _rest(names: list[str]) -> list[str]:
    return [one if one.startswith("[") else f", {one}" for one in names]


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def _site(one: dict[str, Any]) -> str:
    blocks = f"{_number(one['blocks'])} block{'' if one['blocks'] == 1 else 's'}"
    return f"{short(one['file'])}:{one['line']}: {_size(one['bytes'])} in {blocks} each time"


def _is_pythons(found: Leak) -> bool:
    """Whether most of what grows was allocated by Python itself, where it could be traced."""
    who, use = found.who or {}, found.trends["in_use"]
    return not 0 <= who["traced"] / who["times"] < PYTHONS * use.slope


def _others(found: Leak, paint: Paint) -> list[str]:
    who = found.who or {}
    out = []
    if "fds" in found.grown and who["fds"]:
        out.append(paint("left open", "bold"))
        out += [f"  {line}" for line in _open(who["fds"])]
    if "threads" in found.grown and who["threads"]:
        out.append(paint("threads that go on", "bold"))
        out += [f"  {one}" for one in who["threads"][:MOST]]
    if "children" in found.grown and who["children"]:
        out.append(paint("child processes that are left", "bold"))
        out += [f"  {words.clean(line)}" for line in _counted(who["children"])]
    traced, use = who["traced"] / who["times"], found.trends["in_use"]
    if who["graph"]:
        out += [f"  {line}" for line in _advise_on_graph(who)]
    elif "in_use" in found.grown and not _is_pythons(found):
        out.append(
            f"  {_size(use.slope - traced)} each time were asked for by compiled code, and no "
            "object of Python's has them"
        )
    if not who["gc"]:
        out.append("  the garbage collector is off: what is in reference cycles is never freed")
    if who["given_up"]:
        noun = "search" if who["given_up"] == 1 else "searches"
        out.append(
            f"  {who['given_up']} {noun} for holders stopped early: "
            "there are too many objects to ask them all"
        )
    return out


def _advise_on_graph(who: dict[str, Any]) -> list[str]:
    """How to keep what is kept without the graph of autograd, by who holds it."""
    kept = [one for one in who["containers"] if one["graph_elements"] > 1 and one["held"]]
    out = []
    if who["graph_held"] and who["graph_elements"] > 1:
        out.append(
            f"cut {_way(who['graph_held'])} from its graph before the next repetition: "
            "x = x.detach()"
        )
    if kept:
        way = _way(kept[0]["held"])
        out.append(f"{way}: put it in without its graph, x.detach(), or don't keep it")
    return out or ["keep a number instead, which holds no graph: loss.item(), or loss.detach()"]


def _open(names: list[str]) -> list[str]:
    """Each kind once; a socket that leads nowhere yet has no name."""
    return _counted([one.partition(":[")[0] if one.endswith("]") else short(one) for one in names])


def _counted(labels: list[str]) -> list[str]:
    counts: dict[str, int] = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return [f"{label} × {count}" if count > 1 else label for label, count in counts.items()][:MOST]


def _next(found: Leak) -> list[str]:
    if found.verdict != "unknown":
        return []
    command = shlex.join(found.run.command)
    if found.reason == "never":
        return [f"  does the command get to it? zeroin which NAME -- {command}"]
    return [
        f"  run the whole of it many times: zeroin leak --repeat 20 -- {command}",
        f"  or name what repeats: zeroin leak --func package.module:function -- {command}",
    ]


def as_json(found: Leak) -> dict[str, Any]:
    """One object."""
    from zeroin.fronts import report_json

    return {
        "schema": report_json.SCHEMA,
        "verdict": found.verdict,
        "reason": found.reason or None,
        "grown": found.grown,
        "place": found.place._asdict() if found.place is not None else None,
        "trends": [
            {"of": key, **{k: _rounded(v) for k, v in trend._asdict().items()}}
            for key, trend in found.trends.items()
        ],
        "who": _who_json(found.who) if found.who is not None else None,
        "pid": found.pid or None,
        "run": report_json.run(found.run),
    }


def _rounded(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else value


def _who_json(who: dict[str, Any]) -> dict[str, Any]:
    keys = ("times", "traced", "left", "gc", "cycles", "sites", "containers", "types")
    more = ("tensors", "graph", "graph_held", "graph_elements", "given_up")
    others = ("fds", "threads", "children")
    return {key: who[key] for key in (*keys, *more, *others)}
