"""Failures in worker processes, which only reach the program as a text.

`multiprocessing.Pool`, `concurrent.futures`, joblib and torch's DataLoader catch what a worker
raised, print its traceback into a text, and raise it anew in the program; the frames with their
values are gone by then. So they are described in the worker, while they are there, and the
description travels with what is sent: as an attribute of the exception, or of torch's wrapper.
Nothing is sent to the driver unless the program itself fails of it.
"""

from __future__ import annotations

import os
import sys
import time
import types

from . import asked, post

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType, TracebackType
    from typing import Any

KEY = "__zeroin_worker__"
POOLS = ("multiprocessing.pool", "multiprocess.pool")
LOADER = "torch.utils.data._utils."
GRACE, SHARE = 0.5, 0.05  # seconds, and part of the time, that descriptions may take in a worker
SHOWN = 8  # indices of a batch
_clock = [0.0, 0.0]  # when the first failure came, and what descriptions have taken since


def watch(module: Any) -> None:
    """Hang into a module of `hooks.WORKERS`, which has just been imported."""
    if module.__name__ == "torch._utils":
        _watch_wrapper(module.ExceptionWrapper)
    elif module.__name__ in POOLS:
        _watch_carrier(module.ExceptionWithTraceback)
    else:
        _watch_carrier(module._ExceptionWithTraceback)


# --- in the worker ------------------------------------------------------------------------------


def _watch_carrier(carrier: Any) -> None:
    """Let the class that carries an exception to the program carry its description as well."""
    plain_init, plain_reduce = carrier.__init__, carrier.__reduce__

    def __init__(self: Any, exc: Any, *tb: Any) -> None:  # noqa: N807 - takes its place
        told = _describe(exc)
        plain_init(self, exc, *tb)
        if told and _takes_attributes(exc):
            self.__dict__[KEY] = told

    def __reduce__(self: Any) -> Any:  # noqa: N807 - takes its place
        made = plain_reduce(self)  # as it was: joblib asks for it by itself, without a pickle
        told = self.__dict__.get(KEY)
        if told and len(made) == 2 and _takes_attributes(made[1][0]):
            made[1][0].__dict__[KEY] = told
        return made

    def __reduce_ex__(self: Any, protocol: Any) -> Any:  # noqa: N807, ARG001 - asked by pickle
        made = plain_reduce(self)
        told = self.__dict__.get(KEY)
        if not told or len(made) != 2:
            return made
        # Whatever pickles the exception itself, it gets the attribute after it was made anew.
        set_state: Any = BaseException.__setstate__
        return (*made, {KEY: told}, None, None, set_state)

    carrier.__init__, carrier.__reduce__ = __init__, __reduce__
    carrier.__reduce_ex__ = __reduce_ex__


def _takes_attributes(exc: Any) -> bool:
    """Not one of a frozen class: to set one would fail where the program unpickles it."""
    return isinstance(exc, BaseException) and type(exc).__setattr__ in (
        BaseException.__setattr__,
        object.__setattr__,
    )


def _watch_wrapper(wrapper: Any) -> None:
    """Torch's wrapper is made in the worker, is pickled whole, and raises in the program."""
    plain = wrapper.__init__

    def __init__(self: Any, exc_info: Any = None, where: Any = "in background") -> None:  # noqa: N807
        if exc_info is None:
            exc_info = sys.exc_info()
        plain(self, exc_info, where)
        told = _describe(exc_info[1])
        if told:
            self.__dict__[KEY] = told

    wrapper.__init__ = __init__


def _describe(exc: Any) -> str:
    """The chain of exceptions with its frames and values as JSON; "" where there is no time."""
    now = time.perf_counter()
    _clock[0] = _clock[0] or now
    if asked.order.get("brief") or not isinstance(exc, BaseException):
        return ""
    if _clock[1] > GRACE + SHARE * (now - _clock[0]):
        return ""  # many fail, and the program goes on: it must not wait for us
    import gc

    was_on = gc.isenabled()
    gc.disable()  # what we allocate would set off collections over the whole heap of the user's
    try:
        from . import crash

        frames = _frames_of(exc.__traceback__)
        about = {"name": _worker_name(), "task": _task_of(frames), "item": _item_of(frames)}
        described = crash.describe(exc, {})
        return post.dumps({"pid": os.getpid(), **about, "chain": described["chain"]})
    except Exception:  # it fails as it would without us
        return ""
    finally:
        if was_on:
            gc.enable()
        _clock[1] += time.perf_counter() - now


