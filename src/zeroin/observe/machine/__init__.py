"""What works on this machine: tried, not guessed.

Each probe tries the thing itself in processes that are gone again afterwards, all at the
same time. A thing is "ok"; or "limited": some of it works, or something slower stands in;
or "missing". What this machine simply does not have, such as a GPU or a cluster, is "absent":
that is no fault, and there is nothing to be done.
"""

from __future__ import annotations

from zeroin.observe.machine.probe import LIMITED, Probe

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Probe", "probe_all"]


def probe_all() -> list[Probe]:
    """Try everything, all at once."""
    from concurrent.futures import ThreadPoolExecutor

    from zeroin.observe.machine import kernel, programs

    tries = (
        kernel.kernel,
        programs.py_spy,
        programs.strace,
        programs.gdb,
        programs.git,
        programs.uv,
        programs.slurm,
    )
    with ThreadPoolExecutor(len(tries)) as pool:
        return [probe for probes in pool.map(_guarded, tries) for probe in probes]


def _guarded(probes: Callable[[], Iterable[Probe]]) -> list[Probe]:
    """One probe that fails must not hide the others."""
    try:
        return list(probes())
    except Exception as error:
        name = probes.__name__.replace("_", "-")
        said = f"the probe itself failed: {type(error).__name__}: {error}"
        return [Probe(name, LIMITED, said, "", "")]
