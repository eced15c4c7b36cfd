"""`why`: one post-mortem of what just died, or a look at what seems dead."""

from __future__ import annotations

import os

from zeroin.cycle.crash import telling
from zeroin.cycle.printed import fault, faulthandler_frames
from zeroin.errors import StoreError, UsageError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.observe.death import around, cores, kernel_log, process
from zeroin.observe.death.evidence import Evidence, Verdict
from zeroin.observe.death.verdict import judge
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.observe.death.cores import Core
    from zeroin.observe.death.process import Look
    from zeroin.record.store import Attempt
    from zeroin.tools.reading import Reading

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish")
CURVE = 8  # points of the memory's end
DUMPS = ("SIGSEGV", "SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGQUIT", "SIGSYS")
OUTPUT = 64 << 10
GIVING_UP = ("pthread_kill", "__GI_raise", " raise (", "__GI_abort", " abort (", " gsignal (")


class WhyReport(NamedTuple):
    """A post-mortem. One of `attempt` and `look` is there, or neither if nothing is left."""

    subject: str
    verdict: Verdict
    attempt: Attempt | None = None
    look: Look | None = None
    exit_code: int | None = None
    signal: str = ""
    limits: dict[str, list[int]] = {}  # noqa: RUF012 - never changed
    groups: dict[str, int] = {}  # noqa: RUF012
    disks_then: list[dict[str, Any]] = []  # noqa: RUF012
    disks_now: list[dict[str, Any]] = []  # noqa: RUF012
    curve: list[tuple[float, int]] = []  # noqa: RUF012
    kernel: list[str] | None = None
    core: Core | None = None
    python: list[str] = []  # noqa: RUF012 - the Python stack, as faulthandler wrote it
    stacks: list[Any] = []  # noqa: RUF012 - of a process that runs
    calls: list[str] = []  # noqa: RUF012
    output: str = ""
    also: str = ""


def why(name: str, cwd: str, environ: Mapping[str, str], *, is_pid: bool = False) -> WhyReport:
    """Of an attempt, or of a process."""
    if is_pid:
        return of_process(_number(name), cwd, environ)
    from zeroin.tools.reading import open_record

    try:
        reading = open_record(cwd, environ)
    except StoreError:
        if not name.isdecimal():
            raise
        return of_process(int(name), cwd, environ)
    with reading:
        try:
            attempt = reading.store.resolve(name)
        except StoreError:
            if not name.isdecimal():
                raise
            return _number_of_what(int(name), cwd, environ)
        report = of_attempt(reading, attempt)
    if name.isdecimal() and os.path.exists(f"/proc/{name}"):
        return report._replace(also=f"process {name} is another thing: zeroin why -p {name}")
    return report


def _number_of_what(number: int, cwd: str, environ: Mapping[str, str]) -> WhyReport:
    try:
        return of_process(number, cwd, environ)
    except ZeroinError:
        raise StoreError(
            f"there is no attempt {number}, and no process {number}", hint="see: zeroin log"
        ) from None


def _number(name: str) -> int:
    if not name.isascii() or not name.isdecimal() or int(name) < 1:
        raise UsageError(f"-p {name}: a process has a number", hint="zeroin why -p 1234")
    return int(name)


# --- an attempt ---------------------------------------------------------------------------------


