"""`TracedLauncher`: another launcher starts the command, under a strace that runs beside it."""

from __future__ import annotations

from contextlib import nullcontext

from zeroin.observe.calls.history import program
from zeroin.run import traced
from zeroin.run.limit_guard import Guarded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.cycle import Cycle
    from zeroin.observe.calls.history import History
    from zeroin.run.execute import Ended, Run, Stage
    from zeroin.run.launch.launcher import Launcher


class TracedLauncher:
    """Lets strace follow what `inner` starts; `history` has all calls once the run is over."""

    history: History

    def __init__(self, inner: Launcher) -> None:
        self._inner = inner

    def arrange(self, cycle: Cycle) -> Cycle:
        """See `Launcher`."""
        return self._inner.arrange(cycle)

    def launch(self, process: Run, cycle: Cycle, env: dict[str, str], stage: Stage) -> Ended:
        """See `Launcher`."""
        asked = bool(cycle.limits)
        folder = process.inbox.folder
        trace = traced.Trace(program(cycle.command), cycle.cwd, folder if asked else "")
        try:
            # Under limits there is a guard already. It is forked, so it comes before our thread.
            with nullcontext(env) if asked else Guarded(env, [folder] if folder else []) as marked:
                words = trace.around(cycle.command, cycle.cwd, marked, asked=asked)
                trace.begin()
                ended = self._inner.launch(
                    process,
                    cycle._replace(command=tuple(words)),
                    marked,
                    stage._replace(busy=trace.lags),
                )
        except BaseException:
            trace.close()
            raise
        self.history = trace.end(ended.pid, ended.survivors)
        return ended
