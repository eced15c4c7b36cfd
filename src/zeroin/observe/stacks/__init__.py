"""Where running programs stand: their stacks, what they wait for, and what that means.

`take` gets the stacks of processes by the first means that works: `py_spy`, the agent's
`faults`, `gdb`; `denied` says why one did not. `afar` reads the tasks of event loops. `proc`
and `tree` read the processes, `ranks` names them, `waits` follows what they wait for to who
should give it. `merge` puts identical stacks together, `standing` says what one stack does, and
`verdict` what all of them mean.
"""

from zeroin.observe.spies import find_py_spy
from zeroin.observe.stacks.stack import Stack
from zeroin.observe.stacks.take import STACKS_SIGNAL, TASKS_SIGNAL, take

__all__ = ["STACKS_SIGNAL", "TASKS_SIGNAL", "Stack", "find_py_spy", "take"]
