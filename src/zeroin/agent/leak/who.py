"""The second look: two repetitions are compared, and what is new and still there is explained.

Between them allocations are traced, which is slow; so it is done at one place only, for a few
repetitions, and then the driver ends the program.
"""

from __future__ import annotations

import _thread
import gc
import os
import sys
import tracemalloc

from .. import owner, post, referents
from ..common import secrets
from . import holders, measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FRAMES = 12  # of a traced allocation
SITES = 8
TYPES = 12
OFTEN = 0.8  # of the repetitions: what grows less often is not what grows with each
MOST_CONTAINERS = 2_000_000
CONTAINERS = (list, dict, set, frozenset)
WAIT = 30.0
NODES = 20_000  # of a graph that are counted
EARLIER = 5.0  # seconds that the look before the last may take
INSIDE = 20  # parts of a thing in which tensors are looked for
COMMAND = 200  # characters
WIDE = 10_000  # entries of a dict that are looked through


class Look:
    """Counts repetitions; begins at one, and tells at another."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.first: int = order["from"]
        self.last: int = order["to"]
        self.before: dict[str, Any] = {}
        self.graphs = 0  # steps of the largest graph of autograd, when it began
        self.earlier: list[Any] = []  # last steps of larger graphs, one repetition before the end
        self.times = 0
        self.doing = _thread.allocate_lock()

    def tick(self, at: list[Any]) -> None:
        """One more repetition; of several threads one looks, and the others go on meanwhile."""
        if at[0] < self.first or not self.doing.acquire(False):
            return
        if not self.before:
            more = self.last - self.first
            self._begin()
            self.first, self.last = at[0], at[0] + more
        elif at[0] >= self.last:
            self.times = at[0] - self.first
            self._tell()  # and the lock is kept: it is told once
            return
        elif at[0] == self.last - 1:
            effort = holders.Effort(EARLIER)
            self.earlier = [
                one.grad_fn for one, nodes in _graph_sizes(effort) if nodes > self.graphs
            ]
        self.doing.release()

    def _begin(self) -> None:
        """All that we need ourselves is loaded before, so that it does not count as growth."""
        tracemalloc.start(FRAMES)
        tracemalloc.take_snapshot().statistics("lineno")
        tracemalloc.stop()
        measure.sample()
        _say_progress(0, 0)
        _state()
        effort = holders.Effort()
        holders.way(self.before, set(), effort)
        gc.collect()
        self.graphs = max([nodes for _, nodes in _graph_sizes(effort)], default=0)
        self.before = _state()
        _say_progress(1, 1)
        tracemalloc.start(FRAMES)

    def _tell(self) -> None:
        times = self.times
        _say_progress(0, 0)
        carriers, self.earlier = _continued_at(self.earlier), []
        traced = tracemalloc.get_traced_memory()[0]
        cycles = _cycles(times)
        left = tracemalloc.get_traced_memory()[0]
        shot = tracemalloc.take_snapshot()
        tracemalloc.stop()
        after = _state()
        effort = holders.Effort()
        containers = _containers(self.before, after, times, effort)
        kept = {key for _, key in _grown_containers(self.before, after, times)}
        carried = _carried_graph(self.graphs, times, carriers, kept, effort)
        message = {
            "kind": "leak",
            "pid": os.getpid(),
            "times": times,
            "traced": traced,
            "left": left,
            "cycles": cycles,
            "gc": gc.isenabled(),
            "sites": _sites(shot, times),
            "containers": containers,
            "types": _types(self.before, after, times, effort),
            "tensors": _tensors(self.before, after),
            "graph": _graph(self.before["ids"]),
            "graph_held": [] if carried is None else holders.way(carried, kept, effort),
            "graph_elements": _elements(carried),
            "given_up": effort.given_up,
            "fds": [v for k, v in after["fds"].items() if k not in self.before["fds"]][:20],
            "threads": _threads(self.before["threads"]),
            "children": _commands(after["children"] - self.before["children"]),
        }
        if post.send(message):
            post.wait_to_be_ended(WAIT)


def _say_progress(done: int, of: int) -> None:
    """Tell the driver how many searches for holders are done; that all are, when it goes on."""
    post.send({"kind": "leak_progress", "pid": os.getpid(), "done": done, "of": of})


def _cycles(times: int) -> list[dict[str, Any]]:
    """What only the collector frees, by type: it is saved, counted, and then let go."""
    known = len(gc.garbage)
    flags = gc.get_debug()
    gc.set_debug(gc.DEBUG_SAVEALL)
    gc.collect()
    gc.set_debug(flags)
    counts: dict[str, int] = {}
    for one in gc.garbage[known:]:
        counts[_name(type(one))] = counts.get(_name(type(one)), 0) + 1
    del gc.garbage[known:]
    gc.collect()
    names = sorted(counts, key=lambda name: (name in _PLAIN, -counts[name]))
    often = [name for name in names if counts[name] >= OFTEN * times]
    return [{"type": name, "more": counts[name] / times} for name in often[:TYPES]]


def _state() -> dict[str, Any]:
    """All that there is: sizes of containers by id, counts of types, descriptors, threads."""
    sizes: dict[int, int] = {}
    counts: dict[str, int] = {}
    ids: set[int] = set()
    tensors = [0, 0]
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    objects = gc.get_objects()
    for one in [*objects, *_untracked(objects)]:
        kind = type(one)
        counts[_name(kind)] = counts.get(_name(kind), 0) + 1
        size = _size(one, kind)
        if size >= 0 and len(sizes) < MOST_CONTAINERS:
            sizes[id(one)] = size
        if tensor is not None and issubclass(kind, tensor):
            tensors[0] += 1
            tensors[1] += _bytes(one)
        ids.add(id(one))
    threading = sys.modules.get("threading")
    threads = {id(one) for one in threading.enumerate()} if threading else set()
    return {
        "sizes": sizes,
        "counts": counts,
        "ids": ids,
        "tensors": tensors,
        "fds": measure.descriptors(),
        "threads": threads,
        "children": set(measure.children() or ()),
    }


def _untracked(objects: list[Any]) -> list[Any]:
    """Dicts that hold only numbers and texts: the collector leaves them out, we don't."""
    found: dict[int, Any] = {}
    for one in objects:
        if _size(one, type(one)) > WIDE:
            continue
        for value in referents.list_referents([one]):
            # The tuple of a function's defaults is left out as well, if it holds only such.
            inner = value if type(value) is tuple and not gc.is_tracked(value) else (value,)
            for each in inner:
                if type(each) is dict and not gc.is_tracked(each):
                    found[id(each)] = each
    return list(found.values())


