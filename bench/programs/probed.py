"""Calls of one function that may hold a probe, and of others; prints what each took.

`probed.py TURNS [trace|others]`: with `trace`, the function is watched as a debugger would do it;
with `others`, only the others are called.
"""

import sys
import time


def watched(x):
    y = x + 1
    return y * 2


def plain(x):
    y = x + 1
    return y * 2


class Box:
    def __init__(self):
        self.value = 0

    def add(self, x):
        self.value = plain(x) + self.value % 7
        return self.value


def others(turns):
    box = Box()
    total = 0
    for number in range(turns):
        total += box.add(number)
    return total


def mine(turns):
    total = 0
    for number in range(turns):
        total += watched(number)
    return total


def line(*_):
    return line


def trace(frame, *_):
    return line if frame.f_code is watched.__code__ else None


def timed(work, turns):
    clock, cpu = time.perf_counter(), time.process_time()
    work(turns)
    return time.perf_counter() - clock, time.process_time() - cpu


how = sys.argv[2:]
if how == ["trace"]:
    sys.settrace(trace)
watched(1)
turns = int(sys.argv[1])
print(*timed(others, turns), *(timed(mine, turns) if how != ["others"] else ()))