def _frames_of(tb: TracebackType | None) -> list[FrameType]:
    found = []
    while tb is not None:
        found.append(tb.tb_frame)
        tb = tb.tb_next
    return found


def _stands_in(frame: FrameType, module: str, name: str) -> bool:
    return frame.f_code.co_name == name and frame.f_globals.get("__name__") == module


def _worker_name() -> str:
    """As multiprocessing calls it, `ForkPoolWorker-2`; a thread of the program has its own name."""
    process: Any = sys.modules.get("multiprocessing.process")
    threading: Any = sys.modules.get("threading")
    thread = threading.current_thread() if threading is not None else None
    is_child = process is not None and process.parent_process() is not None
    if thread is not None and thread is not threading.main_thread() and not is_child:
        return str(thread.name)
    return str(process.current_process().name) if process is not None else ""


# --- which item of a data set -------------------------------------------------------------------


def _item_of(frames: list[FrameType]) -> str:
    """`DataLoader worker 1, dataset[137]`; "" elsewhere."""
    said = ""
    for number, frame in enumerate(frames):
        if _stands_in(frame, LOADER + "worker", "_worker_loop"):
            said = f"DataLoader worker {frame.f_locals.get('worker_id')}"
        elif _stands_in(frame, LOADER + "fetch", "fetch"):
            what = _index_in(frame, frames[number + 1 :])
            return ", ".join(filter(None, [said, what]))
    return said


def _index_in(fetch: FrameType, below: list[FrameType]) -> str:
    """Which item a fetcher was at: one, or one of a batch, or all that are put together."""
    values = fetch.f_locals
    if type(values.get("self")).__name__ != "_MapDatasetFetcher":
        return ""  # what is only iterated over has no numbers
    asked = values.get("possibly_batched_index")
    if not getattr(values["self"], "auto_collation", False):
        collates = "collating " if "data" in values else ""
        return f"{collates}dataset[{_in_words(asked)}]"
    batch = list(asked) if isinstance(asked, (list, tuple)) else []
    listed = ", ".join(map(_in_words, batch[:SHOWN])) + (", …" if len(batch) > SHOWN else "")
    if "data" in values:
        return f"collating dataset[{listed}]"
    if below and below[0].f_code.co_name == "<listcomp>" and "idx" in below[0].f_locals:
        return f"dataset[{_in_words(below[0].f_locals['idx'])}]"
    # From 3.12 on a comprehension has no frame: the data set's own method was given the index.
    given = _given_to(below[0], 1) if below and below[0].f_code.co_name == "__getitem__" else []
    if given and any(given[0] is one for one in batch):
        return f"dataset[{_in_words(given[0])}]"
    if below and _stands_in(below[0], "torch.utils.data.dataset", "__getitems__"):
        inner = _index_in_subset(below[0].f_locals["self"], batch, below[1:])
        if inner:
            return inner
    if len(batch) == 1:
        return f"dataset[{listed}]"
    return f"one of dataset[{listed}]" if batch else ""


def _index_in_subset(subset: Any, batch: list[Any], below: list[FrameType]) -> str:
    """Which item of a batch a Subset was at, and which of the data set below it; "" if unsure."""
    indices = vars(subset).get("indices")
    if type(indices) not in (list, tuple, range) or not all(type(one) is int for one in batch):
        return ""
    if below and below[0].f_code.co_name == "<listcomp>" and "idx" in below[0].f_locals:
        found = [below[0].f_locals["idx"]]
    elif below and below[0].f_code.co_name == "__getitem__":
        given = _given_to(below[0], 1)
        found = [one for one in batch if given and indices[one] == given[0]]
    else:
        found = []
    if len(found) != 1:
        return ""
    return f"dataset[{found[0]}], which is dataset.dataset[{_in_words(indices[found[0]])}]"


