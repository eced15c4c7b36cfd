"""`zeroin run`."""

from __future__ import annotations

import os
import sys

from zeroin.cycle import Cycle
from zeroin.errors import HANG, UsageError
from zeroin.fronts.cli import at
from zeroin.fronts.cli.options import (
    Plain,
    add_json,
    begin_shared,
    end_shared,
    here,
    split_command,
)
from zeroin.fronts.words import Paint, put, put_json, warn
from zeroin.run.environment import SYNC, SYNC_INSIDE
from zeroin.run.spawn import become_command
from zeroin.run.trial import TooFewFilesError
from zeroin.tools.run import Options, run
from zeroin.tools.sizes import parse_seconds

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from zeroin.cycle import Outcome
    from zeroin.fronts.cli.options import Takes
    from zeroin.fronts.cli.parsing import Parser
    from zeroin.run.hold import Held, Missed
    from zeroin.tools.run import Pause, RunReport

KEEPING = ("disk=", "inodes=")
NEAR_PEAK = 0.97
LEVELS = ("debug", "info", "warning", "error", "critical")
EXAMPLES = """\
  zeroin run -- python train.py --lr 0.1
  zeroin run --reset 'rm -rf out' --restore data/cache -- ./launch.sh
  zeroin run --env LR=0.1 --unset CUDA_VISIBLE_DEVICES --timeout 5m -- python train.py
  zeroin run --repeat 50 -- pytest -x tests/test_api.py      how often does it fail?
  zeroin run --until-fail --pdb -- python flaky.py           stop in the debugger when it does
  zeroin run --sync --seed 1 -- python train.py              one thread, same numbers each time
  zeroin run --limit disk=/data:50M -- python export.py      as if the disk were nearly full
  zeroin run --limit memory=2G -- python train.py            and who asked for too much
  zeroin run --peek --log -- python train.py                 peek(x) anywhere; keep the log
  zeroin run --pause-at-peak -- python train.py              stands still at its most memory
  zeroin run --at train.py:41 peek=x.shape,lr -- python train.py          look, without an edit
  zeroin run --at 'torch.nn.functional:relu if=input.isnan().any() pdb' -- python train.py
"""


def parser() -> Parser:
    """All options of `run`."""
    from zeroin.fronts.cli.parsing import Parser

    p = Parser(
        "run",
        "Put the world back, run one command, keep what happened, say what failed.\n"
        "The output is passed through as it is; our own lines go to stderr. The exit code is the\n"
        "command's own (124 after a time-out, 125 when a reset failed).",
        "[options] -- COMMAND ...",
        EXAMPLES,
    )
    add_options(p)
    return p


def add_options(p: Takes) -> None:
    """All of them."""
    add_cycle_options(p)
    add_repeat_options(p)
    add_pause_option(p)
    at.add_option(p)
    add_run_options(p)
    p.add_argument("command", nargs="*", help="what to run, after --")


def plain() -> argparse.Namespace:
    """What they are if none is given."""
    p = Plain()
    add_options(p)
    return p.given()


def add_cycle_options(p: Takes) -> None:
    """What makes a cycle."""
    begun = begin_shared(p)
    add = p.add_argument
    add("--reset", action="append", default=[], metavar="CMD", help="shell line to run first")
    add(
        "--restore",
        action="append",
        default=[],
        metavar="PATH",
        help="put this file or folder back to its state at the first attempt",
    )
    add("--env", action="append", default=[], metavar="K=V", help="set a variable for this run")
    add(
        "--env-file",
        action="append",
        default=[],
        metavar="FILE",
        help="set variables from a file of K=V lines",
    )
    add("--unset", action="append", default=[], metavar="K", help="take a variable away")
    add("--cwd", metavar="DIR", help="run in that folder")
    add("--timeout", metavar="TIME", help="end it after 30s, 5m, 1h; keeps all stacks")
    add("--seed", type=int, metavar="N", help="seed hashing, random, numpy and torch")
    add("--sync", action="store_true", help="turn asynchrony off: one thread, blocking CUDA, ...")
    add(
        "--limit",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=f"emulate a lack of something: {usages()}",
    )
    add(
        "--memory-error",
        action="store_true",
        help="at --limit memory, allocations of a process fail instead of it being ended",
    )
    end_shared(p, begun, "how the command is run")


def usages() -> str:
    """All limits, in short."""
    from zeroin.emulate.registry import USAGES

    return ", ".join(USAGES.values()).replace("%", "%%")


def add_repeat_options(p: Takes) -> None:
    """How often."""
    p.add_argument("--repeat", type=int, metavar="N", help="run N times; failure rates at the end")
    p.add_argument("--until-fail", action="store_true", help="repeat until it fails")


def add_pause_option(p: Takes) -> None:
    """When to hold it still."""
    p.add_argument(
        "--pause-at-peak",
        nargs="?",
        const="",
        metavar="SIZE",
        help="hold it still when its memory is as high as in the last passing run, or at =SIZE, "
        "and say how to look and go on",
    )


