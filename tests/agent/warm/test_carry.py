"""A program that was frozen and thawed goes on as the first one did, on every interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

from left_out import heavy

START = "from harness import snapshot, carry, gate, tell\nimport os, sys\n"

# Programs whose rest must print the same when it is resumed as when it ran first.
SAME = {
    "random with a seed": """
import random
random.seed(7); random.random()
snapshot()
print(random.random(), random.gauss(0, 1))
""",
    "random without a seed": """
import random
random.random()
snapshot()
print([random.random() for _ in range(3)])
""",
    "a file being read": """
with open("in.txt", "w") as f: f.writelines("line %d\\n" % n for n in range(5000))
f = open("in.txt"); next(f); g = os.open("in.txt", os.O_RDONLY); os.read(g, 7)
snapshot()
print(next(f), os.read(g, 7), len(f.read()), os.lseek(g, 0, 1))
""",
    "a folder being read": """
for n in range(2000): open("f" * 80 + str(n), "w").close()
entries = os.scandir("."); next(entries)
snapshot()
print(len(list(entries)))
""",
    "two descriptors with one offset": """
f = os.open("out.txt", os.O_RDWR | os.O_CREAT); g = os.dup(f); os.write(f, b"abc")
h = os.open("out.txt", os.O_RDONLY); os.lseek(h, 3, 0)
snapshot()
os.write(f, b"def"); os.write(g, b"ghi")
print(os.lseek(f, 0, 1), os.lseek(g, 0, 1), os.lseek(h, 0, 1), open("out.txt").read())
""",
    "what children inherit": """
f = os.open("out.txt", os.O_RDWR | os.O_CREAT); g = os.dup(f); os.set_inheritable(g, True)
snapshot()
print([os.get_inheritable(n) for n in (0, 1, 2, f, g)])
""",
    "a file being written": """
f = open("out.txt", "w"); f.write("one\\n"); f.flush(); f.write("two\\n")
snapshot()
f.write("three\\n"); f.close()
print(open("out.txt").read())
""",
    "a file being added to": """
with open("out.txt", "w") as f: f.write("zero\\n")
f = open("out.txt", "a"); f.write("one\\n"); f.flush()
snapshot()
f.write("two\\n"); f.close()
print(open("out.txt").read())
""",
    "a file changed in its middle": """
f = open("out.bin", "w+b"); f.write(b"abcdef"); f.seek(2); f.flush()
snapshot()
print(f.read(2)); f.seek(0); f.write(b"XYZ"); f.flush()
print(open("out.bin", "rb").read())
""",
    "a large file being added to": """
f = open("out.bin", "wb"); f.write(b"x" * 3000000); f.flush()
snapshot()
f.write(b"rest"); f.close()
print(os.path.getsize("out.bin"))
""",
    "a temporary file without a name": """
import tempfile
f = tempfile.TemporaryFile(); f.write(b"one"); f.flush()
snapshot()
f.write(b"two"); f.seek(0); print(f.read())
""",
    "tempfile": """
import tempfile
first = tempfile.mkstemp(dir=".")[1]
snapshot()
other = tempfile.mkstemp(dir=".")[1]
print(first != other, os.path.exists(first), os.path.exists(other))
""",
    "logging": """
import logging
logging.basicConfig(filename="out.log", level="INFO", format="%(message)s")
logging.info("before")
snapshot()
logging.info("after")
logging.shutdown()
print(open("out.log").read())
""",
    "atexit": """
import atexit
atexit.register(print, "at the end")
snapshot()
print("done")
""",
    "gc": """
import gc
kept = [[n] for n in range(10000)]
snapshot()
print(gc.get_freeze_count() < 1000, gc.is_tracked(kept), gc.isenabled(), any(o is kept for o in gc.get_objects()))
""",
    "gc, frozen by the program": """
import gc
kept = [[n] for n in range(10000)]; gc.freeze()
snapshot()
print(gc.get_freeze_count() > 10000)
""",
    "the process's place": """
snapshot()
print(os.getpgrp(), os.getsid(0), os.getcwd(), open("/proc/self/oom_score_adj").read())
""",
    "signals": """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("usr1"))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
snapshot()
os.kill(os.getpid(), signal.SIGUSR1)
print(signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.getsignal(signal.SIGINT))
try: os.kill(os.getpid(), signal.SIGINT); print("not interrupted")
except KeyboardInterrupt: print("interrupted")
""",
    "an asyncio loop that runs": """
