"""From what was seen of an ending to what failed: the signature and the headline."""

from __future__ import annotations

from zeroin.cycle import diagnostics, printed, signature
from zeroin.cycle.crash import Crash, Frame, telling
from zeroin.cycle.outcome import Explanation, Kind
from zeroin.errors import UNTESTABLE
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle.diagnostics import Diagnostic
    from zeroin.cycle.mask import Places

# Exceptions that only say "a child of mine failed": what the child said tells more.
OF_A_CHILD = frozenset(
    (
        "CalledProcessError",
        "ChildFailedError",
        "ProcessRaisedException",
        "ProcessExitedException",
        "BrokenProcessPool",
        "TerminatedWorkerError",
    )
)

UNCAUGHT = 1  # the exit code of a Python that an exception ended


class Reached(NamedTuple):
    """A limit that was asked for, and reached."""

    name: str  # "memory"
    ended: str = ""  # how the command was ended for it, if it was
    frames: Sequence[Frame] = ()  # of who reached it, outermost first


class Ending(NamedTuple):
    """All that is known when the command has ended."""

    exit_code: int | None  # None when a signal ended it
    signal: str = ""  # "SIGSEGV"
    timed_out: bool = False
    out_of_memory: bool = False
    interrupted: bool = False  # by the user, who is not a failure of the program's
    pid: int = 0
    crashes: Sequence[Crash] = ()
    faults: str = ""  # what faulthandler wrote
    stacks: Sequence[Sequence[Frame]] = ()  # of every thread at the time-out, outermost first
    output: str = ""  # the end of what it printed on stderr, or of everything on a terminal
    answer: str = ""  # the end of what it printed on stdout, if that is not in `output`
    beginnings: tuple[str, str] = ("", "")  # of `output` and `answer`, where these lack it
    places: Places | None = None  # folders of this run, which no signature may hold
    limits: Sequence[Reached] = ()


def explain(ending: Ending) -> Explanation:
    """Name what failed, from the best evidence there is.

    What a program fails of when it reaches a limit has the signature that it has without us.
    """
    found = _explain(ending)
    if not ending.limits or found.kind not in (Kind.FAILED, Kind.KILLED) or not found.signature:
        return found
    for limit in ending.limits:
        if limit.ended:
            return _limit(limit)
    return found._replace(kind=Kind.LIMIT)


def _limit(limit: Reached) -> Explanation:
    where = telling(limit.frames)
    words = f"{limit.name} limit"
    found = signature.of_words(words, where=[where.label] if where else [])
    at = f" at {place(where, line=True)}" if where else ""
    return Explanation(Kind.LIMIT, found, f"{words}: {limit.ended}{at}")


def _explain(ending: Ending) -> Explanation:
    if ending.timed_out:
        return _hang(ending)
    if ending.interrupted and (ending.signal == "SIGINT" or ending.exit_code == 130):
        return Explanation(Kind.KILLED, None, "interrupted")
    if ending.out_of_memory:
        found = signature.of_words("out of memory (SIGKILL)")
        return Explanation(Kind.KILLED, found, "killed by the kernel: out of memory")
    if ending.signal and not _raised_by_python(ending):
        return _signal(ending)
    if ending.exit_code == 0:
        return Explanation(Kind.PASSED, None, _unheeded(ending))
    if ending.exit_code == UNTESTABLE:  # it says that nothing was tested: so do its last words
        return _exit(ending)
    kind = Kind.KILLED if ending.signal else Kind.FAILED
    crash = _telling(ending) or printed.last_crash(ending.output)
    if crash is not None:
        return _exception(kind, crash, ending)
    return _exit(ending)


def _raised_by_python(ending: Ending) -> bool:
    """Ctrl-C: Python raises KeyboardInterrupt, then ends itself by the signal."""
    return ending.signal == "SIGINT" and any(c.pid == ending.pid for c in ending.crashes)


def _telling(ending: Ending) -> Crash | None:
    """The crash that explains the failure.

    The command's own uncaught exception, unless that only says a child failed; then the first
    failing test; then the first child that an exception ended; then what a thread died of.
    """
    # Tests that run side by side fail in any order: then their names decide.
    side_by_side = len({crash.pid for crash in ending.crashes if crash.test}) > 1

    def rank(crash: Crash) -> tuple[int, str, float]:
        own = crash.pid == ending.pid and crash.fatal
        if own and crash.last.type not in OF_A_CHILD:
            return 0, "", -crash.time
        if crash.test:
            return 1, crash.test if side_by_side else "", crash.time
        if crash.fatal and not own:
            return 2, "", crash.time
        return 3 if own else 4, "", crash.time

    return min(ending.crashes, key=rank, default=None)


