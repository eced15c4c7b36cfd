"""From all that is known to what killed it; or what it was not."""

from __future__ import annotations

import re

from zeroin.observe.death import words
from zeroin.observe.death.evidence import (
    FULL,
    Evidence,
    Verdict,
    disk_words,
    line_with,
    of_limit,
    said,
)
from zeroin.observe.death.lacks import lack
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NEAR = 0.9  # of a limit: reached, as far as one can tell by looking now and then


def judge(e: Evidence) -> Verdict:
    """The first rule that has something to say."""
    for rule in _RULES:
        found = rule(e)
        if found is not None:
            return found
    return _by_code(e)


# --- rules ------------------------------------------------------------------------------------


def _no_death(e: Evidence) -> Verdict | None:
    texts = {
        "passed": "it did not die: it ended with exit code 0",
        "hang": "it did not end by itself: zeroin ended it at --timeout",
        "unfinished": "it was never seen to end: zeroin itself was killed, or lost power",
    }
    if e.outcome == "killed" and e.headline == "interrupted":
        return Verdict("you interrupted it (Ctrl-C)", "certain", [], [])
    if e.outcome not in texts:
        return None
    if e.outcome == "unfinished" and e.headline:
        return Verdict(f"it did not start: {e.headline}", "certain", [], [])
    because = [e.headline] if e.headline else []
    return Verdict(texts[e.outcome], "certain", because, [])


def _limit(e: Evidence) -> Verdict | None:
    if e.outcome != "limit":
        return None
    return Verdict(f"it reached a limit that you set: {e.headline}", "certain", [], [])


def _killed(e: Evidence) -> bool:
    """By what it ended with; a code alone is no evidence, but fits with other."""
    return e.signal == "SIGKILL" or (e.exit_code == 137 and not e.child)


def _out_of_memory(e: Evidence) -> Verdict | None:
    logged = [line for line in e.kernel or [] if "illed process" in line]
    because = [f"kernel log: {line}" for line in logged[-2:]]
    if e.oom_kills:
        because.append(f"the kernel killed {e.oom_kills} of its cgroup for memory during the run")
    if not because:
        return None
    if e.peak:
        because.append(f"its peak was {size(e.peak)}{of_limit(e)}")
    who = "it" if _killed(e) else "a process of it"
    return Verdict(f"the kernel killed {who}: out of memory", "certain", because, [])


def _sigkill(e: Evidence) -> Verdict | None:
    if not _killed(e):
        return None
    hard = e.limits.get("cpu time", [-1, -1])[1]
    if 0 <= hard <= e.cpu_seconds + 1:
        because = [f"it used {e.cpu_seconds:.1f} s of CPU; the limit is {hard} s (ulimit -Ht)"]
        return Verdict("it used up its CPU time", "certain", because, [])
    by_slurm = _slurm(e)
    if by_slurm is not None:
        return by_slurm
    limit = e.groups.get("memory", 0)
    if limit and e.peak >= NEAR * limit:
        because = [f"its peak was {size(e.peak)}{of_limit(e)}", "no other cause was found"]
        return Verdict("probably killed for memory", "likely", because, _ruled_out(e))
    if not e.signal:
        return None
    text = "somebody sent SIGKILL, and the kernel does not keep who"
    return Verdict(text, "unknown", [], _ruled_out(e))


def _slurm(e: Evidence) -> Verdict | None:
    for pattern, text in (
        (r"DUE TO TIME LIMIT", "SLURM ended it: its time was over"),
        (r"oom[-_ ]kill|Out Of Memory", "SLURM saw it killed for memory"),
        (r"(?:JOB|STEP) \S+ .*CANCELLED", "SLURM cancelled it"),
    ):
        line = line_with(e.output, pattern)
        if line and re.search(r"slurm|srun|JOB|STEP", line, re.IGNORECASE):
            return Verdict(text, "certain", [f"it printed: {line}"], [])
    return None


def _by_signal(e: Evidence) -> Verdict | None:
    name = e.signal or e.child
    if not name:
        return None
    more = _DETAILS.get(name)
    text, sure, because = words.of_signal(name), "certain", said(e)
    if more is not None:
        text, sure, because = more(e, text)
    if e.signal:
        return Verdict(f"{name}: {text}", sure, because, [])
    code = e.exit_code or 0
    passed_on = words.signal_of(code) == name
    then = words.of_code(code) if passed_on else "with which it ended itself after that"
    return Verdict(f"{name} in a child: {text}", sure, [*because, f"exit code {code}: {then}"], [])