import asyncio
async def main():
    loop = asyncio.get_running_loop(); ready = asyncio.Event()
    await asyncio.sleep(0)
    snapshot()
    print(asyncio.get_running_loop() is loop)
    loop.call_soon_threadsafe(ready.set)
    await ready.wait()
    print(await asyncio.wait_for(loop.run_in_executor(None, int), 30))
    process = await asyncio.create_subprocess_exec("echo", "x", stdout=-1)
    print(await process.communicate())
asyncio.run(main())
""",
    "an asyncio loop that waits": """
import asyncio
loop = asyncio.new_event_loop(); asyncio.set_event_loop(loop)
loop.run_until_complete(asyncio.sleep(0))
snapshot()
print(loop.run_until_complete(asyncio.sleep(0.001, "slept")), asyncio.get_event_loop() is loop)
loop.close()
""",
    "pipes and pairs to oneself": """
import socket
r, w = os.pipe(); a, b = socket.socketpair(); a.setblocking(False)
snapshot()
os.write(w, b"xz"); b.send(b"yz")
print(os.read(r, 1), a.recv(1), a.type, [os.get_blocking(s.fileno()) for s in (a, b)])
""",
    "locks of multiprocessing": """
import multiprocessing as m
held, free = m.Lock(), m.Lock(); held.acquire()
snapshot()
print(held.acquire(False), free.acquire(False)); held.release(); print(held.acquire(False))
""",
    "processes of multiprocessing": """
import multiprocessing as m
m = m.get_context("fork")
def work(q, n): q.put(n * n)
queue = m.SimpleQueue(); made = m.Process(target=work, args=(queue, 3))
snapshot()
made.start(); made.join(); print(made.exitcode, queue.get())
with m.Pool(2) as pool: print(pool.map(abs, [-1, 2]))
""",
    "what multiprocessing tidies up": """
from multiprocessing import util
util.Finalize(None, print, args=("tidied up",), exitpriority=1)
snapshot()
print("done")
""",
    "a child that has ended": """
import subprocess
p = subprocess.Popen(["sh", "-c", "echo x; exit 3"], stdout=subprocess.PIPE); p.wait(); p.stdout.read()
snapshot()
print(p.wait(), p.stdout.read(), subprocess.run(["echo", "y"], stdout=subprocess.PIPE).stdout)
""",
    "sqlite in memory": """
import sqlite3
c = sqlite3.connect(":memory:"); c.execute("create table t (x)"); c.execute("insert into t values (1)")
snapshot()
c.execute("insert into t values (2)"); print(c.execute("select * from t").fetchall())
""",
    "a lock for reading": """
import fcntl
open("x.h5", "w").close(); f = open("x.h5"); fcntl.flock(f, fcntl.LOCK_SH)
snapshot()
print("FLOCK" in open("/proc/self/fdinfo/%d" % f.fileno()).read())
""",
    "standard output under other numbers": """
import sys
other = os.dup(1); file = os.fdopen(os.dup(1), "w")
snapshot()
os.write(other, b"one\\n"); print("two", file=file, flush=True); print("three")
""",
    "an open that asks for no update of times": """
f = os.open("in.txt", os.O_RDWR | os.O_CREAT | os.O_NOATIME | os.O_APPEND); os.write(f, b"abc")
snapshot()
os.lseek(f, 0, 0); os.write(f, b"def"); print(open("in.txt").read())
""",
}


class TestGoesOn:
    """After the thaw everything is as it was when the snapshot was taken."""

    @pytest.mark.parametrize("case", SAME)
    def test_the_same(self, freeze, python, case):
        """The rest of the program prints what it printed the first time."""
        story = freeze(python, START + SAME[case])
        assert story.first.code == 0, story.first.err
        assert story.rest
        assert story.goes_on(), story

    def test_again_and_again(self, freeze, python):
        """A snapshot can be resumed any number of times; each time it begins from the same."""
        program = SAME["a file being written"] + "import random; print(random.random())"
        story = freeze(python, START + "import random\n" + program, times=3)
        assert story.told == ["exit: 0"] * 3
        assert story.again.out == story.rest * 3

    def test_from_a_resumed_one(self, freeze, python):
        """A resumed program can be frozen again: its files, pairs, locks and wires are its own."""
        program = """