def add_run_options(p: Takes) -> None:
    """How to run it."""
    p.add_argument(
        "--keep", metavar="DIR", help="keep what was written below --limit disk, in a new folder"
    )
    p.add_argument("--pdb", action="store_true", help="debugger at the failing frame")
    p.add_argument("--peek", action="store_true", help="let all its Pythons have peek(...)")
    p.add_argument(
        "--log",
        nargs="?",
        const="info",
        metavar="LEVEL",
        help="keep all its log records from LEVEL (info) on, whatever it does with them itself",
    )
    p.add_argument("--no-agent", action="store_true", help="keep out of Python programs")
    p.add_argument("--no-record", action="store_true", help="run and explain, but keep nothing")
    p.add_argument("--quiet", "-q", action="store_true", help="say nothing when it passes")
    add_json(p)


def main(args: list[str]) -> int:
    """Run, report, end as the command ended."""
    own, command = split_command(args)
    if not command:
        own, command = without_dashes(own, parser())
        if "--at" in own:
            raise UsageError(
                "--at takes several words, so the command has to come after --", hint=at.EXAMPLE
            )
    given = parser().parse_args(own) if own else plain()
    command = command or given.command
    if not command:
        raise UsageError("which command?", hint="zeroin run -- python train.py")
    return run_as_given(given, command)


def run_as_given(given: argparse.Namespace, command: list[str]) -> int:
    """Once the command line has been read."""
    cycle = cycle_of(given, command)
    options = options_of(given)
    if options.keep and not any(text.startswith(KEEPING) for text in cycle.limits):
        raise UsageError(
            "--keep keeps what is written below a disk limit, and there is none",
            hint=f"zeroin run --limit disk=out:50M --keep {given.keep} -- COMMAND",
        )
    if given.pause_at_peak is not None:
        options = options._replace(pause=_pause(given, cycle))
    if cycle.sync and not given.quiet:
        switches = ", ".join(f"{name}={value}" for name, value in SYNC.items())
        put(f"zeroin: --sync sets {switches}, {SYNC_INSIDE}", sys.stderr)
    if given.repeat is not None or given.until_fail:
        return _repeat(given, cycle, options)
    try:
        report = run(cycle, options, os.environ)
    except TooFewFilesError as error:
        warn(f"{error.message}, so it runs without ({error.hint})")
        sys.stderr.flush()
        become_command(error.command, error.cwd, error.env)
    tell(report, given)
    return end_like(report)


def without_dashes(args: list[str], known: Parser) -> tuple[list[str], list[str]]:
    """`zeroin run python train.py`: the command begins at the first word that is no option."""
    takes = {
        flag
        for action in known._actions  # noqa: SLF001 - argparse has no other way to ask
        for flag in action.option_strings
        if action.nargs is None and action.option_strings
    }
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if args[at] in takes else 1
    return args[:at], args[at:]


def cycle_of(given: argparse.Namespace, command: list[str]) -> Cycle:
    """What the options of `add_cycle_options` and the command make."""
    cwd = os.path.abspath(os.path.join(here(), given.cwd or ""))
    if not os.path.isdir(cwd):
        raise UsageError(f"--cwd {given.cwd}: no such folder")
    timeout = parse_seconds(given.timeout) if given.timeout else None
    if timeout == 0:
        raise UsageError("--timeout 0 leaves no time to run")
    return Cycle(
        tuple(command),
        cwd,
        _variables(given),
        tuple(given.reset),
        tuple(given.restore),
        timeout,
        given.seed,
        given.sync,
        _limits(given),
        at.probes_of(given, cwd),
    )


def _limits(given: argparse.Namespace) -> tuple[str, ...]:
    """As they were given; those that can't be meant are refused before anything is done."""
    if not given.limit and not given.memory_error:
        return ()
    from zeroin.emulate import registry

    texts = [text.strip() for text in given.limit]
    if given.memory_error:
        if not any(text.startswith("memory=") for text in texts):
            raise UsageError(
                "--memory-error says what happens at a memory limit, and there is none",
                hint="zeroin run --limit memory=2G --memory-error -- COMMAND",
            )
        texts = [
            f"memory-error={text.removeprefix('memory=')}" if text.startswith("memory=") else text
            for text in texts
        ]
    return tuple(limit.text for limit in registry.parse_all(texts))


def _variables(given: argparse.Namespace) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for path in given.env_file:
        found.update(read_env_file(path))
    for text in given.env:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--env {text}: write NAME=VALUE")
        found[name] = value
    found.update(dict.fromkeys(given.unset))
    return found


def read_env_file(path: str) -> dict[str, str]:
    """`K=V` lines; `export`, quotes, comments and empty lines as in a shell."""
    import shlex

    try:
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise UsageError(f"--env-file {path}: {reason}") from None
    found = {}
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").lstrip()
        if not text or text.startswith("#"):
            continue
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise UsageError(f"{path}:{number}: write NAME=VALUE, not {text!r}")
        try:
            found[name] = (
                "".join(shlex.split(value, comments=True))
                if value.strip()[:1] in "'\""
                else value.partition(" #")[0].strip()
            )
        except ValueError as error:
            raise UsageError(f"{path}:{number}: {error}") from None
    return found


