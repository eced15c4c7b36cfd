"""Build so much state in so many seconds, then do something short with it.

`warm_state.py numpy 300 5 30`: kind, megabytes, seconds of the prefix, milliseconds of the tail.
With `fork` after these it waits instead for lines on stdin; for each it forks itself bare, the
child does the tail and ends as programs do (which frees the state), and the seconds of the fork
and of all of it are printed.
"""

import os
import sys
import time

PARTS = 50


def build(kind, size):
    if kind == "numpy":
        import numpy as np  # noqa: PLC0415 - only where it is wanted

        return np.ones(size // 8)
    return list(range(1_000_000, 1_000_000 + size // 40))  # 32 bytes an int, 8 in the list


def load(kind, size, seconds):
    state = []
    for _ in range(PARTS):
        state.append(build(kind, size // PARTS))
        work(seconds / PARTS)
    return state


def work(seconds):
    """Mostly wait: a busy machine would make a prefix of pure work too long."""
    for _ in range(max(1, round(seconds / 0.01))):
        sum(range(1000))
        time.sleep(min(seconds, 0.01))


def finish(state, milliseconds):
    """The tail: look at a part of the state for so long by the processor's clock."""
    until = time.process_time() + milliseconds / 1000
    total = 0.0
    while True:
        total += float(sum(state[len(state) // 2][:1000]))
        if time.process_time() >= until:
            break
    return "edit 0 of finish"


def fork(state, milliseconds):
    for _ in sys.stdin:
        began = time.perf_counter()
        pid = os.fork()
        forked = time.perf_counter() - began
        if not pid:
            print(finish(state, milliseconds), file=sys.stderr)
            return
        os.waitpid(pid, 0)
        print(forked, time.perf_counter() - began, flush=True)


def main():
    size, seconds, tail = int(sys.argv[2]) * 1_000_000, float(sys.argv[3]), float(sys.argv[4])
    state = load(KIND, size, seconds)
    if sys.argv[5:] == ["fork"]:
        print("ready", flush=True)
        fork(state, tail)
        return
    print(finish(state, tail))
    print("edit 0 of main")


KIND = sys.argv[1]
main()
