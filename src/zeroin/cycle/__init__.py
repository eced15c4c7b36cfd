"""The words of the whole project, with no I/O behind them.

A *cycle* puts the world back and runs one command. Running it gives an *outcome*. A failed
outcome has a *signature*: what failed, said in a way that survives moving lines, temp paths
and addresses. A *verdict* answers the one question behind every tool: does it still fail the
same way? An *oracle* (`zeroin.cycle.oracle`) gives verdicts, also where the failure comes and
goes; `zeroin.cycle.explain` makes the signature from what was seen of an ending.
"""

from zeroin.cycle.cycle import Cycle
from zeroin.cycle.outcome import Explanation, Kind, Outcome
from zeroin.cycle.signature import Signature, Strength
from zeroin.cycle.verdict import Verdict

__all__ = ["Cycle", "Explanation", "Kind", "Outcome", "Signature", "Strength", "Verdict"]
