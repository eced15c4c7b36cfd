"""`--seed` and `--sync`: the switches that have no environment variable.

Each acts when the module is imported by the program, never before: a program that does not
use torch must not load it because of us.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Callable


def callbacks(order: Mapping[str, Any]) -> dict[str, Callable[[Any], None]]:
    """What to do after which import."""
    found: dict[str, Callable[[Any], None]] = {}
    if "seed" in order:
        seed = order["seed"]
        found["random"] = lambda random: random.seed(seed)
        found["numpy.random"] = lambda random: random.seed(seed % 2**32)
        # `torch.random` is loaded half-way through torch: seeding works only once all is there.
        found["torch"] = lambda torch: torch.manual_seed(seed)
    if "sync" in order:
        found["torch.utils.data.dataloader"] = _load_in_the_main_process
    return found


def _load_in_the_main_process(module: Any) -> None:
    """Make `DataLoader(num_workers=8)` read in this process, so that errors come from here."""
    kind = module.DataLoader
    plain = kind.__init__
    names = ("batch_size", "shuffle", "sampler", "batch_sampler", "num_workers")

    def init(self: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
        kwargs = {**dict(zip(names, args)), **kwargs}
        rest = args[len(names) :]
        if kwargs.get("num_workers"):
            kwargs["num_workers"] = 0
            for needs_workers in (
                "prefetch_factor",
                "persistent_workers",
                "multiprocessing_context",
                "timeout",
                "worker_init_fn",
                "in_order",
            ):
                kwargs.pop(needs_workers, None)
        plain(self, dataset, *_positional(names, kwargs, rest), **kwargs)

    kind.__init__ = init


def _positional(names: tuple[str, ...], kwargs: dict[str, Any], rest: Any) -> list[Any]:
    """More positional arguments than we know by name: hand the first ones over in order."""
    if not rest:
        return []
    return [kwargs.pop(name) for name in names] + list(rest)
