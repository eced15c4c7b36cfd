"""What forbids a fork is named, what doesn't is let through: real processes, real libraries."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from left_out import heavy
from support import ROOT

AGENT = ROOT / "src" / "zeroin" / "agent"
START = """
import os, sys
package = type(sys)("_zeroin_agent")
package.__path__ = [os.environ["WARM_AGENT"]]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.fork import carry, gate
carry.begin()
loaded = set(sys.modules)
def tell(value):
    os.write(1, (__import__("json").dumps(value) + "\\n").encode())
"""


@pytest.fixture
def check(tmp_path):
    """Run a program that tells what `gate.check()` says; give what it told, line by line."""

    def run(python: str, program: str, **options) -> list:
        done = subprocess.run(
            [python, "-W", "error", "-W", "ignore::ResourceWarning", "-c", START + program],
            cwd=tmp_path,
            env={**os.environ, "WARM_AGENT": str(AGENT)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            **options,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run


# What forbids it: the program's lines, what is said, and the lines after which it is allowed again.
FORBIDDEN = {
    "thread": (
        (
            "import threading; e = threading.Event()\n"
            "t = threading.Thread(target=e.wait, name='loader'); t.start()"
        ),
        r"a thread \(loader\) is running",
        "e.set(); t.join()",
    ),
    "thread of the user's": (
        (
            "import threading; e = threading.Event()\ndef work(): e.wait()\n"
            "t = threading.Thread(target=work, name='loader'); t.start()"
        ),
        r"a thread \(loader\) is running",
        "e.set(); t.join()",
    ),
    "executor": (
        (
            "from concurrent.futures import ThreadPoolExecutor\n"
            "pool = ThreadPoolExecutor(); pool.submit(int).result()"
        ),
        "a thread of concurrent.futures is running",
        "pool.shutdown()",
    ),
    "bare thread": (
        (
            "import _thread; lock = _thread.allocate_lock(); lock.acquire()\n"
            "done = _thread.allocate_lock(); done.acquire()\n"
            "def work():\n with lock: done.release()\n"
            "_thread.start_new_thread(work, ())"
        ),
        "a thread of Python is running",
        "lock.release(); done.acquire()",
    ),
    "child": (
        "import subprocess; p = subprocess.Popen(['sleep', '60'])",
        r"a child process \(pid \d+, (sleep|python[\d.]*)\) is running",
        "p.kill(); p.wait()",
    ),
    "child that nobody waited for": (
        (
            "pid = os.fork()\nif not pid: os._exit(3)\n"
            "os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)"
        ),
        r"a child process \(pid \d+, .+\) has ended and was not waited for",
        "os.waitpid(pid, 0)",
    ),
    "process pool": (
        "import multiprocessing as m; pool = m.get_context('fork').Pool(1)",
        r"a thread of multiprocessing is running",
        "pool.terminate(); pool.join(); del pool; import gc; gc.collect()",
    ),
    "listening socket": (
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()",
        "a socket is open",
        "s.close()",
    ),
    "unix socket": (
        "import socket; s = socket.socket(socket.AF_UNIX); s.bind('here'); s.listen()",
        "a socket is open",
        "s.close()",
    ),
    "one end of a pair": (
        (
            "import socket; a, b = socket.socketpair(); pid = os.fork()\n"
            "if not pid:\n a.close(); b.recv(1); os._exit(0)\n"
            "b.close(); gate.our_children.add(pid)"
        ),
        "a socket is open",
        "a.send(b'x'); a.close(); os.waitpid(pid, 0)",
    ),
    "something in a pair": (
        "import socket; a, b = socket.socketpair(); a.send(b'x')",
        "a socket is open, and something waits in it",
        "b.recv(1)",
    ),
    "two sockets": (
        "import socket; s = [socket.socket(), socket.socket()]",
        "a socket is open",
        "for one in s: one.close()",
    ),
    "one end of a pipe": (
        (
            "r, w = os.pipe(); go = os.pipe(); pid = os.fork()\n"
            "if not pid:\n os.read(go[0], 1); os._exit(0)\n"
            "os.close(w); gate.our_children.add(pid)"
        ),
        "a pipe is open",
        "os.write(go[1], b'x'); os.waitpid(pid, 0)",
    ),
    "something in a pipe": (
        "r, w = os.pipe(); os.write(w, b'x')",
        "a pipe is open",
        "os.read(r, 1)",
    ),
    "named pipe": (
        "os.mkfifo('fifo'); r = os.open('fifo', os.O_RDWR)",
        "a named pipe is open",
        "os.close(r)",
    ),
    "output that a child left": (
        "import subprocess; p = subprocess.Popen(['echo', 'x'], stdout=subprocess.PIPE); p.wait()",
        "a pipe is open",
        "p.stdout.read()",
    ),
    "sqlite": (
        "import sqlite3; c = sqlite3.connect('data.db'); c.execute('create table t (x)')",
        "sqlite has data.db open",
        "c.close()",
    ),
    "sqlite, empty": (
        "import sqlite3; c = sqlite3.connect('data.db'); c.execute('select 1 from sqlite_master')",
        "sqlite has data.db open",
        "c.close()",
    ),
    "sqlite, only read": (
        (
            "import sqlite3; c = sqlite3.connect('data.db'); c.execute('create table t (x)'); c.close()\n"
            "c = sqlite3.connect('file:data.db?mode=ro', uri=True); c.execute('select * from t')"
        ),
        "sqlite has data.db open",
        "c.close()",
    ),
    "flock": (
        "import fcntl; f = open('x.lock', 'w'); fcntl.flock(f, fcntl.LOCK_EX)",
        "a file lock is held on x.lock",
        "f.close()",
    ),
    "lockf": (
        "import fcntl; f = open('x.lock', 'w'); fcntl.lockf(f, fcntl.LOCK_EX)",
        "a file lock is held on x.lock",
        "f.close()",
    ),
    "lockf for reading": (
        "import fcntl; open('x.lock', 'w').close(); f = open('x.lock'); fcntl.lockf(f, fcntl.LOCK_SH)",
        "a file lock is held on x.lock",
        "f.close()",
    ),
    "shared map of a file": (
        "import mmap\nwith open('x.dat', 'wb+') as f: f.truncate(4096); m = mmap.mmap(f.fileno(), 0)",
        r"shared memory is mapped \(x.dat\)",
        "m.close()",
    ),
    "shared anonymous map": (
        "import mmap; m = mmap.mmap(-1, 4096)",
        r"shared memory is mapped \(anonymous\)",
        "m.close()",
    ),
    "shared memory": (
        (
            "import mmap; name = '/dev/shm/zeroin-test-%d' % os.getpid()\n"
            "with open(name, 'wb+') as f: f.truncate(4096); m = mmap.mmap(f.fileno(), 0)\nos.unlink(name)"
        ),
        r"shared memory is mapped \(/dev/shm/zeroin-test-\d+\)",
        "m.close()",
    ),
    "alarm": ("import signal; signal.alarm(100)", "an alarm is set", "signal.alarm(0)"),
    "timer": (
        "import signal; signal.setitimer(signal.ITIMER_PROF, 100)",
        "a timer is set",
        "signal.setitimer(signal.ITIMER_PROF, 0)",
    ),
    "numba": (
        "class Parallel: _is_initialized = True\nsys.modules['numba.np.ufunc.parallel'] = Parallel",
        "numba's threads have been started",
        "del sys.modules['numba.np.ufunc.parallel']",
    ),
    "another thread asks": (
        (
            "import threading; said = []\nreal = gate.check\n"
            "def ask():\n t = threading.Thread(target=lambda: said.append(real())); t.start(); t.join()\n"
            " return said[-1]\ngate.check = ask"
        ),
        "this is not the main thread",
        "gate.check = real",
    ),
}

# What doesn't forbid it.
ALLOWED = {
    "nothing": "pass",
    "a thread that has ended": "import threading; t = threading.Thread(target=int); t.start(); t.join()",
    "an executor without work": "from concurrent.futures import ThreadPoolExecutor; p = ThreadPoolExecutor()",
    "a child that has ended": "import subprocess; p = subprocess.Popen(['true']); p.wait()",
    "output of a child, read": (
        "import subprocess; p = subprocess.Popen(['echo', 'x'], stdout=subprocess.PIPE)\n"
        "p.stdout.read(); p.wait()"
    ),
    "sqlite in memory": (
        "import sqlite3; c = sqlite3.connect(':memory:'); c.execute('create table t (x)')"
    ),
    "files and folders": (
        "f = open('a', 'w'); g = open('a'); h = open('b', 'w+'); d = os.open('.', os.O_RDONLY)\n"
        "n = open(os.devnull); r = open('/dev/urandom', 'rb')"
    ),
    "a map of one's own": (
        "import mmap\nwith open('x', 'wb+') as f: f.truncate(4096)\n"
        "f = open('x', 'rb'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ)\n"
        "p = mmap.mmap(f.fileno(), 0, flags=mmap.MAP_PRIVATE)"
    ),
    "a lock for reading": (
        "import fcntl; open('x.h5', 'w').close(); f = open('x.h5'); fcntl.flock(f, fcntl.LOCK_SH)"
    ),
    "a closed socket": "import socket; socket.socket().close()",
    "a pipe and a pair to oneself": (
        "import socket; p = os.pipe(); a = socket.socketpair(); b = socket.socketpair(type=socket.SOCK_DGRAM)"
    ),
    "an asyncio loop": (
        "import asyncio; loop = asyncio.new_event_loop(); loop.run_until_complete(asyncio.sleep(0))"
    ),
    "locks of multiprocessing": "import multiprocessing as m; l = m.Lock(); r = m.RLock(); s = m.Semaphore(3)",
    "a queue of multiprocessing": "import multiprocessing as m; q = m.SimpleQueue(); p = m.Pipe()",
    "children and descriptors of our own": (
        "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()\n"
        "gate.our_descriptors.add(s.fileno()); r = os.pipe(); pid = os.fork()\n"
        "if not pid: os.close(r[1]); os.read(r[0], 1); os._exit(0)\n"
        "gate.our_children.add(pid)"
    ),
}


class TestForbidden:
    """Everything that a fork can't carry is seen, and named in words for the user."""

    @pytest.mark.parametrize("case", FORBIDDEN)
    def test_named_and_over_when_over(self, check, python, case):
        """It is named while it is there, and forgotten when it is gone."""
        before, reason, after = FORBIDDEN[case]
        program = f"{before}\ntell(gate.check())\n{after}\ntell(gate.check())"
        said, later = check(python, program)
        assert said
        assert re.fullmatch(reason, said)
        assert later is None

    def test_what_was_there_before(self, check, python):
        """What the program was started with belongs to its surroundings, and is let through."""
        r, w = os.pipe()
        try:
            assert check(python, "tell(gate.check())", pass_fds=(r,)) == [None]
        finally:
            os.close(r)
            os.close(w)