import multiprocessing as m, random, socket
a, b = socket.socketpair(); lock = m.Lock(); f = open("out.txt", "w"); f.write("1"); f.flush()
snapshot()
for text in "23":
    f.write(text); f.flush(); random.random()
    assert gate.check() is None, gate.check()
    state = carry.capture()
    assert state.reason is None, state.reason
    pid = os.fork()
    if pid:
        carry.settle(state)
        assert os.waitpid(pid, 0)[1] == 0
        print("first goes on", f.write("!"), f.close())
        break
    out = os.dup(1), os.dup(2)
    carry.freeze(state)
    assert carry.thaw(state, *out) is None
    os.close(out[0]); os.close(out[1])
    a.send(b"x"); assert b.recv(1) == b"x"
    lock.acquire(); lock.release()
    print(text, os.fstat(f.fileno()).st_size, random.random())
else:
    f.close()
print(open("out.txt").read())
"""
        story = freeze(python, START + program)
        assert story.first.code == 0, story.first.err
        assert sorted(story.rest.splitlines()) == sorted(story.again.out.splitlines())
        assert "3 3" in story.again.out

    def test_standard_input(self, freeze, python, tmp_path):
        """A file on standard input is read on from where it was."""
        (tmp_path / "given.txt").write_text("".join(f"line {n}\n" for n in range(3000)))
        program = "print(input(), os.read(0, 3))\nsnapshot()\nprint(os.read(0, 7), input())"
        story = freeze(python, START + program, stdin=tmp_path / "given.txt")
        assert story.goes_on(), story

    def test_standard_input_is_a_pipe(self, freeze, python):
        """A pipe on standard input is there again, with what nobody has read."""
        r, w = os.pipe()
        os.write(w, b"one\ntwo\n")
        os.close(w)
        program = (
            "print(os.read(0, 4)); other = os.dup(0)\n"
            "if snapshot() == 'again': print(os.read(0, 2), os.read(other, 2))"
        )
        story = freeze(python, START + program, stdin=r)
        assert story.rest == ""
        assert story.again.out == "b'tw' b'o\\n'\n"

    def test_standard_error_where_output_was(self, freeze, python):
        """A program that sent its output to its errors goes on doing so."""
        story = freeze(python, START + "os.dup2(2, 1)\nsnapshot()\nprint('text', flush=True)")
        assert (story.again.out, story.again.err) == ("", "text\n")

    def test_output_to_a_file(self, freeze, python, tmp_path):
        """A program that sent its output to a file goes on there."""
        program = (
            "f = open('out.txt', 'w'); os.dup2(f.fileno(), 1); print('one', flush=True)\n"
            "snapshot()\nprint('two', flush=True); f.write('three'); f.flush()"
        )
        story = freeze(python, START + program)
        assert story.again.out == ""
        assert (tmp_path / "out.txt").read_text() == "one\n---\ntwo\nthree"


class TestBuffers:
    """What was printed before is printed once."""

    def test_python(self, freeze, python):
        """Nothing that waited in a buffer at the fork comes twice, or is lost."""
        program = "print('begun, ', end='')\nwho = snapshot()\nprint('ended')"
        story = freeze(python, START + program)
        assert story.first.out == "begun, ---\nended\n"
        assert story.again.out == "ended\n"

    def test_c(self, freeze, python):
        """What a C library still holds goes along, and comes when it would have come."""
        program = (
            "import ctypes; c = ctypes.CDLL(None); c.printf(b'from C\\n')\n"
            "snapshot()\nc.printf(b'more\\n'); c.fflush(None)"
        )
        story = freeze(python, START + program)
        assert story.first.out == "---\nfrom C\nmore\n"
        assert story.again.out == "from C\nmore\n"

    def test_nothing_is_flushed(self, freeze, python):
        """What waits in a buffer comes no sooner for being snapshot: order is the program's."""
        program = "import os\nsnapshot()\nprint('late')\nsnapshot()\nos.write(1, b'first ')"
        story = freeze(python, START + program.replace("\nsnapshot()\nos", "\nos"))
        assert story.again.out == "first late\n"

    def test_a_stream_of_the_users(self, freeze, python):
        """Streams are not touched: their code would run unasked. (The one flush is the test's.)"""
        program = """
class Stream:
    def write(self, text): return os.write(1, text.encode())
    def flush(self): os.write(1, b"flushed by somebody\\n")
sys.stdout = Stream()
snapshot()
os.write(1, b"done\\n"); sys.stdout = sys.__stdout__
"""
        story = freeze(python, START + program)
        assert story.first.out == "---\nflushed by somebody\ndone\n"
        assert story.again.out == "done\n"


