"""More memory while we look at what failed for the want of it, under `--memory-error`."""

from __future__ import annotations

import resource  # at the start: later there is no memory to load it with


class Relief:
    """As much as the program could have without the limit, for as long as it is entered."""

    def __init__(self) -> None:
        self._given = resource.getrlimit(resource.RLIMIT_DATA)

    def __enter__(self) -> None:
        most = self._given[1]
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    def __exit__(self, *_: object) -> None:
        resource.setrlimit(resource.RLIMIT_DATA, self._given)
