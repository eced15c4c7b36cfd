"""What the driver asks of the agents of a run: one file, which every process reads at its start.

`ZEROIN_AGENT` names it. It lies in the folder where agents deliver, and holds JSON: see
`AgentOrder` in `zeroin/run/agent_order.py`. The program that is stepped gets a file of its own,
and leads its children to the one for everybody.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

VARIABLE = "ZEROIN_AGENT"
NAME = "order"  # of the file for every process

order: dict[str, Any] = {}  # only what is asked for


def read_order(environ: MutableMapping[str, str]) -> str:
    """Read the order of this process; the folder where it delivers."""
    path = environ[VARIABLE]
    folder = os.path.dirname(path)
    _load(path)
    if "warm" in order:  # the program's children run as they are
        environ[VARIABLE] = f"{folder}/{NAME}"
    return folder


def change_folder(folder: str) -> None:
    """Go on as another run: its order is in that folder."""
    warm = order.get("warm")
    path = f"{folder}/{NAME}"
    os.environ[VARIABLE] = path
    _load(path)
    if warm is not None:
        order["warm"] = warm


def find_folder() -> str:
    """Give where the driver of this process listens; "" where none does."""
    from . import post

    path = os.environ.get(VARIABLE)
    return os.path.dirname(path) if path else post.remembered()


def _load(path: str) -> None:
    from . import post

    # Without waiting: the program may have put a pipe there.
    opened = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(opened, "rb") as file:
        told = post.loads(file.read().decode("ascii"))
    order.clear()
    order.update(told)
