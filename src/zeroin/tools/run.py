"""`run`: put the world back, run one command, keep what happened, say what failed."""

from __future__ import annotations

import os

from zeroin.cycle import Explanation, Kind, Outcome
from zeroin.errors import UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import environment
from zeroin.run.execute import Ended, Run
from zeroin.run.inbox import Inbox
from zeroin.run.keep import Keeper
from zeroin.tools.recorder import Recorder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.emulate.part import Effect
    from zeroin.run.hold import Held, Missed
    from zeroin.tools.probes import Probed
    from zeroin.tools.recorder import Replay, Story
    from zeroin.tools.tests import FailingTest

    # Runs the command, given where its output is kept, where its agents deliver, and its
    # environment: whoever does not simply start it at its beginning.
    Conduct = Callable[[Keeper, Inbox | None, dict[str, str]], Ended]

    # The memory at which the program is to be held still, and whom to tell.
    Pause = tuple[int, Callable[[Held | Missed | None], None]]

SNAPSHOTS = 16  # of probes, that an attempt keeps


class Options(NamedTuple):
    """How to run, beside what to run."""

    agent: bool = True
    debugger: bool = False
    brief: bool = False  # what failed, without the values in its frames
    record: bool = True
    targets: tuple[int, int] = (1, 2)  # where the command's stdout and stderr appear
    replay: Replay | None = None
    conduct: Conduct | None = None
    pause: Pause | None = None
    keep: str = ""  # where what was written below a disk limit goes
    peek: bool = False  # `peek` without an import
    log: str = ""  # the level from which on log records are kept


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


def run(cycle: Cycle, options: Options, environ: Mapping[str, str]) -> RunReport:
    """One atomic, recorded run."""
    if cycle.limits:
        from zeroin.tools import limits

        cycle = limits.resolved(cycle, environ)
    recorder = Recorder(cycle, environ, keep=options.record, replay=options.replay)
    try:
        env = environment.users(cycle, environ)
        recorder.also.update(looks(options))
        recorder.begin(env)
        put_back(cycle, env, recorder)
        recorder.keep_code()
        seen = execute(cycle, env, options, recorder)
        ended = seen.ended
        outcome = outcome_of(cycle, env, seen, recorder)
        recorder.finish(outcome, facts_of(seen))
        return RunReport(
            recorder.command(),
            outcome,
            ended.status,
            recorder.attempt,
            recorder.story(outcome),
            ended.survivors,
            ended.interrupted,
            tuple(recorder.warnings),
            ended.limits,
            ended.stuck,
            _keep_tests(cycle, env, seen, recorder),
            recorder.log_file() if os.path.exists(recorder.log_file()) else None,
            seen.probes,
        )
    finally:
        recorder.close()


def _keep_tests(
    cycle: Cycle, env: Mapping[str, str], seen: Seen, recorder: Recorder
) -> tuple[FailingTest, ...]:
    """What `pytest --zeroin` told of: each failing test is an attempt that names its run."""
    told = [message for message in seen.messages if message["kind"] == "test"]
    if not told or recorder.attempt is None:
        return ()
    from zeroin.errors import StoreError
    from zeroin.tools import tests

    try:
        return tuple(tests.of_run(told, recorder.attempt, env, cycle.cwd))
    except StoreError as error:
        recorder.warn(f"the failing tests are not kept as attempts: {error.message}")
        return ()


def looks(options: Options) -> dict[str, Any]:
    """What the settings of an attempt say of this: a program may not run without `peek`."""
    return {k: v for k, v in (("peek", options.peek), ("log", options.log)) if v}


def put_back(cycle: Cycle, env: Mapping[str, str], recorder: Recorder) -> None:
    """Restore first, then reset: a reset command may rely on what was restored."""
    try:
        if cycle.restore:
            _restore(cycle, recorder)
        for command in cycle.reset:
            _reset(command, cycle, env)
    except UntestableError as error:
        recorder.abandon(error.message)
        raise


def _restore(cycle: Cycle, recorder: Recorder) -> None:
    from zeroin.run import restore

    if recorder.place is None:
        raise UntestableError(
            "--restore keeps the first state in the record, and there is none",
            hint="leave --no-record out",
        )
    for path in cycle.restore:
        full = os.path.join(cycle.cwd, path)
        saved = recorder.restore_folder(full)
        try:
            if os.path.exists(saved):
                restore.put_back(full, saved)
            else:  # what is fit to be saved can be put back, whatever the program made of it
                restore.check(full, store=recorder.place.folder, home=os.path.expanduser("~"))
                restore.save(full, saved)
        except OSError as error:
            raise UntestableError(f"--restore {path}: {error}") from None


