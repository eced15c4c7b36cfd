"""What one stack does: which of the well-known waits it is in, and where the user's code is."""

from __future__ import annotations

from zeroin.named import NamedTuple
from zeroin.observe.stacks.stack import AGENT, innermost, module_of, owner_of, place, plain, users

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.observe.stacks.stack import Frame

COLLECTIVES = frozenset(
    (
        *("all_reduce", "all_reduce_coalesced", "all_gather", "all_gather_into_tensor"),
        *("all_gather_object", "all_gather_coalesced", "all_to_all", "all_to_all_single"),
        *("barrier", "monitored_barrier", "broadcast", "broadcast_object_list", "gather"),
        *("gather_object", "reduce", "reduce_scatter", "reduce_scatter_tensor", "scatter"),
        *("scatter_object_list", "send", "recv", "isend", "irecv", "batch_isend_irecv"),
        *("send_object_list", "recv_object_list", "new_group", "init_process_group"),
        *("all_gather_single", "reduce_scatter_single", "destroy_process_group"),
    )
)
# Library file → function → kind and words; the innermost that is listed counts.
RULES: dict[str, dict[str, tuple[str, str]]] = {
    "threading.py": {
        "join": ("join", "waits for a thread to end"),
        "_wait_for_tstate_lock": ("join", "waits for a thread to end"),
        "_shutdown": ("join", "is done, and waits for its threads to end"),
        "wait": ("condition", "waits to be notified"),
        "wait_for": ("condition", "waits to be notified"),
        "acquire": ("lock", "waits for a lock"),
        "__enter__": ("lock", "waits for a lock"),
    },
    "queue.py": {
        "get": ("queue", "waits for something in a queue"),
        "put": ("queue-full", "waits for room in a queue"),
        "join": ("queue-join", "waits for a queue to be done"),
    },
    "multiprocessing/queues.py": {
        "get": ("queue", "waits for something in a queue of processes"),
        "put": ("queue-full", "waits for room in a queue of processes"),
        "_feed": ("idle", "feeds a queue"),
    },
    "multiprocessing/connection.py": {
        "recv": ("pipe", "waits to receive from another process"),
        "recv_bytes": ("pipe", "waits to receive from another process"),
        "_recv": ("pipe", "waits to receive from another process"),
        "_send": ("pipe-full", "waits for another process to receive"),
        "poll": ("pipe", "waits to receive from another process"),
        "wait": ("pipe", "waits for other processes"),
        "accept": ("socket", "waits for another process to connect"),
    },
    "multiprocessing/synchronize.py": {
        "__enter__": ("process-lock", "waits for a lock that processes share"),
        "wait": ("condition", "waits to be notified by another process"),
    },
    "multiprocessing/pool.py": {
        "worker": ("idle", "waits for work, as a worker of a pool"),
        "join": ("pool", "waits for the workers of a pool"),
        "get": ("pool", "waits for a result of a pool"),
        "wait": ("pool", "waits for a result of a pool"),
        "map": ("pool", "waits for the results of a pool"),
        "next": ("pool", "waits for the next result of a pool"),
        "_handle_tasks": ("idle", "hands out the tasks of a pool"),
        "_handle_results": ("idle", "takes the results of a pool"),
        "_handle_workers": ("idle", "minds the workers of a pool"),
    },
    "multiprocessing/process.py": {"join": ("child", "waits for a child process to end")},
    "multiprocessing/popen_fork.py": {"wait": ("child", "waits for a child process to end")},
    "multiprocessing/resource_tracker.py": {"main": ("idle", "minds what processes share")},
    "concurrent/futures/thread.py": {
        "_worker": ("idle", "waits for work, as a thread of a pool"),
        "shutdown": ("join", "waits for the threads of a pool to end"),
    },
    "concurrent/futures/_base.py": {
        "result": ("future", "waits for the result of a future"),
        "result_iterator": ("future", "waits for the results of futures"),
        "wait": ("future", "waits for futures"),
        "as_completed": ("future", "waits for futures"),
    },
    "concurrent/futures/process.py": {
        "_process_worker": ("idle", "waits for work, as a process of a pool"),
        "run": ("idle", "minds the processes of a pool"),
        "shutdown": ("pool", "waits for the processes of a pool to end"),
    },
    "subprocess.py": {
        "wait": ("subprocess", "waits for a command to end"),
        "_wait": ("subprocess", "waits for a command to end"),
        "communicate": ("subprocess", "reads from a command until it ends"),
        "_communicate": ("subprocess", "reads from a command until it ends"),
        "_execute_child": ("subprocess", "starts a command"),
    },
    "<frozen importlib._bootstrap>": {
        "acquire": ("import", "waits for another thread to finish an import"),
    },
    "socket.py": {
        "accept": ("accept", "waits for somebody to connect"),
        "create_connection": ("connect", "connects to another machine"),
        "readinto": ("socket", "waits for an answer on a socket"),
        "recv": ("socket", "waits for an answer on a socket"),
    },
    "ssl.py": {
        "read": ("socket", "waits for an answer on a socket"),
        "recv": ("socket", "waits for an answer on a socket"),
        "do_handshake": ("socket", "waits for the other side's handshake"),
    },
    "socketserver.py": {"serve_forever": ("accept", "waits for requests, as a server does")},
    "asyncio/base_events.py": {"_run_once": ("loop", "waits in its event loop")},
    "asyncio/locks.py": {
        "acquire": ("await", "waits for a lock or a semaphore"),
        "wait": ("await", "waits for an event or a condition"),
    },
    "asyncio/queues.py": {
        "get": ("await", "waits for something in a queue"),
        "put": ("await", "waits for room in a queue"),
        "join": ("await", "waits for all of a queue to be done"),
    },
    "asyncio/tasks.py": {"sleep": ("await", "sleeps")},
    "torch/utils/data/dataloader.py": {
        "_next_data": ("loader", "waits for a batch of the DataLoader's workers"),
        "_get_data": ("loader", "waits for a batch of the DataLoader's workers"),
        "_try_get_data": ("loader", "waits for a batch of the DataLoader's workers"),
        "_shutdown_workers": ("loader", "waits for the DataLoader's workers to end"),
    },
    "torch/utils/data/_utils/worker.py": {
        "_worker_loop": ("idle", "waits for an order, as a worker of the DataLoader"),
    },
    "torch/utils/data/_utils/pin_memory.py": {
        "_pin_memory_loop": ("idle", "pins batches in memory"),
    },
    "torch/distributed/elastic/agent/server/api.py": {
        "_invoke_run": ("launcher", "minds the ranks that it launched"),
    },
    "torch/multiprocessing/spawn.py": {"join": ("child", "waits for the processes it spawned")},
    "tqdm/_monitor.py": {"run": ("idle", "minds progress bars")},
}
LOOPS = ("_worker_loop", "_worker", "worker", "_process_worker")  # of those that work for others
LONG = ("read", "write", "child", "file-lock", "connect", "accept", "file", "kernel", "many")


