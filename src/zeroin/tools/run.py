"""`run`: put the world back, run one command, keep what happened, say what failed."""

from __future__ import annotations

import os

from zeroin.named import NamedTuple
from zeroin.run import environment
from zeroin.run.agent_order import AgentOrder
from zeroin.run.launch import pick_launcher
from zeroin.run.trial import TOO_MANY_OPEN, TooFewFilesError
from zeroin.tools.recorder import Recorder, list_facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle, Outcome
    from zeroin.emulate.part import Effect
    from zeroin.run.hold import Held, Missed
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.trial import Trial
    from zeroin.run.witness import Witness
    from zeroin.tools.probes import Probed, ProbeWitness
    from zeroin.tools.recorder import Replay, Story
    from zeroin.tools.tests import FailingTest

    # The memory at which the program is to be held still, and whom to tell.
    Pause = tuple[int, Callable[[Held | Missed | None], None]]


class Options(NamedTuple):
    """How to run, beside what to run."""

    agent: bool = True
    debugger: bool = False
    brief: bool = False  # what failed, without the values in its frames
    record: bool = True
    targets: tuple[int, int] = (1, 2)  # where the command's stdout and stderr appear
    replay: Replay | None = None
    pause: Pause | None = None
    keep: str = ""  # where what was written below a disk limit goes
    peek: bool = False  # `peek` without an import
    log: str = ""  # the level from which on log records are kept
    mark: str = ""  # of what ends with us if we are killed: see `limit_guard.MARK`


class RunReport(NamedTuple):
    """One finished run. `story` places it among the earlier ones."""

    command: list[str]  # without secrets
    outcome: Outcome
    status: int  # as wait(2) gives it, to be passed on as our own
    attempt: int | None
    story: Story | None
    survivors: int
    interrupted: bool
    warnings: tuple[str, ...]
    limits: tuple[Effect, ...] = ()
    stuck: str = ""  # of a hang: what its stacks mean
    tests: tuple[FailingTest, ...] = ()  # that failed, with `pytest --zeroin`
    log: str | None = None  # the file of its log records
    probes: tuple[Probed, ...] = ()
    worker: dict[str, Any] | None = None  # process that failed: `name`, `item` and `pid`


def run(
    cycle: Cycle,
    options: Options,
    environ: Mapping[str, str],
    *,
    launcher: Launcher | None = None,
    witnesses: Sequence[Witness] = (),
) -> RunReport:
    """One atomic, recorded run; `witnesses` take part in it."""
    if cycle.limits:
        from zeroin.tools import limits

        cycle = limits.resolved(cycle, environ)
    recorder = Recorder(cycle, environ, keep=options.record, replay=options.replay)
    try:
        env = environment.users(cycle, environ)
        recorder.note_settings(describe_looks(options))
        recorder.begin(env)
        probes = _probe_witness(cycle, options)
        plan = recorder.plan(
            environ, options.targets, _agent_order(options, recorder), options.mark
        )
        trial = recorder.run_trial(
            cycle,
            launcher or _launcher_of(cycle, options),
            plan._replace(needs_agents=bool(witnesses)),
            [*witnesses, *_hold_witness(options), *probes],
        )
        ended, outcome = trial.ended, trial.outcome
        probed = probes[0].probed if probes else ()
        recorder.finish(outcome, list_facts(trial, probed))
        if options.replay is None:
            warn_of_copy(trial, recorder)
        return RunReport(
            command=recorder.command(),
            outcome=outcome,
            status=ended.status,
            attempt=recorder.attempt,
            story=recorder.story(outcome),
            survivors=ended.survivors,
            interrupted=ended.interrupted,
            warnings=tuple(recorder.warnings),
            limits=ended.limits,
            stuck=ended.stuck,
            tests=_keep_tests(trial, recorder),
            log=recorder.log_file() if os.path.exists(recorder.log_file()) else None,
            probes=probed,
            worker=_failed_worker(trial),
        )
    except OSError as error:
        if error.errno not in TOO_MANY_OPEN or recorder.is_under_way:
            raise
        raise TooFewFilesError(cycle, environment.users(cycle, environ)) from None
    finally:
        recorder.close()


def _launcher_of(cycle: Cycle, options: Options) -> Launcher:
    """Start the command as it is, or under its limits; what these keep goes where it is asked."""
    if cycle.limits and options.keep:
        from zeroin.run.launch.limited import LimitedLauncher

        return LimitedLauncher(keep=options.keep)
    return pick_launcher(cycle)


def _agent_order(options: Options, recorder: Recorder) -> AgentOrder | None:
    if not options.agent:
        return None
    return AgentOrder(
        debugger=options.debugger,
        brief=options.brief,
        peek=options.peek,
        log=options.log,
        log_file=recorder.log_file() if options.log else "",
    )


def _hold_witness(options: Options) -> list[Witness]:
    if options.pause is None:
        return []
    from zeroin.run.hold import Hold

    return [Hold(*options.pause)]


def _probe_witness(cycle: Cycle, options: Options) -> list[ProbeWitness]:
    if not cycle.at or not options.agent:
        return []
    from zeroin.tools.probes import ProbeWitness

    return [ProbeWitness(cycle)]


def _failed_worker(trial: Trial) -> dict[str, Any] | None:
    """Which worker process the exception came from that ended the program, and at which item."""
    if not trial.outcome.failed:
        return None
    crashes = [one["chain"][-1] for one in trial.messages if one["kind"] == "crash"]
    for link in crashes:
        if link.get("worker") and trial.outcome.headline.startswith(link["type"]):
            return {key: link["worker"][key] for key in ("name", "item", "pid")}
    return None


def warn_of_copy(trial: Trial, recorder: Recorder) -> None:
    """The user edits the checkout, and the program imports what was installed before that."""
    if not any(message.get("installed") for message in trial.messages):
        return
    from zeroin.record import place
    from zeroin.tools.provided import describe_stale_copy

    cwd = trial.cycle.cwd
    root = place.find(cwd, trial.env).root
    said = describe_stale_copy(trial.messages, root, cwd) if root is not None else ""
    if said:
        recorder.warn(said)


def _keep_tests(trial: Trial, recorder: Recorder) -> tuple[FailingTest, ...]:
    """What `pytest --zeroin` told of: each failing test is an attempt that names its run."""
    told = [message for message in trial.messages if message["kind"] == "test"]
    if not told or recorder.attempt is None:
        return ()
    from zeroin.errors import StoreError
    from zeroin.tools import tests

    try:
        return tuple(tests.of_run(told, recorder.attempt, trial.env, trial.cycle.cwd))
    except StoreError as error:
        recorder.warn(f"the failing tests are not kept as attempts: {error.message}")
        return ()


def describe_looks(options: Options) -> dict[str, Any]:
    """What the settings of an attempt say of this: a program may not run without `peek`."""
    return {k: v for k, v in (("peek", options.peek), ("log", options.log)) if v}
