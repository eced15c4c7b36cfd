"""One circumstance of the program in which a repr is to be run; its name is the argument."""

import atexit
import os
import resource
import signal
import sys
import threading
import time
import warnings

import summary_harness as harness


class Told:
    def __init__(self):
        self.a = 1

    def __repr__(self):
        return "told"


class Sleeps:
    def __repr__(self):
        time.sleep(60)


class Exits:
    def __repr__(self):
        os._exit(0)


def plain():
    harness.tell("value", Told())


def children_ignored():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    harness.tell_all("value", [("a", Exits()), ("b", Told())])


def children_reaped():
    def reap(*_):
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass

    signal.signal(signal.SIGCHLD, reap)
    harness.tell_all("value", [("a", Exits()), ("b", Told())])


def other_child():
    """A child of the program's own must not be taken off its hands."""
    pid = os.fork()
    if pid == 0:
        os._exit(7)
    harness.tell("value", Told())
    harness.results["value"]["status"] = os.waitpid(pid, 0)[1] >> 8


def signals_kept():
    def handler(*_):
        pass

    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 100)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
    harness.tell("value", Told())
    harness.results["value"]["kept"] = [
        signal.getsignal(signal.SIGALRM) is handler,
        signal.getitimer(signal.ITIMER_REAL)[0] > 50,
        signal.SIGUSR1 in signal.pthread_sigmask(signal.SIG_BLOCK, ()),
    ]


def alarm_blocked():
    """A mask that a child inherits must not keep its own alarm from it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    forks, fork = [], os.fork
    os.fork = lambda: forks.append(1) or fork()
    harness.tell_all("value", [("a", Sleeps()), ("b", Told())])
    harness.results["value"]["forks"] = len(forks)


def in_a_thread():
    threads = [threading.Thread(target=time.sleep, args=(0.5,)) for _ in range(3)]
    threads.append(threading.Thread(target=harness.tell, args=("value", Told())))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def forks_warned_of():
    """As jax does: what it says of our fork is not for the program's user."""
    os.register_at_fork(before=lambda: warnings.warn("fork", RuntimeWarning, stacklevel=2))
    harness.tell("value", Told())


def no_fork():
    del os.fork
    harness.tell("value", Told())


def fork_fails():
    def fork():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    os.fork = fork
    harness.tell("value", Told())


def huge():
    harness.reprs.HUGE = 1
    harness.tell("value", Told())


def no_descriptors():
    harness.memory("VmRSS")  # whatever it needs is loaded
    taken = [os.dup(0) for _ in range(10)]
    tell_all = harness.summary.summarise_all

    def without(items, seconds):
        resource.setrlimit(resource.RLIMIT_NOFILE, (taken[-1], 4096))
        try:
            return tell_all(items, seconds)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 4096))

    harness.summary.summarise_all = without
    harness.tell("value", Told())


def no_standard_streams():
    """The pipe gets the numbers 0 and 1 then."""
    kept = os.dup(1)
    for fd in range(3):
        os.close(fd)
    harness.tell("value", Told())
    null = os.open(os.devnull, os.O_RDWR)
    assert null == 0
    os.dup2(kept, 1)
    os.dup2(null, 2)


def frozen_clock():
    time.monotonic = lambda: 5.0
    harness.tell_all("value", [("a", Sleeps()), ("b", Told())])


def traced():
    events = []

    def trace(frame, event, arg):
        events.append(event)
        return trace

    sys.settrace(trace)
    harness.tell("value", Told())
    sys.settrace(None)


def deep():
    def down(left):
        if left:
            return down(left - 1)
        return harness.tell("value", [Told()])

    for left in range(sys.getrecursionlimit(), 10, -1):
        try:
            down(left)
            break
        except RecursionError:
            continue


def at_exit():
    def tell():
        harness.tell("value", Told())
        harness.finish()

    atexit.register(tell)
    return "later"


def interrupted():
    """Ctrl-C of the real user, while a child hangs: it is obeyed, and the child is gone."""
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        harness.tell("value", Sleeps(), 20)
    except KeyboardInterrupt:
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            harness.results["value"] = {"told": ["interrupted"]}


if __name__ == "__main__":
    if globals()[sys.argv[1]]() is None:
        harness.finish()
