"""Did a resumed run give what a cold run gives? Exactly, but for what varies by itself.

Numbers must not be masked here: a stale one is what this looks for. So where the output
differs, a second cold run tells which lines are never the same twice.
"""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from zeroin.cycle import Outcome


class Taken(NamedTuple):
    """What is compared of a run."""

    outcome: Outcome
    output: dict[str, bytes]  # by stream

    def ending(self) -> tuple[object, ...]:
        """How it ended, in one value; what the message says in full is in the output."""
        found = self.outcome
        return (found.kind, found.exit_code, str(found.signature))


class Compared(NamedTuple):
    """`same` is None when it can't be told: the program itself is not the same twice."""

    same: bool | None
    difference: str = ""  # in words; empty if there is none


def differ(resumed: Taken, cold: Taken) -> bool:
    """Whether a closer look is needed."""
    return resumed.ending() != cold.ending() or resumed.output != cold.output


def compare(resumed: Taken, colds: Sequence[Taken]) -> Compared:
    """Compare with one or two cold runs."""
    if any(not differ(resumed, cold) for cold in colds):
        return Compared(True)
    endings = {cold.ending() for cold in colds}
    if resumed.ending() not in endings:
        if len(endings) > 1:
            return Compared(None, "two cold runs ended in two ways")
        return Compared(False, _endings(resumed.outcome, colds[0].outcome))
    varies = False
    for stream in sorted({*resumed.output, *(name for cold in colds for name in cold.output)}):
        ours = _lines(resumed, stream)
        theirs = [_lines(cold, stream) for cold in colds]
        counts = {len(lines) for lines in theirs}
        if len(counts) > 1:
            return Compared(None, "two cold runs printed different numbers of lines")
        if len(ours) not in counts:
            return Compared(False, _first(ours, theirs[0]))
        for number, line in enumerate(ours):
            wanted = {lines[number] for lines in theirs}
            if line in wanted:
                continue
            if len(wanted) == 1:
                return Compared(False, _line(number, line, theirs[0][number]))
            varies = True
    return Compared(True, "but for lines that no two cold runs print alike" if varies else "")


def _lines(taken: Taken, stream: str) -> list[bytes]:
    return taken.output.get(stream, b"").splitlines()


def _endings(resumed: Outcome, cold: Outcome) -> str:
    def words(outcome: Outcome) -> str:
        code = f" (exit {outcome.exit_code})" if outcome.exit_code else ""
        return (outcome.headline or outcome.kind.value) + code

    return f"resumed: {words(resumed)}; cold: {words(cold)}"


def _first(ours: Sequence[bytes], theirs: Sequence[bytes]) -> str:
    for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
        if a != b:
            return _line(number, a, b)
    return f"resumed: {len(ours)} lines; cold: {len(theirs)} lines"


def _line(number: int, resumed: bytes, cold: bytes) -> str:
    a, b = (text.decode("utf-8", "replace") for text in (resumed, cold))
    return f"line {number + 1} of the output, resumed: {a[:200]!r}; cold: {b[:200]!r}"
