"""Time one look at a value, or one section: processor time a call, the least of many rounds.

Prints one JSON object; what is looked at goes to stderr, which is /dev/null.
"""

import json
import sys
import time

from zeroin import peek, section

ROUNDS, CALLS = int(sys.argv[1]), 2_000
step, name, batch, config = 12, "train", [1, 2, 3], {"lr": 0.1, "size": 32}


def timed(case, work):
    calls = CALLS // 40 if case.endswith("tensor") else CALLS
    started = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - started) / calls


def in_section():
    with section("step", quiet=True):
        pass


def in_loud_section():
    with section(f"step {time.process_time_ns()}"):
        pass


@section("decorated", quiet=True)
def decorated():
    pass


CASES = {
    "print int": lambda: print("step =", step, file=sys.stderr),
    "print list": lambda: print("batch =", batch, file=sys.stderr),
    "print dict": lambda: print("config =", config, file=sys.stderr),
    "peek int": lambda: peek(step),
    "peek text": lambda: peek(name),
    "peek list": lambda: peek(batch),
    "peek dict": lambda: peek(config),
    "section": in_section,
    "section, decorated": decorated,
    "section, with its line": in_loud_section,
}
try:
    import torch

    tensor = torch.arange(320.0).reshape(32, 10)
    CASES["print tensor"] = lambda: print("tensor =", tensor, file=sys.stderr)
    CASES["peek tensor"] = lambda: peek(tensor)
except ImportError:
    pass

best = {}
for _ in range(ROUNDS):
    for case, work in CASES.items():
        best[case] = min(best.get(case, 9.0), timed(case, work))
    from zeroin import sections

    sections.clear()
print(json.dumps(best))