class TestAllowed:
    """What a fork can carry is not in the way."""

    @pytest.mark.parametrize("case", ALLOWED)
    def test_let_through(self, check, python, case):
        """No reason is given."""
        assert check(python, f"{ALLOWED[case]}\ntell(gate.check())") == [None]

    def test_within_a_loop(self, check, python):
        """A coroutine that runs doesn't forbid it: the loop's own sockets lead to itself."""
        program = "import asyncio\nasync def main(): tell(gate.check())\nasyncio.run(main())"
        assert check(python, program) == [None]

    def test_a_thread_that_is_about_to_end(self, check, python):
        """Right after `join` a thread may still be there for a moment: no reason to stop."""
        program = (
            "import threading\nfor _ in range(200):\n"
            " t = threading.Thread(target=int); t.start(); t.join()\n"
            " why = gate.check()\n if why: tell(why)"
        )
        assert check(python, program) == []


class TestManners:
    """It looks and leaves no trace."""

    def test_no_modules(self, check, python):
        """Only modules that are written in C are loaded by looking and capturing."""
        program = (
            "f = open('x', 'w'); p = os.pipe()\ngate.check(); carry.settle(carry.capture())\n"
            "new = set(sys.modules) - loaded\n"
            "tell([n for n in sorted(new) if getattr(sys.modules[n], '__file__', '') and "
            "not sys.modules[n].__file__.endswith('.so') and not n.startswith('_zeroin_agent')])"
        )
        assert check(python, program) == [[]]

    def test_no_descriptors(self, check, python):
        """It closes what it opens, whatever it finds."""
        program = (
            "import socket, mmap, threading; s = socket.socketpair(); m = mmap.mmap(-1, 4096)\n"
            "e = threading.Event(); t = threading.Thread(target=e.wait); t.start()\n"
            "gate.check(); before = os.listdir('/proc/self/fd')\n"
            "for _ in range(50): gate.check()\n"
            "tell(before == os.listdir('/proc/self/fd')); e.set(); t.join(); m.close()\n"
            "gate.check(); before = os.listdir('/proc/self/fd')\n"
            "for _ in range(50): gate.check(); carry.settle(carry.capture())\n"
            "tell(before == os.listdir('/proc/self/fd'))"
        )
        assert check(python, program) == [True, True]

    def test_quick(self, check, python):
        """An ordinary process is looked at in well under a millisecond."""
        program = (
            "import time; gate.check(); took = []\n"
            "for _ in range(100):\n s = time.perf_counter(); gate.check()\n"
            " took.append(time.perf_counter() - s)\ntell(sorted(took)[10])"
        )
        (seconds,) = check(python, program)
        assert seconds < 0.001