def _reset(command: str, cycle: Cycle, env: Mapping[str, str]) -> None:
    import subprocess

    done = subprocess.run(
        ["/bin/sh", "-c", command],
        cwd=cycle.cwd,
        env=dict(env),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=2,  # ours to show, but not part of the command's own output
    )
    if done.returncode:
        raise UntestableError(
            f"the reset failed with exit code {done.returncode}, so the command was not run: "
            f"{command}",
            hint=f"try it alone: {command}",
        )


class Seen(NamedTuple):
    """What was seen of one run."""

    ended: Ended
    messages: list[dict[str, Any]]  # from agents
    faults: str
    peeks: str
    output: str
    out_of_memory: bool
    around: dict[str, Any]
    probes: tuple[Probed, ...] = ()
    answer: str = ""  # the end of its stdout, where `output` is of its stderr


def execute(cycle: Cycle, env: Mapping[str, str], options: Options, recorder: Recorder) -> Seen:
    """The run itself, with all that can be seen of it."""
    from zeroin.observe import oom

    inbox = Inbox() if options.agent else None
    kills = oom.kills()
    keeper = Keeper(recorder.output_folder(), recorder.secret_values(), **recorder.output_limits())
    try:
        child_env = dict(env)
        if inbox is not None:
            child_env = environment.with_agent(
                env, cycle, inbox.folder, debugger=options.debugger, brief=options.brief
            )
            environment.with_library(
                child_env, peek=options.peek, log=options.log, file=recorder.log_file()
            )
        if cycle.at and inbox is not None:
            from zeroin.tools import probes

            child_env["ZEROIN_PROBES"] = probes.as_variable(cycle)
        if options.conduct is not None:
            ended = options.conduct(keeper, inbox, child_env)
        else:
            process, hold = Run(keeper, inbox, cycle.timeout), None
            if options.pause is not None:
                from zeroin.run.hold import Hold

                process.hold = hold = Hold(*options.pause)
            ended = start_and_wait(
                process,
                cycle,
                child_env,
                keep=options.keep,
                targets=options.targets,
                take_stacks=lambda: stacks_of(inbox),
            )
            if hold is not None:
                hold.finish(ended)
        if inbox is not None:
            inbox.drain()
        if keeper.error is not None:
            recorder.lose("the output", os.strerror(keeper.error.errno or 0))
        if ended.lost is not None:
            reason = os.strerror(ended.lost.errno or 0).lower()
            recorder.warn(f"not all output could be shown: {reason}")
        output = keeper.recent("err") or keeper.recent("tty") or keeper.recent("out")
        answer = keeper.recent("out") if keeper.recent("err") else ""
        told: tuple[Probed, ...] = ()
        if cycle.at:
            from zeroin.tools import probes

            output = probes.without_lines(output)
            told = probes.told(cycle, inbox, ended.status) if inbox is not None else ()
        return Seen(
            ended,
            inbox.messages if inbox is not None else [],
            inbox.faults() if inbox is not None else "",
            inbox.peeks() if inbox is not None else "",
            output,
            oom.kills() > kills,
            _around(cycle, env, oom.kills() - kills),
            told,
            answer,
        )
    except ZeroinError as error:
        recorder.abandon(error.message)
        raise
    finally:
        if inbox is not None:
            inbox.close()


def start_and_wait(
    run: Run, cycle: Cycle, env: Mapping[str, str], *, keep: str = "", **how: Any
) -> Ended:
    """`Run.execute`, under the limits of the cycle if it has any."""
    if not cycle.limits:
        return run.execute(cycle.command, cycle.cwd, env, **how)
    from zeroin.run import limited

    return limited.execute(run, cycle, env, keep=keep, **how)


def _around(cycle: Cycle, env: Mapping[str, str], oom_kills: int) -> dict[str, Any]:
    """What a post-mortem will want to know, and nobody can tell any more by then."""
    from zeroin.observe.death import around

    return {
        "oom_kills": oom_kills,
        "limits": around.limits(),
        "groups": around.groups(),
        "disks": around.disks([cycle.cwd, env.get("TMPDIR") or "/tmp", "/dev/shm"]),  # noqa: S108
    }


