"""Trials that are not recorded and whose output nobody sees: only how they end is asked."""

from __future__ import annotations

import os

from zeroin.cycle import Kind
from zeroin.run.agent_order import AgentOrder
from zeroin.run.trial import TrialPlan, explain_trial, run_trial

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from zeroin.cycle import Cycle
    from zeroin.run.launch.launcher import Launcher
    from zeroin.run.trial import Trial


BRIEF = AgentOrder(brief=True)  # what failed, without the values in its frames


def run_quiet_trial(
    cycle: Cycle,
    launcher: Launcher,
    environ: Mapping[str, str],
    order: AgentOrder = BRIEF,
) -> Trial:
    """Run a cycle once, out of sight; what the user interrupted has no outcome.

    Nobody but the warm engine stops these trials: a resumed program has found out that it can't
    go on soundly. That is no outcome. Its snapshot is gone, so the next one goes on from an older
    snapshot, and at last from none.
    """
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    try:
        plan = TrialPlan(environ, targets=(nothing, nothing), order=order)
        plan = plan._replace(hears_group=False, needs_agents=True)
        while (trial := run_trial(cycle, launcher, plan)).ended.stopped:
            continue
    finally:
        os.close(nothing)
    if trial.ended.interrupted:
        return trial._replace(outcome=trial.outcome._replace(kind=Kind.UNFINISHED))
    return trial


def judge_messages(trial: Trial, counts: Callable[[Mapping[str, Any]], bool]) -> Trial:
    """Explain a trial anew by those messages of its agents that count."""
    left = trial._replace(messages=[one for one in trial.messages if counts(one)])
    if trial.outcome.kind is Kind.UNFINISHED:
        return left
    return left._replace(outcome=explain_trial(left))