def _size(one: Any, kind: type) -> int:
    """How many things it holds; -1 for what is no container. No code of a stranger is run."""
    if kind in CONTAINERS or kind.__name__ in ("deque", "OrderedDict", "defaultdict", "Counter"):
        try:
            return len(one)
        except Exception:
            return -1
    if kind.__name__ == "_lru_cache_wrapper":
        return int(one.cache_info().currsize)
    return -1


def _name(kind: type) -> str:
    module = kind.__module__ if type(kind.__module__) is str else ""
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


def _bytes(tensor: Any) -> int:
    try:
        return int(tensor.untyped_storage().nbytes())
    except Exception:  # a meta tensor, or an older torch
        return 0


def _sites(shot: Any, times: int) -> list[dict[str, Any]]:
    """What was allocated between and is still there, by the user's own line that led to it."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    found: dict[tuple[str, int], list[int]] = {}
    for trace in shot.traces:
        frames = [(one.filename, one.lineno) for one in trace.traceback][::-1]
        if any(name.startswith(ours) for name, _ in frames[:2]):
            continue
        users = [one for one in frames if owner.is_users(one[0]) and not one[0].startswith(ours)]
        entry = found.setdefault((users or frames)[0], [0, 0])
        entry[0] += trace.size
        entry[1] += 1
    rows = sorted(found.items(), key=lambda item: -item[1][0])[:SITES]
    return [
        {"file": file, "line": line, "bytes": size // times, "blocks": blocks / times}
        for (file, line), (size, blocks) in rows
        if blocks * 2 >= times
    ]


def _containers(
    before: dict[str, Any], after: dict[str, Any], times: int, effort: holders.Effort
) -> list[dict[str, Any]]:
    """Those that hold more things each time, and by which names they are held."""
    grown = _grown_containers(before, after, times)
    wanted = {key for _, key in grown[:TYPES]}
    objects = gc.get_objects()
    things = {id(one): one for one in [*objects, *_untracked(objects)] if id(one) in wanted}
    del objects
    ignore = _ours(before, after)
    found: list[dict[str, Any]] = []
    for number, (more, key) in enumerate(grown[:TYPES]):
        thing = things.pop(key, None)
        if thing is None or key in ignore:
            continue
        _say_progress(number, len(wanted))
        last = _content(thing)
        ours = ignore | {id(things), id(grown), id(wanted), id(last)}
        found.append(
            {
                "type": _name(type(thing)),
                "name": str(holders.names_of(thing).get("__qualname__", "")),
                "items": more / times,
                "of": _name(type(last[0])) if last else "",
                "graph_elements": _elements(last[0]) if last else 0,
                "held": holders.way(thing, ours, effort),
            }
        )
    named = [one for one in found if not _is_known(one["held"])]
    return sorted(named, key=lambda one: not one["held"])


def _grown_containers(
    before: dict[str, Any], after: dict[str, Any], times: int
) -> list[tuple[int, int]]:
    """By how many things containers have grown, with their ids; those that grew most come first."""
    grown = []
    for key, size in after["sizes"].items():
        old = before["sizes"].get(key)
        if old is not None and size - old >= OFTEN * times:
            grown.append((size - old, key))
    return sorted(grown, reverse=True)


def _ours(before: dict[str, Any], after: dict[str, Any]) -> set[int]:
    parts = [before, after, *before.values(), *after.values()]
    return {id(one) for one in parts}


def _is_known(held: list[str]) -> bool:
    """Growth of the interpreter's own books, that has nothing to do with the program."""
    return bool(held) and any("_zeroin_agent" in word or "tracemalloc" in word for word in held)