LIBRARIES = {
    "numpy": ("import numpy as n; a = n.ones((900, 900)); a @ a", None),
    "pandas": ("import pandas as p; p.DataFrame({'a': range(9)}).groupby('a').sum()", None),
    "torch": ("import torch; a = torch.ones(900, 900); a @ a; a.exp()", None),
    "sklearn": (
        "import sklearn.cluster as c, numpy as n; c.KMeans(3, n_init=1).fit(n.random.rand(5000, 5))",
        None,
    ),
    "pyarrow": (
        (
            "import pyarrow as pa, pyarrow.parquet as q; t = pa.table({'a': list(range(99999))})\n"
            "q.write_table(t, 'x.pq'); q.read_table('x.pq', use_threads=True)"
        ),
        None,
    ),
    "duckdb": (
        "import duckdb; c = duckdb.connect(); c.execute('select 1 from range(9)').fetchall()",
        "a thread of duckdb is running",
    ),
    "polars": (
        "import polars as p; p.DataFrame({'a': [1]}).lazy().group_by('a').agg(p.len()).collect()",
        "a thread of polars.* is running",
    ),
    "cv2": (
        "import cv2, numpy as n; cv2.GaussianBlur(n.ones((3000, 3000, 3), n.uint8), (31, 31), 3)",
        "a thread of cv2 is running",
    ),
    "numba": (
        (
            "import numba, numpy as n\n@numba.njit(parallel=True)\ndef f(x):\n s = 0.\n"
            " for i in numba.prange(len(x)): s += x[i]\n return s\n"
            "f.__module__ = 'm'; f(n.ones(99999))"
        ),
        "numba's threads have been started|a thread of .* is running",
    ),
}