def _by_code(e: Evidence) -> Verdict:
    """Nothing but the code, which anybody can give: what it means is likely at most."""
    code = e.exit_code or 0
    meaning, pattern = _OF_SHELLS.get(code, ("", ""))
    name = words.signal_of(code)
    if name:
        meaning = f"a process of it was ended by {name}, and a shell passed that on"
    if not meaning:
        text = words.of_code(code)
        return Verdict(text, "certain" if code else "unknown", said(e), _ruled_out(e))
    because = [f"exit code {code} is {words.of_code(code)}"]
    line = line_with(e.output, pattern) if pattern else ""
    if line:
        return Verdict(meaning, "certain", [*because, f"it printed: {line}"], [])
    if e.shell:
        return Verdict(meaning, "likely", [*because, *said(e)], _ruled_out(e))
    text = f"it ended with exit code {code}, {words.of_code(code)}; nothing else speaks for that"
    return Verdict(text, "unknown", said(e), _ruled_out(e))


_OF_SHELLS = {
    126: ("a command can't be executed", r"[Pp]ermission denied|[Cc]annot execute|Exec format"),
    127: ("a command was not found", r"not found|No such file"),
}


Detail = tuple[str, str, list[str]]


def _segv(e: Evidence, text: str) -> Detail:
    stack = e.limits.get("stack", [-1])[0]
    deep = e.faults.count("\n  File ") >= 90
    if deep and stack > 0:
        return (
            "its stack was full: calls within calls without end",
            "likely",
            [
                "the Python stack is over 90 calls deep",
                f"a stack may have {size(stack)} (ulimit -s)",
            ],
        )
    null = line_with("\n".join(e.calls), r"si_addr=(?:NULL|0x[0-9a-f]{1,3}\b)")
    because = ["the address was at or near NULL"] if null else []
    return text, "certain", because


def _bus(e: Evidence, text: str) -> Detail:
    full = [disk for disk in e.disks if disk["free"] < FULL]
    if full:
        return f"{text}: {full[0]['path']} is full", "likely", [disk_words(full[0])]
    return text, "certain", ["a file that was mapped became shorter, or its disk is broken or full"]


def _abort(e: Evidence, text: str) -> Detail:
    for pattern, meaning in (
        (r"std::bad_alloc|cannot allocate|Cannot allocate memory", "memory was not to be had"),
        (r"double free|corrupted|free\(\)|malloc\(\)|munmap_chunk", "its heap was corrupted"),
        (r"[Aa]ssertion .*failed|Check failed", "an assertion in C or C++ failed"),
        (r"terminate called", "a C++ exception was not caught"),
        (r"Fatal Python error", "Python itself gave up"),
    ):
        line = line_with(e.output + "\n" + e.faults, pattern)
        if line:
            return f"{text}: {meaning}", "certain", [f"it printed: {line}"]
    return text, "certain", said(e)


def _cpu(e: Evidence, text: str) -> Detail:
    soft = e.limits.get("cpu time", [-1])[0]
    because = [f"it used {e.cpu_seconds:.1f} s; the limit is {soft} s"] if soft >= 0 else []
    return text, "certain", because


def _file_size(e: Evidence, text: str) -> Detail:
    soft = e.limits.get("file size", [-1])[0]
    return text, "certain", [f"a file may have {size(soft)}"] if soft >= 0 else []


def _term(e: Evidence, text: str) -> Detail:
    found = _slurm(e)
    if found is not None:
        return found.text, "certain", found.because
    return f"{text}, by whom is not kept (a scheduler, a supervisor, kill)", "certain", said(e)


_DETAILS: dict[str, Callable[[Evidence, str], Detail]] = {
    "SIGSEGV": _segv,
    "SIGBUS": _bus,
    "SIGABRT": _abort,
    "SIGXCPU": _cpu,
    "SIGXFSZ": _file_size,
    "SIGTERM": _term,
}


def _exception(e: Evidence) -> Verdict | None:
    if not e.exception:
        return None
    because = [f"a Python below it died of {e.child}"] if e.child else []
    return Verdict(f"an exception of the program ended it: {e.headline}", "certain", because, [])


def _ruled_out(e: Evidence) -> list[str]:
    found = []
    if e.oom_kills == 0:
        found.append("out of memory in its own cgroup: the kernel's counter did not move")
    if e.kernel == []:
        found.append("out of memory anywhere: the kernel's log says nothing of it")
    elif e.kernel is None:
        found.append("(the kernel's log can't be read here: sudo dmesg | tail)")
    if e.limits.get("cpu time", [-1, -1])[1] < 0:
        found.append("a limit of CPU time: there is none")
    if e.disks and all(disk["free"] >= FULL for disk in e.disks):
        found.append("a full disk: " + "; ".join(map(disk_words, e.disks)))
    if e.outcome:
        found.append("a time-out of zeroin's")
    return found


_RULES = (_no_death, _limit, _out_of_memory, _sigkill, lack, _exception, _by_signal)
