"""Fail with locals of one kind: `crash.py list`.

Writes the time, the processor time and the memory before it raises and after the traceback.
"""

import atexit
import os
import sys
import time


def memory():
    with open("/proc/self/status", "rb") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(b"VmHWM:"))


def tell(word):
    os.write(1, f"{word} {time.monotonic_ns()} {time.process_time_ns()} {memory()}\n".encode())


class Slow:
    def __repr__(self):
        time.sleep(8)
        return "late"


class Huge:
    def __repr__(self):
        return "x" * 100_000_000


class Broken:
    def __repr__(self):
        raise ValueError("no repr")


def array():
    import numpy as np  # noqa: PLC0415 - only where it is wanted

    return np.full(250_000_000, 1.5)


KINDS = {
    "plain": lambda: {"lr": 0.1, "name": "train", "batch": [1, 2, 3]},
    "list": lambda: list(range(10_000_000)),
    "dict": lambda: dict.fromkeys(range(2_000_000), "value"),
    "slow": Slow,
    "many-slow": lambda: [Slow() for _ in range(60)],
    "huge": Huge,
    "broken": Broken,
    "array": array,
    "objects": lambda: [Broken() for _ in range(1_000_000)],
}


def fail(depth, value):
    if depth:
        fail(depth - 1, value)
    tell("raise")
    raise RuntimeError("on purpose")


def fail_with_all(plain, many, mapping, slow, slows, huge, broken):
    fail(3, [plain, many, mapping, slow, slows, huge, broken])


atexit.register(tell, "after")
kind = sys.argv[1]
if kind == "all":
    names = ("plain", "list", "dict", "slow", "many-slow", "huge", "broken")
    fail_with_all(*(KINDS[name]() for name in names))
elif kind == "deep":
    fail(900, Slow())
else:
    fail(3, KINDS[kind]())