class TestFrozen:
    """What a snapshot is while it waits."""

    def test_out_of_the_way(self, freeze, python, tmp_path):
        """It has a group of its own, leads to no wire, and is the first to go without memory."""
        seen = {}

        def look():
            pid = int((tmp_path / "snapshot.pid").read_text())
            seen["group"] = os.getpgid(pid) == pid
            seen["wires"] = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1, 2, 200)]
            seen["oom"] = Path(f"/proc/{pid}/oom_score_adj").read_text().strip()

        # A number that no line of the harness has.
        story = freeze(python, START + "os.dup2(1, 200)\nsnapshot()\nprint('x')", between=look)
        assert seen == {"group": True, "wires": ["/dev/null"] * 4, "oom": "900"}
        assert story.goes_on()

    def test_deaf(self, freeze, python, tmp_path):
        """Signals reach neither it nor, later, the resumed program; no handler runs in it."""
        program = """
import signal
for n in (signal.SIGUSR1, signal.SIGTERM): signal.signal(n, lambda *_: tell("handled"))
snapshot()
print("fine")
"""

        def disturb():
            pid = int((tmp_path / "snapshot.pid").read_text())
            for name in ("INT", "QUIT", "TSTP", "HUP", "USR1", "TERM", "ALRM"):
                os.kill(pid, getattr(signal, f"SIG{name}"))

        story = freeze(python, START + program, between=disturb)
        assert story.goes_on(), story

    def test_deaf_until_thawed(self, freeze, python):
        """A signal that came before the thaw is forgotten; one that comes after is heard."""
        program = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: print("handled", flush=True))
state = carry.capture()
pid = os.fork()
if not pid:
    out = os.dup(1)
    carry.freeze(state)
    os.kill(os.getpid(), signal.SIGUSR1)
    assert carry.thaw(state, out, 2) is None
    print("thawed"); os.kill(os.getpid(), signal.SIGUSR1)
    os._exit(0)
carry.settle(state)
os.waitpid(pid, 0)
"""
        assert freeze(python, START + program).first.out == "thawed\nhandled\n"

    def test_holds_no_lock(self, freeze, python, tmp_path):
        """A lock for reading is not kept by a snapshot: others may write meanwhile."""
        import fcntl  # noqa: PLC0415

        held = []

        def lock():
            with open(tmp_path / "x.h5", "a") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.append(True)

        story = freeze(python, START + SAME["a lock for reading"], between=lock)
        assert held == [True]
        assert story.goes_on()

    def test_ends_without_a_word(self, freeze, python):
        """It never runs what the program has registered for its end."""
        program = "import atexit; atexit.register(tell, 'ended')\nsnapshot()"
        story = freeze(python, START + program, times=0)
        assert story.told == ["ended"]  # the first run's own

    def test_closed_before_the_fork(self, freeze, python):
        """What a library's thread closes after the look is not opened again: it was closed.

        Nor is what was opened under its number since then taken for it.
        """
        program = """
names = ("gone.txt", "other.txt", "kept.txt")
gone, other, kept = (os.open(name, os.O_RDWR | os.O_CREAT) for name in names)
for one in (gone, other, kept): os.write(one, b"text")
r = [os.open(name, os.O_RDONLY) for name in names]
for one in (gone, other, kept): os.close(one)
os.read(r[2], 2)
state = carry.capture()
os.close(r[0]); os.dup2(r[2], r[1])
pid = os.fork()
if not pid:
    out = os.dup(1)
    carry.freeze(state)
    why = carry.thaw(state, out, 2)
    names = [os.readlink("/proc/self/fd/%d" % fd).rpartition("/")[2] for fd in r[1:]]
    print(why, os.path.exists("/proc/self/fd/%d" % r[0]), *names, os.read(r[2], 2).decode())
    sys.stdout.flush()
    os._exit(0)
carry.settle(state)
os.waitpid(pid, 0)
"""
        story = freeze(python, START + program)
        assert (story.first.out, story.first.err) == ("None False kept.txt kept.txt xt\n", "")


class TestSettle:
    """The program itself goes on undisturbed."""

    def test_signals_wait(self, freeze, python):
        """A Ctrl-C that comes during the fork is heard by the program, not by the snapshot."""
        program = """
import signal
state = carry.capture()
os.kill(os.getpid(), signal.SIGINT)
pid = os.fork()
if not pid:
    carry.freeze(state)
    thawed = carry.thaw(state, 1, 2)
    os._exit(0 if thawed is None else 1)
