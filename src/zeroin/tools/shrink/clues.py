"""What a failing run says about which parts of the payload it is about."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

FRAMES = 3  # of the user's, the innermost


def texts_of(messages: Sequence[dict[str, Any]], headline: str) -> tuple[tuple[str, ...], ...]:
    """What it says and names in its lines; then also the values that were at hand."""
    said, values = [headline], list[str]()
    for message in messages:
        if message["kind"] != "crash":
            continue
        for link in message["chain"]:
            said.append(link["message"])
            own = [frame for frame in link["frames"] if frame["owner"] == "user"]
            for frame in own[-FRAMES:]:
                said += (frame.get("source") or {}).get("lines") or ()
                values += (frame.get("locals") or {}).values()
    return tuple(said), (*said, *values)