class Standing(NamedTuple):
    """What a stack does. `kind` is for those who judge, `words` for those who read."""

    kind: str
    what: str  # the operation, "all_reduce"; "" where the words say all
    words: str  # "waits in all_reduce"
    at: str  # "train.py:41 main()"; "" where no Python is

    def said(self, *, many: bool = False) -> str:
        """`waits in all_reduce at train.py:41 main()`."""
        words = plural(self.words) if many else self.words
        if self.kind in LONG and self.at:  # the place would be lost behind so many words
            return f"at {self.at} {words}"
        return f"{words} at {self.at}" if self.at and self.kind != "runs" else words


def standing(frames: Sequence[Frame]) -> Standing:
    """Judge by the frames alone: what is called from the user's innermost frame."""
    frame = innermost(frames)
    at = place(frame) if frame is not None else ""
    tail = _tail(frames)
    collective, caller = _collective(tail)
    if collective:
        if caller is not None and not users(frames):
            at = place(caller)  # an installed program has no code of the user's
        return Standing("collective", collective, f"waits in {collective}", at)
    if _runs_callback(frames):
        return Standing("loop-blocked", "", "holds up its event loop", at)
    in_c = _loop_in_c(frames)
    if in_c is not None and all(owner_of(file) == "native" for file, _, _ in frames[in_c + 1 :]):
        return Standing("loop", "", "waits in its event loop", at)
    known = _known(tail)
    if known is not None:
        return Standing(*known[:2], known[2], at)
    if any(plain(name) == "_engine_run_backward" for _, _, name in tail):
        return Standing("backward", "backward", "is in backward()", at)
    if not at:
        return Standing("unknown", "", "has no Python frames", "")
    where = f"is in {at}"
    return Standing("runs", "", where, at)