try: carry.settle(state); print("not interrupted")
except KeyboardInterrupt: print("interrupted")
print(os.waitpid(pid, 0)[1], signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
        story = freeze(python, START + program)
        assert story.first.out == "interrupted\n0 set()\n"

    def test_refused(self, freeze, python):
        """What the gate would refuse, `capture` refuses too, and the signals come back."""
        program = """
import signal, socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
state = carry.capture(); carry.settle(state)
print(state.reason, signal.pthread_sigmask(signal.SIG_BLOCK, []))
"""
        assert freeze(python, START + program).first.out == "a socket is open set()\n"


LARGE = "f = open('out.bin', 'wb'); f.write(b'x' * 3000000); f.flush()\nsnapshot()\n"
SMALL = "f = open('out.txt', 'w'); f.write('one'); f.flush()\nsnapshot()\n"

# What the program or somebody else did to a file after the snapshot, and what is said then.
SPOILT = {
    "gone": (SMALL + "os.unlink('out.txt')", "out.txt was being written, and is gone"),
    "replaced": (
        SMALL + "open('new', 'w').close(); os.replace('new', 'out.txt')",
        "out.txt was being written, and is another file now",
    ),
    "shorter": (SMALL + "f.truncate(1)", "out.txt was being written, and is shorter now"),
    "large and changed": (
        LARGE + "f.seek(0); f.write(b'Y'); f.flush()",
        "out.bin was written to, not only at its end",
    ),
    "large and random": (
        LARGE.replace("f.flush()", "f.flush(); f.seek(1500000)") + "f.write(b'Y'); f.flush()",
        "out.bin was written to, not only at its end",
    ),
}


class TestSpoilt:
    """A file that can't be put back makes the snapshot unusable, and it is said why."""

    @pytest.mark.parametrize("case", SPOILT)
    def test_said(self, freeze, python, case):
        """The reason names the file; nothing of the program is run."""
        program, reason = SPOILT[case]
        story = freeze(python, START + program)
        assert story.first.code == 0, story.first.err
        assert story.told == [f"thaw: {reason}", "exit: 0"]
        assert story.again.out == ""


LIBRARIES = {
    "numpy": "import numpy as n; a = n.ones((900, 900)); a @ a\nsnapshot()\nprint((a @ a).sum(), n.random.rand() < 1)",
    "numpy.random": "import numpy as n; n.random.seed(3); g = n.random.default_rng()\nsnapshot()\nprint(n.random.rand(), g.random())",
    "torch": """
import torch
torch.manual_seed(1); a = torch.ones(900, 900); a @ a; a.exp()
snapshot()
print((a @ a).sum().item(), a.exp().sum().item(), torch.rand(1).item(), torch.get_num_threads())
print(len(os.listdir("/proc/self/task")) >= torch.get_num_threads())
w = torch.ones(9, requires_grad=True); (w * 2).sum().backward(); print(w.grad)
""",
    "sklearn": """
import sklearn.cluster as c, numpy as n
x = n.random.RandomState(0).rand(5000, 5); c.KMeans(3, n_init=1, random_state=0).fit(x)
snapshot()
print(c.KMeans(3, n_init=1, random_state=0).fit(x).inertia_)
""",
    "pyarrow": """
import pyarrow as pa, pyarrow.parquet as q
t = pa.table({"a": list(range(99999)), "b": list(range(99999))}); q.write_table(t, "x.pq"); q.read_table("x.pq")
snapshot()
print(q.read_table("x.pq", use_threads=True).num_rows, t.group_by("a").aggregate([("b", "sum")]).num_rows)
""",
    "tqdm": """
import tqdm, threading
bar = tqdm.tqdm(total=3, file=open(os.devnull, "w")); bar.update()
snapshot()
bar.update(); print(bar.n, threading.active_count(), type(bar).monitor.is_alive())
bar.close(); print(list(tqdm.tqdm(range(2), file=open(os.devnull, "w"))))
""",
}


HEAVY = {"torch": "torch", "sklearn": "scikit-learn"}
ROWS = [
    pytest.param(name, marks=heavy(HEAVY[name])) if name in HEAVY else name for name in LIBRARIES
]


@pytest.mark.slow
class TestLibraries:
    """Real libraries work on in the resumed program, with their threads."""

    @pytest.mark.parametrize("name", ROWS)
    def test_goes_on(self, freeze, libs, name):
        """It neither hangs nor computes something else."""
        module = name.partition(".")[0]
        ask = f"from importlib.util import find_spec; raise SystemExit(not find_spec({module!r}))"
        asked = subprocess.run([libs, "-c", ask], check=False)
        if asked.returncode:
            pytest.skip(f"{module} is not among the libraries")
        story = freeze(libs, START + LIBRARIES[name])
        assert story.first.code == 0, story.first.err
        assert story.goes_on(), story
