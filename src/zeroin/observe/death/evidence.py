"""What is known of an end, and small things that are said of it."""

from __future__ import annotations

import re

from zeroin.named import NamedTuple
from zeroin.sizes import size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FULL = 1_000_000  # bytes free: a disk that nothing fits on


class Evidence(NamedTuple):
    """What is known of one end."""

    exit_code: int | None = None  # None if a signal ended it
    signal: str = ""
    outcome: str = ""  # as the record has it
    headline: str = ""
    exception: str = ""  # its type, and the message
    output: str = ""  # the end of it
    peak: int = 0
    cpu_seconds: float = 0.0
    limits: dict[str, list[int]] = {}  # noqa: RUF012 - never changed
    groups: dict[str, int] = {}  # noqa: RUF012
    oom_kills: int | None = None  # None if the kernel's counter was not looked at
    kernel: list[str] | None = None  # lines of its log about this; None if it can't be read
    disks: list[dict[str, Any]] = []  # noqa: RUF012
    faults: str = ""
    child: str = ""  # the signal that a Python below it died of, if it did not end it as well
    shell: bool = False  # a shell takes part, which passes on how its last command ended
    calls: list[str] = []  # noqa: RUF012


class Verdict(NamedTuple):
    """What killed it. `sure` is "certain", "likely" or "unknown"."""

    text: str
    sure: str
    because: list[str]
    ruled_out: list[str]


def of_limit(e: Evidence) -> str:
    """What the cgroup may have, as the end of a sentence."""
    limit = e.groups.get("memory")
    return f"; the cgroup may have {size(limit)}" if limit else ""


def disk_words(disk: dict[str, Any]) -> str:
    """`/data: 3 GB of 10 GB free, 1,000 inodes`."""
    text = f"{disk['path']}: {size(disk['free'])} of {size(disk['size'])} free"
    if disk["inodes"]:
        text += f", {disk['inodes_free']:,} inodes"
    return text


def said(e: Evidence) -> list[str]:
    """The last line of the output."""
    last = next((line for line in reversed(e.output.splitlines()) if line.strip()), "")
    return [f"it last printed: {last.strip()[:200]}"] if last else []


def line_with(text: str, pattern: str) -> str:
    """The whole line that a pattern matches in; "" if it does not."""
    found = re.search(pattern, text)
    if not found:
        return ""
    start = text.rfind("\n", 0, found.start()) + 1
    end = text.find("\n", found.end())
    return text[start : end if end >= 0 else len(text)].strip()[:300]
