"""The warm engine's driver side: snapshots of a program, and runs that go on from them.

`run/launch/warm.py` resumes a program or starts it cold with it. What else it tells:

    with Engine() as engine:
        engine.aside.add(keys.fileno(), keys.read)  # served during a run, and by `aside.serve`
        engine.came  # how the last run came to be: id and place of the snapshot, seconds, reason
        engine.retreated  # (id, reason) when that run can't be trusted: it was ended, run again
        engine.gate, engine.used, engine.snapshots, engine.held_bytes()
        engine.prefer(engine.snapshots[0].id)  # where the next edit is expected
        engine.failure and engine.failure.debug(0, 1, 2)
        engine.aside.serve(0.5)  # between runs
        engine.aside.run and engine.aside.run.stop()  # from a callback, during a run

The engine is made of parts: `connection` hears agents on `lines`, `table` has the snapshots,
`spares` their forks, `program_facts` what the program told, `standby_keeper` one that runs ahead,
`spool` the output to be replayed; `leaving` waits for what ends.
Processes that a loop starts itself belong into `aside.keep`.
"""

from zeroin.run.warm.engine import Came, Engine, NeedsCold, Starter
from zeroin.run.warm.table import Snapshot

__all__ = ["Came", "Engine", "NeedsCold", "Snapshot", "Starter"]