def of_attempt(reading: Reading, attempt: Attempt) -> WhyReport:
    """From what was kept of it, and what the machine still knows."""
    from zeroin.run import keep
    from zeroin.tools.reading import is_running

    if is_running(attempt):
        pid = attempt.driver.partition(":")[0]
        raise ZeroinError(
            f"attempt {attempt.id} still runs, below process {pid}",
            hint=f"where it stands: zeroin stacks {pid}",
        )
    kept: dict[str, Any] = reading.store.get(attempt.evidence) or {}
    about: dict[str, Any] = kept.get("around") or {}
    pids: list[int] = about.get("pids") or []
    code = attempt.exit_code
    signal = _name(-code) if code is not None and code < 0 else ""
    output = keep.text(reading.output_folder(attempt))[-OUTPUT:].decode("utf-8", "replace")
    failed = attempt.outcome not in ("passed", "unfinished")
    log = kernel_log.about(pids, attempt.started) if failed else []
    report = WhyReport(
        f"attempt {attempt.id}",
        judge(_evidence(attempt, kept, signal, output, log)),
        attempt=attempt,
        exit_code=code if not signal else None,
        signal=signal,
        limits=about.get("limits") or {},
        groups=about.get("groups") or {},
        disks_then=about.get("disks") or [],
        disks_now=around.disks([attempt.cwd, "/tmp", "/dev/shm"]),  # noqa: S108
        curve=[(when, value) for when, value in (kept.get("curve") or [])[-CURVE:]],
        kernel=log,
        python=_python_stack(kept.get("faults") or "") if failed else [],
        calls=kept.get("calls") or [],
        output=output,
    )
    if signal in DUMPS and pids:
        report = report._replace(core=_core(attempt, about, pids))
    elif pids and (_name((code or 0) - 128) in DUMPS or _died_of(kept.get("faults") or "")):
        core = _core(attempt, about, pids, is_child=True)
        report = report._replace(core=core if core.path else None)  # it may have had no chance to
    return report._replace(verdict=_located(report))


def _located(report: WhyReport) -> Verdict:
    """Where it was, for a death by a fault in C."""
    verdict, found = report.verdict, []
    who = "it" if report.signal else "the child"
    if report.core is not None and report.core.native:
        frame = _telling_frame(report.core.native)
        found.append(f"in C {who} was in {frame.partition(' ')[2].strip()}")
    where = telling(faulthandler_frames("\n".join(report.python)))
    if where is not None and (report.signal in DUMPS or not report.signal):
        found.append(f"in Python {who} was at {where.file}:{where.line} in {where.name}")
    return verdict._replace(because=[*verdict.because, *found])


def _telling_frame(native: Sequence[str]) -> str:
    """The innermost that is not the C library's own way to give up."""
    return next(
        (frame for frame in native if not any(name in frame for name in GIVING_UP)), native[0]
    )


def _evidence(
    attempt: Attempt, kept: dict[str, Any], signal: str, output: str, log: list[str] | None
) -> Evidence:
    about: dict[str, Any] = kept.get("around") or {}
    crashes = kept.get("crashes") or []
    last = crashes[-1]["chain"][-1] if crashes else None
    faults = kept.get("faults") or ""
    return Evidence(
        exit_code=None if signal else attempt.exit_code,
        signal=signal,
        outcome=attempt.outcome or "unfinished",
        headline=attempt.headline or "",
        exception=f"{last['type']}: {last['message']}" if last else "",
        output=output,
        peak=attempt.peak_bytes or 0,
        cpu_seconds=attempt.cpu_seconds or 0.0,
        limits=about.get("limits") or {},
        groups=about.get("groups") or {},
        oom_kills=about.get("oom_kills"),
        kernel=log,
        disks=about.get("disks") or [],
        faults=faults,
        child="" if signal else _died_of(faults),
        shell=any(map(_is_shell, attempt.command)),
        calls=kept.get("calls") or [],
    )


def _core(
    attempt: Attempt, about: dict[str, Any], pids: list[int], *, is_child: bool = False
) -> Core:
    python = (attempt.facts.get("python") or {}).get("executable", "")
    return cores.find(
        cores.Death(
            pids[0],
            attempt.cwd,
            attempt.started,
            os.WCOREDUMP(about.get("status") or 0),
            (about.get("limits") or {}).get("core size", [-1])[0],
            os.path.realpath(python) if python else "",
            tuple(pids) if is_child else (),
        )
    )


def _died_of(faults: str) -> str:
    """The signal that a Python died of; where it gives up for reasons of its own, it aborts."""
    found = fault(faults)
    if found is None:
        return ""
    return found[0] if found[0].startswith("SIG") else "SIGABRT"


def _is_shell(word: str) -> bool:
    return os.path.basename(word) in SHELLS or word.endswith(".sh")


def _python_stack(faults: str) -> list[str]:
    return [line.rstrip() for line in faults.splitlines() if line.strip()][:40]


def _name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


# --- a process ----------------------------------------------------------------------------------


