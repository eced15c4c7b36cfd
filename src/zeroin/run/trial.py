"""The central act: run a command once under known conditions, and tell what came of it.

`run_trial` puts the world back, lets a launcher start the command, listens to its agents,
collects what was seen, and explains how it ended. Whoever asks decides what that means: nobody
else starts a user's command.
"""

from __future__ import annotations

import errno
import os

from zeroin.cycle import Explanation, Kind, Outcome
from zeroin.errors import UntestableError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.run import environment
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.execute import Ended, Run, Stage
from zeroin.run.inbox import Inbox, NoInbox
from zeroin.run.keep import HEAD, TAIL, Keeper
from zeroin.run.world import put_world_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.cycle.crash import Frame
    from zeroin.cycle.explain import Reached
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.witness import Witness


TOO_MANY_OPEN = (errno.EMFILE, errno.ENFILE)


class TrialPlan(NamedTuple):
    """How a trial is run, beside its cycle and its launcher."""

    environ: Mapping[str, str]  # ours, which the cycle's changes are made to
    root: str | None = None  # of the project, which signatures leave out
    store_folder: str = ""  # where `--restore` keeps first states; "" for nowhere
    output_folder: str = ""  # where output is kept; "" for nowhere
    output_head: int = HEAD  # bytes of its beginning,
    output_tail: int = TAIL  # and of its end
    secrets: Sequence[str] = ()  # values that must not reach the disk
    targets: tuple[int, int] = (1, 2)  # where stdout and stderr appear
    order: AgentOrder | None = AgentOrder()  # for the agents; None to let none in
    hears_group: bool = True  # whether signals may be sent to our whole process group
    needs_agents: bool = False  # without them it tells nothing
    mark: str = ""  # of what ends with us if we are killed: see `limit_guard.MARK`


class Trial(NamedTuple):
    """All that was seen of one run of a cycle, and how it was explained."""

    cycle: Cycle  # as it was run
    env: Mapping[str, str]  # the user's, with the cycle's changes
    root: str | None
    ended: Ended
    outcome: Outcome
    messages: list[dict[str, Any]]  # from agents
    faults: str  # of faulthandler
    peeks: str
    output: str  # the end of stderr, or of the only stream there was
    answer: str  # the end of stdout, where `output` is of stderr
    beginnings: tuple[str, str]  # of both, where they are only the end
    out_of_memory: bool
    around: dict[str, Any]  # the machine at the end, for a post-mortem
    output_error: OSError | None  # why not all output was kept
    learned_secrets: list[str]  # values that the output gave away
    inbox_error: OSError | None = None  # why agents could not tell anything
    dropped: int = 0  # messages that no agent of ours sends


def run_trial(
    cycle: Cycle,
    launcher: Launcher,
    plan: TrialPlan,
    witnesses: Sequence[Witness] = (),
    keep_world: Callable[[], None] | None = None,
    make_room: Callable[[], None] | None = None,
) -> Trial:
    """Run the command of the cycle once; UntestableError if the world can't be put back.

    `keep_world` is called once it is put back, right before the command starts. If too few files
    may be open to start it, `make_room` is called to close what can be done without, and the
    command is run with nothing but its output passed on.
    """
    cycle = launcher.arrange(cycle)
    env = environment.users(cycle, plan.environ)
    put_world_back(cycle, env, plan.store_folder, plan.targets[1])
    if keep_world is not None:
        keep_world()
    inbox, inbox_error = _open_inbox(plan)
    if inbox_error is not None:
        witnesses = ()  # they live on what agents leave there
    process: Run | None = None
    try:
        from zeroin.observe import oom

        kills = oom.kills()
        head, tail = plan.output_head, plan.output_tail
        keeper = Keeper(plan.output_folder, plan.secrets, head=head, tail=tail)
        stage, child_env = _prepare_agents(cycle, env, plan, inbox, witnesses)
        process = Run(keeper, inbox, cycle.timeout, witnesses, hears_group=plan.hears_group)
        try:
            ended = launcher.launch(process, cycle, child_env, stage)
        except OSError as error:
            if process.pid or error.errno not in TOO_MANY_OPEN:
                raise
            if make_room is None or plan.needs_agents:
                raise
            make_room()
            keeper.close(0)
            inbox.close()
            keeper, inbox, witnesses = Keeper("", plan.secrets), NoInbox(), ()
            process = Run(keeper, inbox, cycle.timeout, hears_group=False)
            child_env = _mark_environment(env, plan)
            ended = launcher.launch(process, cycle, child_env, Stage(plan.targets))
        inbox.drain()
        stream = next((one for one in ("err", "tty") if keeper.recent(one)), "out")
        output = keeper.recent(stream)
        answer = keeper.recent("out") if stream == "err" else ""
        for witness in witnesses:
            witness.collect(ended, inbox, keeper)
            output = witness.trim_output(output)
            ended = witness.correct(ended)
        trial = Trial(
            cycle=cycle,
            env=env,
            root=plan.root,
            ended=ended,
            outcome=Outcome(Kind.UNFINISHED),
            messages=inbox.messages,
            faults=inbox.faults(),
            peeks=inbox.peeks(),
            output=output,
            answer=answer,
            beginnings=(keeper.beginning(stream), keeper.beginning("out") if answer else ""),
            out_of_memory=oom.kills() > kills,
            around=_describe_machine(cycle, env, oom.kills() - kills),
            output_error=keeper.error,
            learned_secrets=keeper.learned_secrets(),
            inbox_error=inbox_error,
            dropped=inbox.dropped,
        )
        return trial._replace(outcome=explain_trial(trial))
    except OSError as error:
        if error.errno not in TOO_MANY_OPEN or (process is not None and process.pid):
            raise
        raise TooFewFilesError(cycle, env) from None
    finally:
        inbox.close()


