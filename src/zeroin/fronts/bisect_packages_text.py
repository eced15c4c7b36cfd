"""What `bisect versions` and `bisect envs` answer."""

from __future__ import annotations

from zeroin.fronts.shrink_text import counted
from zeroin.fronts.words import put

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from zeroin.fronts.words import Paint
    from zeroin.tools.bisect.report import BisectReport, Culprit

MOST = 12  # names in a line
ABSENT = "(none)"  # the version of what is not there


def put_packages(report: BisectReport, paint: Paint, put_commit: Any) -> None:
    """The answer."""
    if report.axis == "versions":
        _put_release(report, paint)
        _put_commit(report.about, paint, put_commit)
        return
    for culprit in report.culprits:
        _put_culprit(culprit, paint)
        _put_commit(culprit.about, paint, put_commit)


def _put_commit(about: Mapping[str, Any], paint: Paint, put_commit: Any) -> None:
    if about.get("commit"):
        put_commit(about["commit"], "commit", paint)
    elif about.get("why_no_commit"):
        put(f"  no commit: {about['why_no_commit']}")


def _put_culprit(culprit: Culprit, paint: Paint) -> None:
    about = culprit.about
    name = paint(culprit.name, "bold")
    if about["put_back"]:
        alone = {True: "yes", False: "no", None: "not known"}[about["breaks_alone"]]
        if about["breaks_with"]:
            alone = f"no, only together with {', '.join(about['breaks_with'])}"
        moves = [f"{one['name']} {_way(one['new'], one['old'])}" for one in about["moves_with_it"]]
        what = f"put back {name} {_way(culprit.new, culprit.old)} and it works"
        put(f"{what} · breaks alone: {alone} · moves with it: {', '.join(moves) or 'nothing'}")
    else:
        others = ", ".join(about["breaks_with"])
        put(f"{name} {_way(culprit.old, culprit.new)} is what {others} breaks together with")
    if about["known"]:
        candidates = about["candidates"]
        which = about["first_bad"] + (f" ({about['date']})" if about["date"] else "")
        if len(candidates) > 1:
            which = f"one of {len(candidates)} that nothing tells apart: {listed(candidates)}"
        more = counted(about["tries"], "more run")
        put(f"  first bad: {culprit.name} {which} · {about['last_good']} works      {more}")


def _way(start: str | None, end: str | None) -> str:
    return f"{start or ABSENT} → {end or ABSENT}"


def _put_release(report: BisectReport, paint: Paint) -> None:
    word = "first fixed" if report.fixed else "first bad"
    about = report.about
    package = about.get("package", "")
    if report.verdict == "range":
        shown = listed(report.candidates)
        count = len(report.candidates)
        put(f"{paint(word, 'bold')}: {package}, one of {count} that nothing tells apart: {shown}")
    else:
        marks = [about.get("date") or "", "yanked" if about.get("yanked") else ""]
        said = ", ".join(filter(None, marks))
        put(f"{paint(word, 'bold')}: {package} {report.first_bad}{f' ({said})' if said else ''}")
    if about.get("early"):
        put(f"  its pre-release {about['early']} has it already")
    moved = [f"{one['name']} {_way(one['old'], one['new'])}" for one in about.get("moved") or ()]
    if moved:
        put(f"  moved with it: {', '.join(moved)}")


def listed(names: Sequence[str]) -> str:
    """So many as a line has room for."""
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return f"{', '.join(names[:MOST])}{more}"
