"""What all the stacks mean together: one sentence, the first of these rules that fits."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.stacks.stack import users

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.observe.stacks import locks
    from zeroin.observe.stacks.merge import Group, Thread
    from zeroin.observe.stacks.ranks import Name

WAITS_FOR_WORK = ("queue", "pipe", "pool", "loader", "future", "child", "subprocess", "read")
WAITS_FOR_OWN = ("join", "queue", "queue-join", "condition", "pipe", "pool", "loader", "future")
OWN = ("rank", "main", "worker", "child")  # the user's own programs
MOST = 3  # groups that one sentence names


class Dead(NamedTuple):
    """A process that has ended, and that nobody has asked how."""

    pid: int
    parent: int
    name: Name
    how: str  # "ended by SIGKILL", "ended with exit code 1", "ended"


class Case(NamedTuple):
    """All that is judged."""

    groups: Sequence[Group]
    dead: Sequence[Dead] = ()
    missing: Sequence[int] = ()  # ranks that should be here
    world: int | None = None
    unseen: Sequence[Name] = ()  # processes whose stacks nobody could get
    parents: Mapping[int, int] = {}


def verdict(case: Case) -> str:
    """The sentence."""
    for rule in (
        _full_pipe,
        _dead_partner,
        _lost_task,
        _collectives,
        _deadlock,
        _held_up_loop,
        _stopped,
        _terminal,
        _plain,
    ):
        found = rule(case)
        if found:
            return found
    if case.unseen:
        return "no stack could be seen"
    told = [f"{who([t])} {t.wait.words}" for t in _threads(case) if t.wait.words]
    return "no Python runs here" + (f": {'; '.join(told[:MOST])}" if told else "")


# --- who -----------------------------------------------------------------------------------------


def who(threads: Sequence[Thread]) -> str:
    """`rank 2`, `ranks 0, 1 and 3`, `worker 0 of rank 1`, `thread loader of pid 17`."""
    ranks = sorted(
        {t.name.rank for t in threads if t.name.role == "rank" and t.name.rank is not None}
    )
    if ranks and len(ranks) == len({t.stack.pid for t in threads}):
        text = f"rank {ranks[0]}" if len(ranks) == 1 else f"ranks {listed(ranks)}"
    else:
        labels = list(dict.fromkeys(t.name.label for t in threads))
        text = _and(labels) if len(labels) <= 4 else f"{len(labels)} processes"
    others = {t.stack.thread for t in threads if not t.is_main and t.stack.thread}
    if not others:
        return text
    kind = "task" if threads[0].stack.source == "asyncio" else "thread"
    names = [
        name.removeprefix("Task ").removeprefix("Thread ")
        for name in sorted(others, key=_by_number)
    ]
    if len(names) > 3:
        return f"{len(threads)} {kind}s of {text}"
    return f"{kind}{'s' if len(names) > 1 else ''} {_and(names)} of {text}"


def _by_number(name: str) -> tuple[str, int, str]:
    """`Task-9` before `Task-11`."""
    text = name.rstrip("0123456789")
    return text, int(name[len(text) :] or 0), name


def listed(numbers: Sequence[int], most: int = 8) -> str:
    """`0-2, 5 and 7`."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [
        str(a) if a == b else f"{a}, {b}" if b == a + 1 else f"{a}-{b}" for a, b in ranges[:most]
    ]
    if len(ranges) > most:
        return ", ".join(texts) + ", …"
    return _and(", ".join(texts).split(", "))


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]


def _said(group: Group) -> str:
    return f"{who(group.threads)} {group.standing.said(many=_are_many(group))}"


def _are_many(group: Group) -> bool:
    return len(group.threads) > 1


def _own(case: Case) -> list[Group]:
    """Main threads of the user's own programs."""
    return [
        g
        for g in case.groups
        if g.is_main and not g.idle and g.threads[0].name.role in OWN and g.threads[0].stack.frames
    ]


def _threads(case: Case) -> list[Thread]:
    return [thread for group in case.groups for thread in group.threads]


# --- the rules -----------------------------------------------------------------------------------


def _full_pipe(case: Case) -> str:
    """A parent that waits for a child, which waits for the parent to read what it writes."""
    for group in case.groups:
        if group.standing.kind not in ("subprocess", "child"):
            continue
        for thread in group.threads:
            pid = thread.stack.pid
            for other in _threads(case):
                child = other.stack.pid
                if other.wait.kind == "write" and pid in other.wait.pids and child != pid:
                    return (
                        f"{who([thread])} {group.standing.said()}, and {other.name.label} can't "
                        f"end: it writes to a full pipe that {thread.name.label} does not read. "
                        "Read the output while it runs: communicate() instead of wait()"
                    )
    return ""