def stacks_of(inbox: Inbox | None) -> tuple[list[Any], str]:
    """Of all processes below us (orphans of the command hang there as well), and their meaning."""
    from zeroin.observe.stacks.look import look
    from zeroin.run import tree

    reader = (lambda _: inbox.faults) if inbox else None
    seen = look(tree.descendants(os.getpid()), reader_of=reader, gdb=False)
    return seen.stacks, seen.verdict if seen.stacks else ""


def outcome_of(cycle: Cycle, env: Mapping[str, str], seen: Seen, recorder: Recorder) -> Outcome:
    """How it ended, and what failed."""
    ended = seen.ended
    root = recorder.place.root if recorder.place else None
    explanation = _explain(cycle, env, seen, root)
    return Outcome(
        explanation.kind,
        os.waitstatus_to_exitcode(ended.status),
        explanation.signature,
        explanation.headline,
        ended.seconds,
        ended.cpu_seconds,
        ended.peak_bytes,
    )


def _explain(cycle: Cycle, env: Mapping[str, str], seen: Seen, root: str | None) -> Explanation:
    ended = seen.ended
    crashes = [one for one in seen.messages if one["kind"] == "crash"]
    if ended.status == 0 and not ended.timed_out and not crashes:
        return Explanation(Kind.PASSED)
    from zeroin.cycle.crash import Crash
    from zeroin.cycle.explain import Ending, explain
    from zeroin.cycle.mask import NOWHERE, Places

    code = os.waitstatus_to_exitcode(ended.status)
    folders = [path for path in (cycle.cwd, root, env.get("HOME")) if path and path != "/"]
    temps = [*NOWHERE.temps, env.get("TMPDIR") or NOWHERE.temps[0]]
    return explain(
        Ending(
            exit_code=code if code >= 0 else None,
            signal=_signal_name(-code) if code < 0 else "",
            timed_out=ended.timed_out,
            out_of_memory=code in (-9, 137) and seen.out_of_memory,
            interrupted=ended.interrupted,
            pid=ended.pid,
            crashes=[Crash.of(one) for one in crashes],
            faults=seen.faults,
            stacks=_frames(ended.stacks),
            output=seen.output,
            answer=seen.answer,
            places=Places(folders, temps),
            limits=_reached(ended),
        )
    )


def _reached(ended: Ended) -> list[Any]:
    from zeroin.cycle.explain import Reached

    return [
        Reached(one.limit.partition("=")[0], one.ended, _as_frames(one.where))
        for one in ended.limits
        if one.reached
    ]


def _frames(stacks: list[Any]) -> list[list[Any]]:
    return [_as_frames(stack.frames) for stack in stacks]


def _as_frames(frames: Sequence[tuple[str, int, str]]) -> list[Any]:
    from zeroin.cycle.crash import Frame
    from zeroin.cycle.printed import owner_of

    return [
        Frame(file, line, name, owner_of(file), index == 0 or file == frames[0][0])
        for index, (file, line, name) in enumerate(frames)
    ]


def _signal_name(number: int) -> str:
    import signal

    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def facts_of(seen: Seen) -> dict[str, Any]:
    """What the record keeps beside the outcome."""
    known = [m for m in seen.messages if m["kind"] not in ("test", "full")]
    told = [m for m in known if m["pid"] == seen.ended.pid] or known
    about = told[-1] if told else {}
    return {
        "python": about.get("python"),
        "path": about.get("path"),
        "modules": about.get("modules"),
        "modules_below": sorted(
            {
                path
                for message in seen.messages
                if message["pid"] != seen.ended.pid
                for path in (message.get("modules") or {}).values()
            }
        ),
        "crashes": [m for m in seen.messages if m["kind"] == "crash"][:8],
        "stacks": [
            *(stack.told() for stack in seen.ended.stacks),
            *(stack for one in seen.ended.limits for stack in one.stacks),
        ],
        "stuck": seen.ended.stuck,
        "limits": [{**one._asdict(), "stacks": []} for one in seen.ended.limits],
        "faults": seen.faults,
        "peeks": seen.peeks,
        "curve": seen.ended.curve,
        "calls": list(seen.ended.calls),
        "probes": [one._asdict() for one in seen.probes],
        "snapshots": [m for m in seen.messages if m["kind"] == "snapshot"][:SNAPSHOTS],
        "around": {
            **seen.around,
            "status": seen.ended.status,
            "pids": list(dict.fromkeys([seen.ended.pid, *(m["pid"] for m in seen.messages)]))[:50],
        },
    }
