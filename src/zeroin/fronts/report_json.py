"""Reports as JSON: keys are documented in docs/reference/json.md and only ever added to."""

from __future__ import annotations

from zeroin.fronts import probes_text
from zeroin.fronts.limit_text import as_data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.record.store import Attempt
    from zeroin.tools.compare import Changed, Difference
    from zeroin.tools.diff import DiffReport
    from zeroin.tools.loop import Iteration
    from zeroin.tools.repeat import RepeatReport
    from zeroin.tools.run import RunReport
    from zeroin.tools.show import ShowReport

SCHEMA = 1


def run(report: RunReport) -> dict[str, Any]:
    """One finished run."""
    outcome = report.outcome
    story = report.story
    return {
        "schema": SCHEMA,
        "id": report.attempt,
        "command": report.command,
        "outcome": outcome.kind.value,
        "exit_code": outcome.exit_code,
        "signature": str(outcome.signature) if outcome.signature else None,
        "headline": outcome.headline,
        "seconds": round(outcome.seconds, 4),
        "cpu_seconds": round(outcome.cpu_seconds, 4),
        "peak_bytes": outcome.peak_bytes,
        "same_as": story.same_as if story else [],
        "changed_since": changed_since(story.previous, story.changed) if story else None,
        "limits": [as_data(one) for one in report.limits],
        "stuck": report.stuck or None,
        "worker": report.worker,
        "tests": [
            {
                "id": one.attempt,
                "test": one.test,
                "signature": one.signature,
                "headline": one.headline,
            }
            for one in report.tests
        ],
        "probes": [probes_text.as_data(one._asdict()) for one in report.probes],
        "warnings": list(report.warnings),
        "log": report.log,
    }


def loop(done: Iteration) -> dict[str, Any]:
    """One iteration of a loop."""
    outcome = done.outcome
    return {
        "schema": SCHEMA,
        "n": done.n,
        "id": done.attempt,
        "outcome": outcome.kind.value,
        "exit_code": outcome.exit_code,
        "signature": str(outcome.signature) if outcome.signature else None,
        "headline": outcome.headline,
        "seconds": round(outcome.seconds, 4),
        "mode": done.mode,
        "resumed_at": done.resumed_at,
        "saved_seconds": round(done.saved, 4),
        "reason": done.reason,
        "gate": done.gate,
        "snapshots": done.snapshots,
        "snapshot_bytes": done.snapshot_bytes,
        "verified": done.verified,
        "verify_seconds": done.verify_seconds and round(done.verify_seconds, 4),
        "difference": done.difference,
        "compared_with": list(done.cold_attempts),
        "limits": [as_data(one) for one in done.limits],
        "profile": [
            {
                "file": one.file,
                "line": one.line,
                "end_line": one.end_line,
                "source": one.source,
                "count": one.times,
                "sampled": one.sampled,
                "seconds": round(one.seconds, 6),
                "share": round(one.share, 4),
                "memory": one.memory,
            }
            for one in done.profile
        ],
    }


def attempt(row: Attempt) -> dict[str, Any]:
    """One attempt of the record."""
    return {
        "schema": SCHEMA,
        "id": row.id,
        "started": row.started,
        "command": row.command,
        "cwd": row.cwd,
        "outcome": row.outcome or "unfinished",
        "exit_code": row.exit_code,
        "signature": row.signature,
        "headline": row.headline,
        "seconds": row.seconds,
        "cpu_seconds": row.cpu_seconds,
        "peak_bytes": row.peak_bytes,
    }


def show(report: ShowReport) -> dict[str, Any]:
    """One attempt with all that is kept of it."""
    row = report.attempt
    return {
        **attempt(row),
        "running": report.running,
        "same_as": report.same_as,
        "changed_since": changed_since(report.previous, report.changed),
        "settings": row.settings,
        "run": row.facts.get("run"),
        "python": row.facts.get("python"),
        "modules": row.facts.get("modules") or {},
        "packages": report.packages,
        "environment": report.environment,
        "code": {
            "tree": row.code,
            "commit": row.base_commit,
            "left_out": row.facts.get("left_out") or [],
            "elsewhere": row.facts.get("code_elsewhere") or {},
        },
        "crashes": report.evidence.get("crashes") or [],
        "stacks": report.evidence.get("stacks") or [],
        "stuck": report.evidence.get("stuck") or None,
        "faults": report.evidence.get("faults") or "",
        "memory": report.evidence.get("curve") or [],
        "limits": [as_data(one) for one in report.evidence.get("limits") or []],
        "probes": [probes_text.as_data(one) for one in report.evidence.get("probes") or []],
        "snapshots": report.evidence.get("snapshots") or [],
        "output": report.output.decode("utf-8", "replace"),
        "peeks": report.evidence.get("peeks") or "",
        "log": report.log,
    }


def changed_since(previous: int | None, difference: Difference | None) -> dict[str, Any] | None:
    """What changed since the attempt before."""
    if previous is None or difference is None:
        return None
    return {"attempt": previous, **_difference(difference)}


def diff(report: DiffReport) -> dict[str, Any]:
    """What differs between two attempts."""
    return {
        "schema": SCHEMA,
        "old": report.old.id,
        "new": report.new.id,
        **_difference(report.difference),
        "patch": report.patch,
        "outcome": _changed(report.outcome),
        "output": report.output,
    }


def repeat(report: RepeatReport) -> dict[str, Any]:
    """Rates of all failures."""
    took = report.seconds
    return {
        "schema": SCHEMA,
        "runs": report.runs,
        "passed": report.passed,
        "mean_seconds": round(sum(took) / len(took), 4) if took else None,
        "min_seconds": round(min(took), 4) if took else None,
        "max_seconds": round(max(took), 4) if took else None,
        "failures": [
            {
                "signature": rate.signature,
                "count": rate.times,
                "low": round(rate.low, 4),
                "high": round(rate.high, 4),
                "example": report.examples[rate.signature].attempt,
            }
            for rate in report.rates
        ],
    }


def _difference(difference: Difference) -> dict[str, Any]:
    return {
        "code": [
            {**change._asdict(), "loaded": change.path in difference.loaded}
            for change in difference.code
        ],
        "env": _changed(difference.env),
        "packages": _changed(difference.packages),
        "command": _changed(difference.command),
        "python": difference.python._asdict() if difference.python else None,
        "code_note": difference.code_note,
    }


def _changed(changes: list[Changed]) -> list[dict[str, Any]]:
    return [change._asdict() for change in changes]