def _dead_partner(case: Case) -> str:
    """Somebody waits for a process that has ended."""
    for group in case.groups:
        if group.standing.kind not in WAITS_FOR_WORK or group.idle:
            continue
        for thread in group.threads:
            below = [
                one
                for one in case.dead
                if one.parent == thread.stack.pid and one.name.role in ("worker", "rank", "child")
            ]
            named = [one for one in below if one.pid in thread.wait.pids]
            if group.standing.kind in ("child", "subprocess") and not named:
                continue
            if named or (below and not _lives(case, thread)):
                told = [f"{one.name.label} (pid {one.pid}) has {one.how}" for one in named or below]
                return f"{who([thread])} {group.standing.said()}, but {_and(told[:3])}" + (
                    "" if group.standing.kind in ("child", "subprocess") else ": nothing comes"
                )
    return ""


def _lost_task(case: Case) -> str:
    """A pool puts a new worker in the place of one that died; its task is nobody's any more."""
    for group in case.groups:
        if group.standing.kind != "pool" or group.idle:
            continue
        thread = group.threads[0]
        below = [
            (one, other)
            for other in case.groups
            for one in other.threads
            if case.parents.get(one.stack.pid) == thread.stack.pid
            and one.name.role == "worker"
            and one.is_main
        ]
        if below and all(other.idle for _, other in below):
            return (
                f"{who([thread])} {group.standing.said()}, but all {len(below)} of its workers "
                "wait for work: if that stays so, the worker that had the task has died, and the "
                "task with it (a pool starts another worker and says nothing)"
            )
    return ""


def _lives(case: Case, thread: Thread) -> bool:
    """Whether a worker of that process still does something other than wait for work."""
    return any(
        case.parents.get(one.stack.pid) == thread.stack.pid
        and one.name.role == "worker"
        and one.is_main
        and not group.idle
        for group in case.groups
        for one in group.threads
    )


def _collectives(case: Case) -> str:
    """Ranks that wait for one another, and the one that does not come."""
    mains = [g for g in case.groups if g.is_main and g.threads[0].name.role == "rank"]
    waiting = [g for g in mains if g.standing.kind in ("collective", "backward")]
    if not any(g.standing.kind == "collective" for g in waiting):
        return ""
    astray = [g for g in mains if g not in waiting]
    count = sum(len(g.threads) for g in mains)
    lost = _missing(case)
    if len(waiting) > 1 and not astray and not lost:
        return _different(waiting)
    most = max(waiting, key=lambda g: len(g.threads))
    some = len(most.threads)
    text = _share(some, count, most) + f" {most.standing.said(many=some > 1)}"
    rest = [_said(g) for g in [*astray, *(g for g in waiting if g is not most)][:MOST]]
    rest += [text for g in astray[:1] for text in _others(case, g)]
    if rest or lost:
        return "; ".join([text, *rest]) + lost
    if case.world is not None and case.world > count:
        return f"{text}; the other {case.world - count} ranks are not on this machine: look there"
    return f"{text}: nobody is missing, so look at the network, or look again (--every 5s)"


def _share(some: int, count: int, group: Group) -> str:
    if some == count:
        return who(group.threads) if count == 1 else f"all {count} ranks"
    return who(group.threads) if some == 1 else f"{some} of {count} ranks"


def _different(waiting: Sequence[Group]) -> str:
    """All wait, but not in the same call."""
    odd, *rest = sorted(waiting, key=lambda g: len(g.threads))
    first = f"{who(odd.threads)} {_in(odd)}"
    others = [f"{who(g.threads)} in {g.standing.what} at {g.standing.at}" for g in rest[:MOST]]
    calls = {g.standing.what for g in waiting}
    means = "the order differs" if len(calls) > 1 else "the same call from different lines"
    return f"{first}, {', '.join(others)}: {means}"


def _in(group: Group) -> str:
    verb = "are" if _are_many(group) else "is"
    return f"{verb} in {group.standing.what} at {group.standing.at}"


def _missing(case: Case) -> str:
    dead = {one.name.rank: one.how for one in case.dead if one.name.role == "rank"}
    if len(dead) == len(case.missing) == 1:  # the dead show no variables any more
        dead = dict.fromkeys(case.missing, *dead.values())
    found = [
        f"rank {rank} has {dead[rank]}" if rank in dead else f"rank {rank} has no process any more"
        for rank in case.missing
    ]
    return f"; {_and(found[:MOST])}" if found else ""


def _deadlock(case: Case) -> str:
    """Threads of one process that wait for locks."""
    by_pid: dict[int, list[tuple[Thread, Group]]] = {}
    for group in case.groups:
        if group.standing.kind == "lock":
            for thread in group.threads:
                by_pid.setdefault(thread.stack.pid, []).append((thread, group))
    for waiting in by_pid.values():
        from zeroin.observe.stacks import locks  # reads sources

        known = [(t, g, locks.hands(users(t.stack.frames))) for t, g in waiting]
        sure = [(t, g, h) for t, g, h in known if h is not None]
        ring = [sure[n] for n in locks.cycle([h for _, _, h in sure])]
        if ring:
            return _ring(ring)
        if len(waiting) > 1:
            told = [f"{_thread(t)} at {g.standing.at}" for t, g in waiting[:MOST]]
            return (
                f"{len(waiting)} threads of {waiting[0][0].name.label} wait for locks: {_and(told)}"
            )
    return ""