HEAVY = {"torch": "torch", "sklearn": "scikit-learn", "numba": "numba", "cv2": "opencv"}
HEAVY |= {"polars": "polars", "duckdb": "duckdb"}
ROWS = [
    pytest.param(name, marks=heavy(HEAVY[name])) if name in HEAVY else name for name in LIBRARIES
]


@pytest.mark.slow
class TestLibraries:
    """Whose a thread is, is found out from the thread, for libraries as they are installed."""

    @pytest.mark.parametrize("name", ROWS)
    def test_owner(self, check, libs, name):
        """Pools that survive a fork, or can be paused, are let through; others are named."""
        program, reason = LIBRARIES[name]
        module = name.partition(",")[0]
        ask = f"from importlib.util import find_spec; raise SystemExit(not find_spec({module!r}))"
        if subprocess.run([libs, "-c", ask], check=False).returncode:
            pytest.skip(f"{module} is not among the libraries")
        file = f"program_{module}.py"
        said = check(
            libs,
            f"open({file!r}, 'w').write({program!r})\nexec(compile({program!r}, {file!r}, 'exec'))\ntell(gate.check())",
        )
        assert said == [None] if reason is None else re.fullmatch(reason, said[0])

    @heavy("torch")
    def test_there_are_threads(self, check, libs):
        """The libraries above do have threads beside the main one: the test means something."""
        program = "import torch; a = torch.ones(900, 900); a @ a; tell(len(os.listdir('/proc/self/task')))"
        assert check(libs, program)[0] > 1

    @heavy("torch")
    def test_cant_be_paused(self, check, libs):
        """Without `_ctypes` OpenMP can't be paused, so its threads forbid the fork."""
        program = "import torch; torch.ones(900, 900).exp()\nsys.modules['_ctypes'] = None\ntell(gate.check())"
        assert check(libs, program) == ["threads of libgomp are running, and can't be paused"]
