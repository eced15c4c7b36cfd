"""From the first bad release on to the commit in the package's own repository."""

from __future__ import annotations

import os

from zeroin.axes.versions import sources
from zeroin.errors import UntestableError, ZeroinError
from zeroin.run import copies
from zeroin.run.apart import View
from zeroin.run.composed import compose
from zeroin.run.dists import installed
from zeroin.tools.bisect.commits import CommitOptions, bisect_commits
from zeroin.tools.bisect.packages import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from zeroin.tools.bisect.packages import Mix
    from zeroin.tools.bisect.report import BisectOptions, Teller
    from zeroin.tools.bisect.setting import Setting

COMPILED = (".so", ".pyd")


def to_commit(
    setting: Setting,
    package: str,
    ends: tuple[str, str],
    mix: Mix,
    options: BisectOptions,
    teller: Teller,
) -> dict[str, Any]:
    """What `bisect commits` answers between the tags of two releases; or why there is no answer."""
    try:
        return _to_commit(setting, package, ends, mix, options, teller)
    except ZeroinError as error:
        return {"commit": None, "why_no_commit": error.message}


def _to_commit(
    setting: Setting,
    package: str,
    ends: tuple[str, str],
    mix: Mix,
    options: BisectOptions,
    teller: Teller,
) -> dict[str, Any]:
    own = os.path.join(setting.folder, "to-commit")
    os.makedirs(own, exist_ok=True)
    made = compose(os.path.join(own, "env"), setting.python, mix.parts)
    dist = installed([made.site])[package]
    if any(path.endswith(COMPILED) for path in dist.files()):
        raise UntestableError(f"{package} has compiled parts, so its commits have to be built")
    urls = sources.addresses(dist.headers("Project-URL"), dist.headers("Home-page"))
    git = sources.clone(urls, os.path.join(own, "repository"), own, ends)
    teller.note(f"going on with the commits of {package} from {ends[0]} to {ends[1]}")
    # The repository is what changes from try to try: the user's folder is a copy.
    view = View(setting.root, os.path.join(own, "scratch"), copied=True)
    copies.check(view)
    cycle = inside(setting.cycle, made, setting.python, setting.environ)
    wanted = CommitOptions(f"=={ends[0]}", f"=={ends[1]}", git.folder)
    report = bisect_commits(copies.made(view, cycle), wanted, options, setting.environ, teller)
    if report.verdict not in ("found", "range"):
        raise UntestableError(report.why or "the search was interrupted")
    commit = dict(report.about["commit"])
    return {"commit": commit, "commit_verdict": report.verdict, "commit_tries": report.tries}