def _ring(ring: Sequence[tuple[Thread, Group, locks.Hands]]) -> str:
    label = ring[0][0].name.label
    if len(ring) == 1:
        thread, group, hands = ring[0]
        line = next(held.line for held in hands.has if held.name == hands.wants)
        return (
            f"{_thread(thread)} of {label} waits at {group.standing.at} for {hands.wants}, which "
            f"it took itself on line {line}: a Lock can't be taken twice, an RLock can"
        )
    told = []
    for number, (thread, group, hands) in enumerate(ring):
        before = ring[number - 1][2].wants
        line = next((held.line for held in hands.has if held.name == before), 0)
        told.append(
            f"{_thread(thread)} has {before} (line {line}) and waits for {hands.wants} at "
            f"{group.standing.at}"
        )
    return f"a deadlock in {label}, by the locks' names: {'; '.join(told)}"


def _thread(thread: Thread) -> str:
    return thread.stack.thread or f"thread {thread.stack.tid}"


def _held_up_loop(case: Case) -> str:
    """One call that does not return, and everything else of that loop waits for it."""
    for group in case.groups:
        if group.standing.kind == "loop-blocked":
            tasks = [g for g in case.groups if g.threads[0].stack.source == "asyncio"]
            count = sum(len(g.threads) for g in tasks)
            also = f"; {count} other task{'s' * (count > 1)} can't go on" if count > 0 else ""
            return f"{who(group.threads)} {group.standing.said(many=_are_many(group))}{also}"
    return ""


def _stopped(case: Case) -> str:
    for group in case.groups:
        if group.standing.kind == "stopped":
            threads = [one for one in group.threads if one.is_main] or group.threads
            said = f"{who(threads)} {group.standing.said(many=len(threads) > 1)}"
            return f"{said}; to let it go on: {let_go(group)}" if let_go(group) else said
    return ""


def let_go(group: Group) -> str:
    """The command that lets a stopped program go on; a debugger has its own."""
    if group.standing.words != "is stopped":
        return ""
    return f"kill -CONT {' '.join(map(str, group.pids))}"


def _terminal(case: Case) -> str:
    for group in case.groups:
        if group.standing.kind == "terminal" and "input" in group.standing.words:
            return f"{who(group.threads)} {group.standing.said(many=_are_many(group))}: type it"
    return ""


def _plain(case: Case) -> str:
    """No rule fits: say what the programs do, the odd one first; then what they wait for."""
    own = _own(case)
    ranks = [g for g in own if g.threads[0].name.role == "rank"]
    shown = ranks or own or [g for g in case.groups if g.is_main and g.threads[0].stack.frames]
    tasks = [g for g in case.groups if g.threads[0].stack.source == "asyncio"]
    if len(shown) == 1 and shown[0].standing.kind == "loop" and tasks:
        return _loop(shown[0], tasks)
    told = [_said(group) for group in shown[:MOST]]
    if shown and len(shown) == 1 and shown[0].details:
        told[0] += f": it {shown[0].details[0]}"
    rest = len(shown) - MOST
    if rest > 0:
        told.append(f"{rest} more groups below")
    if len(shown) == 1:
        told += _others(case, shown[0])
    return "; ".join(told) + _missing(case)


def _loop(group: Group, tasks: Sequence[Group]) -> str:
    count = sum(len(g.threads) for g in tasks)
    most = max(tasks, key=lambda g: len(g.threads))
    loop = f"{who(group.threads)} waits in its event loop"
    if count == 1:
        name = most.threads[0].stack.thread.removeprefix("Task ")
        return f"{loop}: its task {name} {most.standing.said(many=False)}"
    if len(most.threads) == 1:
        return f"{loop}: {count} tasks wait, each at a place of its own"
    those = f"all {count}" if len(most.threads) == count else f"{len(most.threads)} of {count}"
    return f"{loop}: {those} tasks {most.standing.said(many=True)}"


def _others(case: Case, main: Group) -> list[str]:
    """Where a main thread only waits for threads or workers of its own, say what those do."""
    if main.standing.kind not in WAITS_FOR_OWN:
        return []
    threads = [g for g in case.groups if not g.is_main and g.pids[0] in main.pids]
    workers = [
        g
        for g in case.groups
        if g.is_main
        and g.threads[0].name.role == "worker"
        and case.parents.get(g.pids[0]) in main.pids
    ]
    found = [g for g in (*threads, *workers) if not g.idle and users(g.frames)]
    return [_said(group) for group in found[:2]]