def _unheeded(ending: Ending) -> str:
    """Tell what threads and children died of while the command itself passed; "" if none did."""
    threads = [one for one in ending.crashes if not one.fatal and not one.test]
    children = [one for one in ending.crashes if one.fatal and one.pid != ending.pid]
    parts = []
    for crashes, where, places in (
        (threads, "a thread", "threads"),
        (children, "a child process", "child processes"),
    ):
        if crashes:
            first = min(crashes, key=lambda one: one.time)
            if len(crashes) == 1:
                parts.append(f"1 exception in {where}: {headline(first)}")
            else:
                parts.append(f"{len(crashes)} exceptions in {places}, first: {headline(first)}")
    return " · ".join(parts)


def _exception(kind: Kind, crash: Crash, ending: Ending) -> Explanation:
    found = signature.of_crash(crash, ending.places)
    own = [c for c in ending.crashes if c.pid == ending.pid and c.fatal]
    if own and own[-1] is not crash:
        found = signature.of_child(found, signature.of_crash(own[-1], ending.places))
    return Explanation(kind, found, _said(crash, ending), crash)


def _said(crash: Crash, ending: Ending) -> str:
    """A script that ends with another code than the child's own has decided that itself."""
    text = headline(crash)
    tests = len({one.test for one in ending.crashes if one.test})
    if crash.test and tests > 1:
        text += f" (the first of {tests} failing tests)"
    if crash.pid in (0, ending.pid) or crash.test or ending.exit_code in (None, UNCAUGHT):
        return text
    return f"exit {ending.exit_code}, after a child failed: {text}"


def headline(crash: Crash) -> str:
    """`ValueError at model.py forward(): shapes (32,10) and (12,4) not aligned`."""
    link = crash.last
    text = link.type
    where = link.where()
    if where is not None:
        text += f" at {place(where)}"
    lines = [line.strip() for line in link.message.splitlines() if line.strip()] or [""]
    # A worker's traceback in the message: what it ended with is what happened.
    first = lines[-1].removeprefix(f"{link.type}: ") if printed.START in link.message else lines[0]
    if link.group:
        inner = ", ".join(dict.fromkeys(chain[-1].type for chain in link.group if chain))
        first += f" [{inner}]"
    return text + (f": {first}" if first else "")


def place(frame: Frame, *, line: bool = False) -> str:
    """`model.py forward()`."""
    file = frame.file.rpartition("/")[2] + (f":{frame.line}" if line else "")
    return file if frame.name.startswith("<") else f"{file} {frame.name}()"


def _signal(ending: Ending) -> Explanation:
    where = telling(printed.faulthandler_frames(ending.faults or ending.output))
    if where is None and ending.signal == "SIGABRT":  # of itself: assert, terminate, free
        words = printed.last_words(ending.output)
        found = signature.of_words(ending.signal, message=words, places=ending.places)
        return Explanation(Kind.KILLED, found, ending.signal + (f": {words}" if words else ""))
    found = signature.of_words(ending.signal, where=[where.label] if where else [])
    text = ending.signal + (f" at {place(where)}" if where else "")
    return Explanation(Kind.KILLED, found, text)


def _hang(ending: Ending) -> Explanation:
    told = [frame for stack in ending.stacks if (frame := telling(stack)) is not None]
    told = [frame for frame in told if frame.owner == "user"] or told
    names = sorted({frame.label for frame in told})
    if len(names) > 1:  # a script's last line that waits for all the others says nothing
        names = [name for name in names if name != "<module>"]
    found = signature.of_words("hang", where=names)
    places = ", ".join(dict.fromkeys(place(frame) for frame in told[:3]))
    return Explanation(Kind.HANG, found, "hang" + (f" at {places}" if places else ""))


def _exit(ending: Ending) -> Explanation:
    """Neither a signal nor an exception: what it said, or what a child in C died of."""
    words = f"exit {ending.exit_code}"
    fault = printed.fault(ending.faults)
    if fault is not None:
        name, where = fault[0], telling(fault[1])
        found = signature.of_words(f"{words} after {name}", where=[where.label] if where else [])
        at = f" at {place(where)}" if where else ""
        return Explanation(Kind.FAILED, found, f"{words} after {name} in a child{at}")
    first = _first_diagnostic(ending)
    if first is not None:
        found = signature.of_words(words, message=first.message, places=ending.places)
        return Explanation(Kind.FAILED, found, f"{words}: {first.line}")
    line = printed.last_error_line(ending.output)
    found = signature.of_words(words, message=line, places=ending.places)
    return Explanation(Kind.FAILED, found, words + (f": {line}" if line else ""))


def _first_diagnostic(ending: Ending) -> Diagnostic | None:
    """Look where errors belong; some linters print them as their answer."""
    for start, end in zip(ending.beginnings, (ending.output, ending.answer), strict=True):
        text = f"{start}\n{end}" if start else end
        found = diagnostics.find_first(printed.plain(text)) if text else None
        if found is not None:
            return found
    return None