def _content(thing: Any) -> list[Any]:
    """What was put in last; an empty list for what can't be told."""
    try:
        if holders.is_a(thing, dict):
            return [next(reversed(thing.values()))]
        if holders.is_a(thing, list) or type(thing).__name__ == "deque":
            return [thing[-1]]
        return [next(iter(thing))]
    except Exception:
        return []


def _types(
    before: dict[str, Any], after: dict[str, Any], times: int, effort: holders.Effort
) -> list[dict[str, Any]]:
    """Types of which there are more each time, with the way to one of the new objects."""
    more = {
        name: count - before["counts"].get(name, 0)
        for name, count in after["counts"].items()
        if count - before["counts"].get(name, 0) >= OFTEN * times
    }
    names = sorted(more, key=lambda name: (name in _PLAIN, -more[name]))[:TYPES]
    examples = _pick_examples(names, before["ids"])
    ignore = _ours(before, after) | {id(examples), id(more)}
    found = []
    for number, name in enumerate(names):
        _say_progress(number, len(names))
        held = holders.way(examples[name], ignore, effort) if name in examples else []
        if not _is_known(held):
            found.append({"type": name, "more": more[name] / times, "held": held})
    return found


def _pick_examples(names: list[str], before: set[int]) -> dict[str, Any]:
    """Of each type a new object from the middle of all: the latest ones are in use, not leaked."""
    new: dict[str, list[Any]] = {}
    for one in gc.get_objects():
        name = _name(type(one))
        if name in names and id(one) not in before:
            new.setdefault(name, []).append(one)
    return {name: found[len(found) // 2] for name, found in new.items()}


# Too common to say much; told after all others.
_PLAIN = frozenset(
    ("dict", "list", "tuple", "set", "cell", "function", "frame", "method", "traceback", "code")
)


def _tensors(before: dict[str, Any], after: dict[str, Any]) -> list[int]:
    """How many more there are, and how many more bytes their storages have."""
    return [new - old for new, old in zip(after["tensors"], before["tensors"])]


def _graph(before: set[int]) -> str:
    """What a new tensor was made by, if it keeps the graph of autograd alive; else ""."""
    made = (type(node).__name__ for one, node in _with_graph() if id(one) not in before)
    return next(made, "")


def _carried_graph(
    before: int, times: int, carriers: set[str], kept: set[int], effort: holders.Effort
) -> Any:
    """The tensor by which each repetition hangs its graph on that of the one before, or None.

    Only a graph that has grown tells that: `before` are the steps of the largest when it began.
    The tensors of earlier repetitions are alive as well: torch has them for the graph, or a
    container that grows, one of `kept`. The one that the program carries along has another holder,
    and was made by one of the steps `carriers`. Of several the smallest is inside the others,
    which were computed from it.
    """
    sizes = {id(one): nodes for one, nodes in _graph_sizes(effort) if nodes > before}
    if not sizes or max(sizes.values()) - before < OFTEN * times:
        return None
    grown = [
        one
        for one, node in _with_graph()
        if id(one) in sizes and type(node).__name__ in (carriers or {type(node).__name__})
    ]
    return min(holders.list_held(grown, kept), key=lambda one: sizes[id(one)], default=None)


def _continued_at(earlier: list[Any]) -> set[str]:
    """Names of those of the `earlier` last steps on which the latest repetition has built."""
    old = _reach(earlier, set())
    new = _reach([node for _, node in _with_graph() if node not in old], old)
    met = {inner for node in new for inner, _ in node.next_functions}
    return {type(node).__name__ for node in earlier if node in met}


def _graph_sizes(effort: holders.Effort) -> list[tuple[Any, int]]:
    """Tensors that keep a graph, with its steps."""
    found = []
    for one, node in _with_graph():
        if effort.is_spent():
            effort.given_up += 1
            break
        found.append((one, _nodes(node)))
    return found


def _elements(one: Any, deep: int = 2) -> int:
    """How many numbers the largest tensor holds that keeps its graph: it, or one inside it."""
    tensor: Any = getattr(sys.modules.get("torch"), "Tensor", None)
    if tensor is None:
        return 0
    try:
        if holders.is_a(one, tensor):
            return int(tensor.numel(one)) if one.grad_fn is not None else 0
    except Exception:  # a class of tensors that has none
        return 0
    if not deep:
        return 0
    inside: list[Any] = []
    if holders.is_a(one, (list, tuple)):
        inside = list(tuple.__iter__(one) if holders.is_a(one, tuple) else list.__iter__(one))
    elif holders.is_a(one, dict):
        inside = list(dict.values(one))
    inside += holders.names_of(one).values()
    return max([_elements(each, deep - 1) for each in inside[:INSIDE]], default=0)


def _with_graph() -> list[tuple[Any, Any]]:
    """Tensors that keep the graph of autograd alive, with the step that made them."""
    tensor: Any = getattr(sys.modules.get("torch"), "Tensor", None)
    found = []
    for one in gc.get_objects() if tensor is not None else ():
        if issubclass(type(one), tensor):
            try:
                node = one.grad_fn
            except Exception:  # a class of tensors that has none
                continue
            if node is not None:
                found.append((one, node))
    return found


def _nodes(node: Any) -> int:
    """How many steps of the backward pass hang on one, up to some."""
    return len(_reach([node], set()))


def _reach(nodes: list[Any], without: set[Any]) -> set[Any]:
    """These steps of the backward pass and what hangs on them, up to some."""
    seen, left = set(nodes), list(nodes)
    while left and len(seen) < NODES:
        for inner, _ in left.pop().next_functions:
            if inner is not None and inner not in seen and inner not in without:
                seen.add(inner)
                left.append(inner)
    return seen


def _commands(pids: set[int]) -> list[str]:
    """What child processes run."""
    known = secrets.of_environment(os.environ)
    texts = (measure.command_of(pid) for pid in sorted(pids))
    return [secrets.mask(text[:COMMAND], known) for text in texts if text][:20]


def _threads(before: set[int]) -> list[str]:
    threading = sys.modules.get("threading")
    if threading is None:
        return []
    found = []
    for one in threading.enumerate():
        if id(one) not in before:
            target = getattr(one, "_target", None)
            code = getattr(target, "__code__", None)
            place = f" running {code.co_filename}:{code.co_firstlineno}" if code else ""
            found.append(f"{one.name}{place}")
    return found[:20]
