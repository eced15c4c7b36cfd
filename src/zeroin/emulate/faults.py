"""`fail=CALL:ERROR`, `slow=CALL:TIME`: system calls that fail or take long, for one command.

By a seccomp listener; where there is none, by strace, which knows no patterns of paths.
"""

from __future__ import annotations

import errno
import os
import re
import shutil

from zeroin.emulate import calls, kernel, notify
from zeroin.emulate.part import Backend, Effect, Kind, Limit, Part
from zeroin.emulate.supervisor import Rule, Supervisor
from zeroin.errors import UsageError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Ending, Scene

_WHEN = re.compile(r"(\d+)(?:(\+)|-(\d+))?", re.ASCII)
_TIME = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|)", re.ASCII)
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "": 1.0}
_ERRORS = "ENOSPC, EIO, ENOENT, EACCES, EAGAIN, EINTR, ECONNREFUSED"
LONGEST = 3600.0
GAINS = "a command under it can't gain rights (sudo, ping)"


class Fault(NamedTuple):
    """One, read."""

    word: str
    error: int = 0
    delay: float = 0.0
    path: str = ""
    first: int = 1
    last: int = 0

    @property
    def rule(self) -> Rule:
        """As the supervisor knows it."""
        found = tuple(calls.named(self.word))
        return Rule(found, self.error, self.delay, self.path, self.first, self.last)


def parse(name: str, value: str) -> Limit:
    """That it can be meant; how often and where comes after the colons."""
    read(Limit(name, f"{name}={value}"), "/")
    return Limit(name, f"{name}={value}", value)


def read(limit: Limit, cwd: str) -> Fault:
    """`fail=write:ENOSPC:when=3+:path=/data/*`."""
    text = f"--limit {limit.text}"
    usage = "write fail=CALL:ERROR" if limit.name == "fail" else "write slow=CALL:TIME"
    usage += ", then :when=N, :when=N+ or :when=N-M, and :path=PATTERN"
    word, _, rest = limit.text.partition("=")[2].partition(":")
    rest, _, path = rest.partition(":path=")  # a path may hold colons: it comes last
    what, *more = rest.split(":")
    if not calls.named(word):
        from difflib import get_close_matches

        near = get_close_matches(word, calls.known(), 3)
        hint = (
            f"did you mean {', '.join(near)}?" if near else f"there are: {', '.join(calls.known())}"
        )
        raise UsageError(f"{text}: {word!r} is no system call that is known here", hint=hint)
    found = Fault(word, path=_pattern(path, cwd))
    if limit.name == "fail":
        number = int(getattr(errno, what, 0)) if what.startswith("E") else 0
        if what.isdecimal() and int(what) in errno.errorcode:
            number = int(what)
        if not number:
            raise UsageError(f"{text}: {what!r} is no error", hint=f"{usage}; {_ERRORS}, ...")
        found = found._replace(error=number)
    else:
        found = found._replace(delay=_seconds(what, text, usage))
    for option in more:
        key, _, value = option.partition("=")
        match = _WHEN.fullmatch(value)
        if key != "when" or not match or not int(match[1]):
            raise UsageError(f"{text}: {option!r} is not understood", hint=usage)
        first = int(match[1])
        last = 0 if match[2] else int(match[3] or first)
        found = found._replace(first=first, last=last)
    return found


def _seconds(what: str, text: str, usage: str) -> float:
    match = _TIME.fullmatch(what)
    seconds = float(match[1]) * _UNITS[match[2]] if match else 0.0
    if not 0 < seconds <= LONGEST:
        raise UsageError(f"{text}: {what!r} is no time", hint=f"{usage}; 20ms, 1.5s")
    return seconds


def _pattern(path: str, cwd: str) -> str:
    """A name alone stays one, and so does `*/data/*`; else absolute, as the kernel has it."""
    if "/" not in path or path.startswith("*"):
        return path
    whole = os.path.normpath(os.path.join(cwd, path))
    head, star, _ = whole.partition("*")
    folder = os.path.dirname(head) if star else os.path.dirname(whole)
    return os.path.realpath(folder).rstrip("/") + whole[len(folder.rstrip("/")) :]