def of_process(pid: int, cwd: str, environ: Mapping[str, str]) -> WhyReport:
    """One that runs, one that has just ended, or what is left of one that is gone."""
    found = process.look(pid)
    if found is None:
        return _gone(pid, cwd, environ)
    if found.state == "Z":
        return _zombie(found)
    from zeroin.observe import stacks

    taken = stacks.take([pid])
    return WhyReport(
        f"process {pid}",
        Verdict(*_alive(found), _remarks(found), []),
        look=found,
        limits=found.limits,
        groups=around.groups(),
        stacks=taken,
    )


def _alive(look: Look) -> tuple[str, str]:
    text = f"it has not died: it {look.state_words}"
    if look.waits_for:
        text += f", in {look.waits_for}"
    return text, "certain"


def _remarks(look: Look) -> list[str]:
    found = [f"{path} was removed or replaced since it started" for path in look.deleted]
    soft = look.limits.get("open files", [-1])[0]
    if soft > 0 and look.files >= 0.9 * soft:
        found.append(f"it has {look.files:,} of {soft:,} files open")
    if look.hidden:
        found.append("not ours to see: " + ", ".join(f"/proc/{look.pid}/{n}" for n in look.hidden))
    return found


def _zombie(look: Look) -> WhyReport:
    parent = process.look(look.parent)
    name = " ".join(parent.command)[:60] if parent is not None else "?"
    because = [f"its parent {look.parent} ({name}) has not waited for it"]
    if look.status is None or (look.status == 0 and "stat" in look.hidden):
        verdict = Verdict("it has ended; how is not ours to see", "unknown", because, [])
        return WhyReport(f"process {look.pid}", verdict, look=look)
    code = os.waitstatus_to_exitcode(look.status)
    log = kernel_log.about([look.pid])
    judged = judge(
        Evidence(
            exit_code=code if code >= 0 else None,
            signal=_name(-code) if code < 0 else "",
            outcome="passed" if code == 0 else "",
            kernel=log,
        )
    )
    return WhyReport(
        f"process {look.pid}",
        judged._replace(because=[*judged.because, *because]),
        look=look,
        exit_code=code if code >= 0 else None,
        signal=_name(-code) if code < 0 else "",
        kernel=log,
    )


def _gone(pid: int, cwd: str, environ: Mapping[str, str]) -> WhyReport:
    """The record may know it, the kernel's log, or a core dump."""
    report = _in_record(pid, cwd, environ)
    if report is not None:
        return report
    log = kernel_log.about([pid])
    core = cores.find(cores.Death(pid, cwd, 0.0, dumped=False, limit=-1))
    if not log and not core.path:
        searched = ["the record here has no attempt with it"]
        searched.append(
            "the kernel's log can't be read: sudo dmesg | tail"
            if log is None
            else "the kernel's log does not name it"
        )
        if core.note:
            searched.append(core.note)
        raise ZeroinError(
            f"there is no process {pid}, and nothing is left of it: " + "; ".join(searched),
            hint="next time run it by zeroin: zeroin run -- COMMAND",
        )
    verdict = judge(Evidence(kernel=log))
    if verdict.sure == "unknown":
        verdict = Verdict("it is gone; this is left of it", "unknown", [*(log or [])], [])
    return WhyReport(f"process {pid}", verdict, kernel=log, core=core if core.path else None)


def _in_record(pid: int, cwd: str, environ: Mapping[str, str]) -> WhyReport | None:
    from zeroin.tools.reading import open_record

    try:
        reading = open_record(cwd, environ)
    except StoreError:
        return None
    with reading:
        for attempt in reading.store.attempts(limit=50):
            kept = reading.store.get(attempt.evidence) or {}
            if pid in ((kept.get("around") or {}).get("pids") or []):
                report = of_attempt(reading, attempt)
                return report._replace(also=f"process {pid} was one of attempt {attempt.id}")
    return None


def limit_words(limits: dict[str, list[int]]) -> list[str]:
    """Limits that are there, as people read them."""
    found = []
    for name, (soft, hard) in limits.items():
        unit = around.LIMITS.get(name, ("", ""))[1]
        if soft < 0:
            continue
        shown = [size(v) if unit == "bytes" else f"{v:,} {unit}".strip() for v in (soft, hard)]
        text = f"{name} {shown[0]}"
        found.append(text if hard == soft else f"{text} (up to {shown[1] if hard >= 0 else 'any'})")
    return found