class TooFewFilesError(ZeroinError):
    """So few files may be open that a command can't be watched; it can still be run."""

    def __init__(self, cycle: Cycle, env: Mapping[str, str]) -> None:
        super().__init__(
            "too few files may be open for zeroin to watch the command",
            hint="see: ulimit -n",
        )
        self.command, self.cwd, self.env = cycle.command, cycle.cwd, env


def _open_inbox(plan: TrialPlan) -> tuple[Inbox, OSError | None]:
    """Where agents deliver; without one the command runs all the same, seen from outside only."""
    try:
        return Inbox(), None
    except OSError as error:
        if plan.needs_agents:
            raise UntestableError(
                f"nothing is known of the inside of the program: {describe_fault(error)}",
                hint="see: ulimit -n, df",
            ) from None
        return NoInbox(), error


def describe_fault(error: OSError) -> str:
    """The reason alone, as a part of a sentence."""
    return (error.strerror or str(error)).lower()


def _prepare_agents(
    cycle: Cycle,
    env: Mapping[str, str],
    plan: TrialPlan,
    inbox: Inbox,
    witnesses: Sequence[Witness],
) -> tuple[Stage, dict[str, str]]:
    """Hand the agents their order; without agents the command has the user's environment."""
    env = _mark_environment(env, plan)
    if plan.order is None or not inbox.folder:
        return Stage(plan.targets), env
    order = plan.order._replace(seed=cycle.seed, sync=cycle.sync)
    child_env = environment.lead_to_agent(env, debugger=order.debugger)
    for witness in witnesses:
        order = witness.ask_agent(order, child_env)
    return Stage(plan.targets, order=order), hand_order(order, inbox.folder, child_env)


def _mark_environment(env: Mapping[str, str], plan: TrialPlan) -> dict[str, str]:
    if not plan.mark:
        return dict(env)
    from zeroin.run.limit_guard import MARK

    return {**env, MARK: plan.mark}


def _describe_machine(cycle: Cycle, env: Mapping[str, str], oom_kills: int) -> dict[str, Any]:
    """What a post-mortem will want to know, and nobody can tell any more by then."""
    from zeroin.observe.death import around

    return {
        "oom_kills": oom_kills,
        "limits": around.limits(),
        "groups": around.groups(),
        "disks": around.disks([cycle.cwd, env.get("TMPDIR") or "/tmp", "/dev/shm"]),  # noqa: S108
    }


# --- explaining ---------------------------------------------------------------------------------


def explain_trial(trial: Trial) -> Outcome:
    """How a trial ended, and what failed, from what was seen of it."""
    ended = trial.ended
    explanation = _explain_ending(trial)
    return Outcome(
        explanation.kind,
        os.waitstatus_to_exitcode(ended.status),
        explanation.signature,
        explanation.headline,
        ended.seconds,
        ended.cpu_seconds,
        ended.peak_bytes,
        explanation.spot,
    )


def _explain_ending(trial: Trial) -> Explanation:
    ended = trial.ended
    crashes = [one for one in trial.messages if one["kind"] == "crash"]
    if ended.status == 0 and not ended.timed_out and not crashes:
        return Explanation(Kind.PASSED)
    from zeroin.cycle.crash import Crash
    from zeroin.cycle.explain import Ending, explain
    from zeroin.cycle.mask import NOWHERE, Places

    code = os.waitstatus_to_exitcode(ended.status)
    home, temp = trial.env.get("HOME"), trial.env.get("TMPDIR")
    folders = [path for path in (trial.cycle.cwd, trial.root, home) if path and path != "/"]
    return explain(
        Ending(
            exit_code=code if code >= 0 else None,
            signal=_signal_name(-code) if code < 0 else "",
            timed_out=ended.timed_out,
            out_of_memory=code in (-9, 137) and trial.out_of_memory,
            interrupted=ended.interrupted,
            pid=ended.pid,
            crashes=[Crash.of(one) for one in crashes],
            faults=trial.faults,
            stacks=[_as_frames(stack.frames) for stack in ended.stacks],
            output=trial.output,
            answer=trial.answer,
            beginnings=trial.beginnings,
            places=Places(folders, [*NOWHERE.temps, temp or NOWHERE.temps[0]]),
            limits=_list_reached_limits(ended),
        )
    )


def _list_reached_limits(ended: Ended) -> list[Reached]:
    from zeroin.cycle.explain import Reached

    return [
        Reached(one.limit.partition("=")[0], one.ended, _as_frames(one.where))
        for one in ended.limits
        if one.reached
    ]


def _as_frames(frames: Sequence[tuple[str, int, str]]) -> list[Frame]:
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
