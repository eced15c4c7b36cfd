"""Objects whose `__repr__` does what no repr should."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import summary_harness as harness

STATE = {"count": 0}
ours, theirs = socket.socketpair()
inherited = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
keeper = threading.Lock()
keeper.acquire()


class Stop(BaseException):
    pass


KINDS = {}


def misbehave(name):
    """Make an object whose repr runs the function of that name."""
    if name not in KINDS:
        KINDS[name] = type(name, (), {"__repr__": globals()["_" + name]})
    return KINDS[name]()


def _key_error(_):
    raise KeyError("gone")


def _keyboard_interrupt(_):
    raise KeyboardInterrupt


def _system_exit(_):
    sys.exit(3)


def _generator_exit(_):
    raise GeneratorExit


def _base_exception(_):
    raise Stop


def _recursion(self):
    return repr([self])


def _sleeps(_):
    time.sleep(60)


def _spins(_):
    while True:
        pass


def _swallows(_):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass


def _holds_the_gil(_):
    return sum(range(10**13))


def _waits_for_a_lock(_):
    with keeper:
        return "never"


def _is_large(_):
    return "x" * 100_000_000


def _eats_memory(_):
    return [bytearray(1_000_000) for _ in range(1_000)]


def _is_no_text(_):
    return 3


def _is_odd_text(_):
    return type("Odd", (str,), {"__getitem__": None, "__len__": None})("odd")


def _exits(_):
    os._exit(0)


def _dies(_):
    os.kill(os.getpid(), signal.SIGSEGV)


def _counts(_):
    STATE["count"] += 1
    return "counted"


def _prints(_):
    print("PRINTED")
    print("PRINTED", file=sys.stderr)
    sys.stdout.flush()
    os.write(1, b"PRINTED")
    return "printed"


def _writes(_):
    os.write(inherited, b"WRITTEN")
    return "wrote"


def _talks(_):
    ours.send(b"SENT")
    return "talked"


def _starts_a_process(_):
    subprocess.Popen(["sleep", "3600"])
    time.sleep(60)


def _good(_):
    return "good"


ALONE = [name[1:] for name in list(globals()) if name.startswith("_") and name[1:2].islower()]
HANGING = ["sleeps", "spins", "swallows", "holds_the_gil", "waits_for_a_lock", "starts_a_process"]


def main():
    """Tell each alone, then together in ways that could starve those that behave."""
    for name in ALONE:
        harness.tell(name, misbehave(name), 0.15 if name in HANGING else 1.0)
    bad = ["sleeps", "swallows", "good", "holds_the_gil", "exits", "good", "dies", "is_large"]
    harness.tell_all("mixed", [(name, misbehave(name)) for name in bad], 2.0)
    harness.tell_all("many", [(str(n), misbehave("good")) for n in range(200)])
    hanging = [(str(n), misbehave("swallows")) for n in range(30)]
    harness.tell_all("hanging", [*hanging, ("good", misbehave("good"))])
    harness.tell("inside", {"a": [misbehave("key_error"), misbehave("good")]})
    with open(sys.argv[1]) as file:
        written = file.read()
    try:
        left = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        left = None
    ours.close()
    harness.finish(count=STATE["count"], written=written, sent=theirs.recv(9).decode(), left=left)


main()