class Listening(Part):
    """All faults of a run: there is only one listener."""

    order = 90  # right before the command

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "seccomp listener")
        self.faults = [read(limit, scene.cwd) for limit in limits]
        self._supervisor = Supervisor([fault.rule for fault in self.faults], execve())
        self.helpers = (self._supervisor.pid,)

    def last(self) -> None:
        """From now on its calls ask."""
        self._supervisor.enter()

    def effects(self, ending: Ending) -> list[Effect]:
        """How often each happened."""
        del ending
        notes = () if os.geteuid() == 0 else (GAINS,)
        return [
            Effect(limit.text, self.backend, hit > 0, _detail(fault, seen, hit), notes)
            for limit, fault, (seen, hit) in zip(
                self.limits, self.faults, self._supervisor.counts(), strict=True
            )
        ]

    def close(self) -> None:
        """Nobody is left who could ask."""
        self._supervisor.close()


def _detail(fault: Fault, seen: int, hit: int) -> str:
    done = "failed" if fault.error else "delayed"
    if seen:
        return f"{hit:,} of {seen:,} calls {done}"
    which = f" of {fault.path}" if fault.path else ""
    return f"no {fault.word}{which} was made"


def execve() -> int:
    """The call by which the command begins."""
    return calls.named("execve")[0].number


def lacks_listener(limits: Sequence[Limit] = (), scene: Scene | None = None) -> str:
    """Install one in a process that ends right after."""
    del limits, scene
    if calls.machine() not in calls.SECCOMP:
        return f"not known for {calls.machine()}"
    return kernel.trial(0, lambda _: os.close(notify.install([execve()])))


class Traced(Part):
    """By strace, which counts each process for itself."""

    order = 90

    def __init__(self, limits: Sequence[Limit], scene: Scene) -> None:
        super().__init__(limits, "strace")
        words = ["strace", "-D", "-f", "-I", "never_tstp", "--seccomp-bpf", "-o", os.devnull, "-qq"]
        for fault in (read(limit, scene.cwd) for limit in limits):
            words += _injection(fault)
        self.wrap = (*words, "--")

    def effects(self, ending: Ending) -> list[Effect]:
        """It does not count."""
        notes = ("calls are counted in each process for itself", GAINS)
        return [Effect(limit.text, self.backend, ending.failed, "", notes) for limit in self.limits]


def _injection(fault: Fault) -> list[str]:
    names = ",".join(f"?{call.name}" for call in calls.named(fault.word))
    what = f"error={errno.errorcode[fault.error]}" if fault.error else ""
    what = what or f"delay_enter={int(fault.delay * 1e6)}"
    upto = "" if fault.last == fault.first else f"..{fault.last}" if fault.last else "+"
    when = "" if (fault.first, fault.last) == (1, 0) else f":when={fault.first}{upto}"
    only = ["-P", fault.path] if fault.path else []
    return [*only, "-e", f"inject={names}:{what}{when}"]


def lacks_strace(limits: Sequence[Limit], scene: Scene) -> str:
    """It knows exact paths only, and one set of them for all."""
    if shutil.which("strace") is None:
        return "not on PATH"
    paths = {read(limit, scene.cwd).path for limit in limits}
    if len(paths) > 1 or any(re.search(r"[*?\[]", p) or (p and "/" not in p) for p in paths):
        return "it knows no patterns of paths, and one path for all"
    return ""


_BACKENDS = (
    Backend("seccomp listener", lacks_listener, Listening),
    Backend("strace", lacks_strace, Traced),
)
KINDS = {
    "fail": Kind(
        "fail",
        "system calls that fail with an error",
        parse,
        _BACKENDS,
        joined=lambda _: "calls",
    ),
    "slow": Kind(
        "slow",
        "system calls that take longer",
        parse,
        _BACKENDS,
        joined=lambda _: "calls",
    ),
}