def options_of(given: argparse.Namespace) -> Options:
    """The command's stdout moves to stderr where ours carries JSON."""
    if given.pdb and not sys.stdin.isatty():
        raise UsageError("--pdb needs a terminal to type in")
    return Options(
        agent=not given.no_agent,
        debugger=given.pdb,
        record=not given.no_record,
        targets=(2, 2) if given.json else (1, 2),
        keep=_new_folder(given.keep) if given.keep else "",
        peek=given.peek,
        log=_level(given),
    )


def _level(given: argparse.Namespace) -> str:
    """The level of --log; neither it nor --peek can do without the agent."""
    for name in ("peek", "log"):
        if getattr(given, name) and given.no_agent:
            raise UsageError(
                f"--{name} needs the agent in the program", hint="leave --no-agent out"
            )
    if given.log is not None and given.no_record:
        raise UsageError(
            "--log keeps the records with the attempt, and --no-record keeps no attempt",
            hint="leave one of them out",
        )
    if given.log is None:
        return ""
    level = str(given.log).strip().lower()
    if level not in LEVELS and not level.isdecimal():
        from zeroin.fronts.cli.parsing import did_you_mean

        hint = did_you_mean(level, LEVELS) or f"one of {', '.join(LEVELS)}"
        raise UsageError(f"--log {given.log}: no such level", hint=hint)
    return level


def _pause(given: argparse.Namespace, cycle: Cycle) -> Pause:
    """At that size, or nearly where the last run that passed had its peak: no two are the same."""
    from zeroin.fronts import pause_text
    from zeroin.tools.limits import peak_of
    from zeroin.tools.sizes import parse_size

    if given.pause_at_peak:
        at = parse_size(given.pause_at_peak)
    else:
        peak = peak_of(cycle, os.environ) or peak_of(cycle, os.environ, passed=False)
        at = int(NEAR_PEAK * peak)
    if not at:
        raise UsageError(
            "--pause-at-peak: this command has not been run yet, so its peak is not known",
            hint="run it once without, or give a size: --pause-at-peak=2G",
        )

    def say(held: Held | Missed | None) -> None:
        for line in pause_text.lines(held, cycle):
            put(line, sys.stderr)
        sys.stderr.flush()

    return at, say


def _new_folder(path: str) -> str:
    full = os.path.abspath(path)
    if os.path.lexists(full) and (not os.path.isdir(full) or os.listdir(full)):
        raise UsageError(f"--keep {path}: there is something already", hint="name a new folder")
    return full


def tell(report: RunReport, given: argparse.Namespace) -> None:
    """Say what happened."""
    from zeroin.fronts import report_text

    if given.json:
        from zeroin.fronts import report_json

        put_json(report_json.run(report))
        return
    if given.quiet and not report.outcome.failed:
        return
    for line in report_text.run(report, Paint(sys.stderr)):
        put(line, sys.stderr)


def _repeat(given: argparse.Namespace, cycle: Cycle, options: Options) -> int:
    from zeroin.fronts import report_json, report_text
    from zeroin.tools.repeat import MOST, repeat

    if given.repeat is not None and given.repeat < 1:
        raise UsageError("--repeat takes a number from 1 on")
    paint = Paint(sys.stderr)

    def on_run(report: RunReport) -> None:
        if given.json:
            _print_json(report_json.run(report))
        elif report.outcome.failed or not given.quiet:
            put(report_text.one_line(report, paint), sys.stderr)

    done = repeat(
        cycle,
        options,
        os.environ,
        times=given.repeat or MOST,
        until_fail=given.until_fail,
        on_run=on_run,
    )
    if given.json:
        _print_json(report_json.repeat(done))
    else:
        for line in report_text.repeat(done, paint):
            put(line, sys.stderr)
    failing = list(done.examples.values())
    return end_like(failing[-1] if failing else done.last)


def _print_json(value: dict[str, Any]) -> None:

    put_json(value)
    sys.stdout.flush()


def end_like(report: RunReport) -> int:
    """End as the command did: with its exit code, or by its signal."""
    return end_as(report.outcome, report.status)


def end_as(outcome: Outcome, status: int) -> int:
    """Likewise."""
    if outcome.kind.value == "hang":
        return HANG
    code = os.waitstatus_to_exitcode(status)
    if code >= 0:
        return code
    die_by(-code)
    return 128 - code


def die_by(number: int) -> None:
    """A shell loop must stop on Ctrl-C, and $? must be what it would have been."""
    import resource
    import signal

    sys.stdout.flush()
    sys.stderr.flush()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # one core dump is enough
    try:
        signal.signal(number, signal.SIG_DFL)
    except (OSError, ValueError):  # SIGKILL has no handler
        pass
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