def _tail(frames: Sequence[Frame]) -> list[Frame]:
    """What libraries do for the user's innermost frame; all, where none of it is the user's."""
    last = max((n for n, frame in enumerate(frames) if owner_of(frame[0]) == "user"), default=-1)
    return [frame for frame in frames[last + 1 :] if not frame[0].startswith(AGENT)]


def _known(tail: Sequence[Frame]) -> tuple[str, str, str] | None:
    """Kind, name and words of the outermost known call.

    That says most: `Queue.get` more than the `Condition.wait` inside it. Workers of pools stand in
    their loop when they wait for work and when they do it: then something else is below.
    """
    known = [(n, RULES.get(module_of(f[0]), {}).get(plain(f[2]))) for n, f in enumerate(tail)]
    found = [(n, rule) for n, rule in known if rule is not None]
    for at, (number, rule) in enumerate(found):
        name = plain(tail[number][2])
        at_work = name in LOOPS and number < len(tail) - 1 and at == len(found) - 1
        if not at_work:
            return rule[0], name, rule[1]
    return None


def _collective(tail: Sequence[Frame]) -> tuple[str, Frame | None]:
    """The outermost call of torch.distributed below the user's own code, and who calls it."""
    for number, (file, _, name) in enumerate(tail):
        if plain(name) in COLLECTIVES and module_of(file).startswith("torch/distributed/"):
            before = [f for f in tail[:number] if not module_of(f[0]).startswith("torch/")]
            return plain(name), before[-1] if before else None
    return "", None


def _runs_callback(frames: Sequence[Frame]) -> bool:
    """Inside asyncio's loop, but in code of the user's that it called."""
    at = [
        n
        for n, (file, _, name) in enumerate(frames)
        if module_of(file) == "asyncio/events.py" and plain(name) == "_run"
    ]
    below = at[-1] if at else _loop_in_c(frames)
    return below is not None and bool(users(frames[below + 1 :]))


def _loop_in_c(frames: Sequence[Frame]) -> int | None:
    """Where asyncio has started a loop that has no frames of its own, as uvloop has none."""
    for number, (file, _, name) in enumerate(frames):
        if file.endswith("asyncio/runners.py") and plain(name) == "run":
            below = (one for one, _, _ in frames[number + 1 :] if owner_of(one) != "native")
            if not module_of(next(below, "")).startswith("asyncio/"):
                return number
    return None


def is_idle(frames: Sequence[Frame]) -> bool:
    """A helper's thread that waits for work, with nothing of the user's on it."""
    return not users(frames) and standing(frames).kind in ("idle", "unknown", "condition", "queue")


_PLURALS = {"waits": "wait", "is": "are", "holds": "hold", "reads": "read", "writes": "write"}
_PLURALS |= {"minds": "mind", "feeds": "feed", "starts": "start", "connects": "connect"}
_PLURALS |= {"computes": "compute", "sleeps": "sleep", "has": "have", "hands": "hand"}
_PLURALS |= {"takes": "take", "pins": "pin", "its": "their"}


def plural(words: str) -> str:
    """`waits in …` → `wait in …`, `computes, holding …` → `compute, holding …`."""
    first, _, rest = words.partition(" ")
    verb = first.rstrip(",")
    return f"{_PLURALS.get(verb, verb)}{first[len(verb) :]} {rest}".strip()