def _in_words(index: Any) -> str:
    """A number, or a text without secrets; of anything else its type: no code of it is run."""
    kind = type(index)
    if kind is int or (kind.__module__ == "numpy" and kind.__name__.startswith(("int", "uint"))):
        return str(index)
    if kind is str:
        from .common import secrets

        return repr(secrets.mask(index[:60], secrets.of_environment(os.environ)))
    if kind is tuple and index and all(type(one) is int for one in index):
        return repr(index)
    return kind.__name__


def _given_to(frame: FrameType, skipped: int) -> list[Any]:
    """The positional arguments that a running function was given; [] if one was assigned since."""
    code = frame.f_code
    names = code.co_varnames[skipped : code.co_argcount]
    import dis

    for one in dis.get_instructions(code):
        if one.opname.startswith(("STORE", "DELETE")):
            changed = one.argval if type(one.argval) is tuple else (one.argval,)
            if any(name in names for name in changed):
                return []
    values = frame.f_locals
    return [values[name] for name in names if name in values]


# --- which argument of a pool's map ---------------------------------------------------------------


def _task_of(frames: list[FrameType]) -> dict[str, int] | None:
    """The task of a pool's worker: its number, and of a chunk the size and which item failed."""
    for number, frame in enumerate(frames):
        if frame.f_globals.get("__name__") in POOLS and frame.f_code.co_name == "worker":
            task = frame.f_locals.get("i")
            below = frames[number + 1 :]
            if type(task) is not int:
                return None
            if below and below[0].f_code.co_name in ("mapstar", "starmapstar"):
                function, chunk = below[0].f_locals["args"]
                is_star = below[0].f_code.co_name == "starmapstar"
                at = _position(function, chunk, is_star, below[1:])
                return {"number": task, "chunk": len(chunk), "at": at}
            return {"number": task, "chunk": 0, "at": -1}
    return None


def _position(function: Any, chunk: Any, is_star: bool, below: list[FrameType]) -> int:
    """Which item of a chunk a function was called with, by what it was given; -1 if unsure."""
    if len(chunk) == 1:
        return 0
    skipped = 1 if type(function) is types.MethodType else 0
    function = function.__func__ if skipped else function
    if not below or getattr(function, "__code__", None) is not below[0].f_code:
        return -1
    given = _given_to(below[0], skipped)
    found = []
    for number, one in enumerate(chunk):
        wanted = list(one) if is_star else [one]
        same = len(given) >= len(wanted) and all(a is b for a, b in zip(given, wanted))
        if same:
            found.append(number)
    return found[0] if len(found) == 1 else -1


# --- in the program -----------------------------------------------------------------------------


def told_of(exc: BaseException) -> dict[str, Any] | None:
    """What a worker told of an exception that was raised anew here, with which item it was."""
    try:
        frames = _frames_of(exc.__traceback__)
        text = object.__getattribute__(exc, "__dict__").get(KEY)
        for frame in frames:
            if _stands_in(frame, "torch._utils", "reraise"):
                text = vars(frame.f_locals["self"]).get(KEY)
        if type(text) is not str:
            return None
        told: dict[str, Any] = post.loads(text)
        task = told.pop("task")
        told["item"] = told["item"] or (_argument(task, frames) if task else "")
    except Exception:  # a class with a mind of its own, or a text that is not ours
        return None
    return told


def _argument(task: dict[str, int], frames: list[FrameType]) -> str:
    """`iterable[7]` of `Pool.map` and its like, by the result that the program waited for."""
    number, at, size = task["number"], task["at"], task["chunk"]
    for frame in frames:
        if frame.f_globals.get("__name__") not in POOLS:
            continue
        waits = frame.f_locals.get("self")
        kinds = [base.__name__ for base in type(waits).__mro__]
        if "MapResult" in kinds and size:
            first = number * getattr(waits, "_chunksize", 0)
            if at >= 0:
                return f"iterable[{first + at}]"
            return f"one of iterable[{first}:{first + size}]"
        if "IMapIterator" in kinds and not size:
            return f"iterable[{number}]"
    return ""
