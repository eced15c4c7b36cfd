"""All limits by name, each in the module that knows it; only what is asked for is loaded."""

from __future__ import annotations

import sys

from zeroin.errors import UntestableError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.emulate.part import Kind, Limit, Part, Scene

HINT = "what works on this machine: zeroin doctor"

# name → the module whose `KINDS` has it. A further limit is a line here and one below.
WHERE = {
    "disk": "disk",
    "inodes": "disk",
    "readonly": "covers",
    "memory": "memory",
    "memory-error": "memory",
    "files": "counts",
    "processes": "counts",
    "cpu": "cpu",
    "cores": "counts",
    "network": "network",
    "shm": "covers",
    "gpu-free": "gpu",
    "fail": "faults",
    "slow": "faults",
    "clock": "clock",
}
# How each is written: known without loading them, for the help.
USAGES = {
    "disk": "disk=PATH:SIZE",
    "inodes": "inodes=PATH:N",
    "readonly": "readonly=PATH",
    "memory": "memory=SIZE",
    "memory-error": "memory-error=SIZE",
    "files": "files=N",
    "processes": "processes=N",
    "cpu": "cpu=50%",
    "cores": "cores=N",
    "network": "network=off|RATE",
    "shm": "shm=SIZE",
    "gpu-free": "gpu-free=SIZE[@DEVICE]",
    "fail": "fail=CALL:ERROR[:when=N][:path=GLOB]",
    "slow": "slow=CALL:TIME[:when=N][:path=GLOB]",
    "clock": "clock=+3d|x100",
}


def kind(name: str) -> Kind:
    """The limit of that name."""
    if name not in WHERE:
        from difflib import get_close_matches

        near = get_close_matches(name, WHERE, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(WHERE)}"
        raise UsageError(f"--limit {name}: there is no such limit", hint=hint)
    module = f"zeroin.emulate.{WHERE[name]}"
    __import__(module)  # `importlib` would have to be loaded for it
    found: Kind = sys.modules[module].KINDS[name]
    return found


def parse(text: str) -> Limit:
    """Read one; UsageError if it can't be meant."""
    name, equals, value = text.partition("=")
    one = kind(name.strip())
    if not equals or not value.strip():
        raise UsageError(f"--limit {text}: how much?", hint=f"write --limit {USAGES[one.name]}")
    return one.parse(one.name, value.strip())


def parse_all(texts: Sequence[str]) -> list[Limit]:
    """Likewise; two of the same are a mistake."""
    limits = [parse(text) for text in texts]
    seen: dict[tuple[str, str], str] = {}
    for limit in limits:
        before = seen.setdefault((limit.name, limit.target), limit.text)
        if before is not limit.text:
            raise UsageError(f"--limit {before} and --limit {limit.text}: take one of them")
    return limits


def choose(limits: Sequence[Limit], scene: Scene, *, hopeful: bool = False) -> list[Part]:
    """For each the first back-end that works here; all of them or none.

    If `hopeful`, one that would say at the start of the command that it doesn't is not tried
    before: that takes as long as the start itself.
    """
    groups: dict[str, list[Limit]] = {}
    for limit in limits:
        checked = kind(limit.name).check(limit, scene)
        groups.setdefault(kind(limit.name).joined(checked), []).append(checked)
    parts: list[Part] = []
    try:
        for group in groups.values():
            parts.append(_first(group, scene, hopeful=hopeful))  # noqa: PERF401 - what is there already is closed
    except BaseException:
        for part in parts:
            part.close()
        raise
    return parts


def _first(group: Sequence[Limit], scene: Scene, *, hopeful: bool) -> Part:
    reasons: list[str] = []
    backends = kind(group[0].name).backends
    for backend in backends:
        is_last = backend is backends[-1]
        to_be_seen = backend.fails_well and (hopeful or is_last) and not reasons
        reason = "" if to_be_seen else backend.lacks(group, scene)
        if not reason:
            part = backend.make(group, scene)
            part.instead = tuple(reasons)
            return part
        reasons.append(f"{backend.name}: {reason}")
    what = ", ".join(limit.text for limit in group)
    listed = "; ".join(reasons)
    raise cant_be_had(what, listed)


def cant_be_had(what: str, reasons: str) -> UntestableError:
    """This machine can't do it."""
    return UntestableError(f"--limit {what} can't be had here ({reasons})", hint=HINT)
