"""`zeroin leak`: real leaks of all kinds, who holds them, and no leak where there is none."""

from __future__ import annotations

import json

import pytest

from left_out import heavy
from zeroin.cycle import Cycle
from zeroin.tools.leak import Asked
from zeroin.tools.leak import leak as run_leak
from zeroin.tools.run import Options

LOOP = "\n\nfor number in range(60):\n    step(number)\n"
LEAKS = {
    "global list": "history = []\n\n\ndef step(n):\n    history.append(bytearray(100_000))\n",
    "closure": (
        "def make():\n    seen = []\n\n    def keep(n):\n        seen.append(bytearray(100_000))\n\n"
        "    return keep\n\n\nstep = make()\n"
    ),
    "class attribute": (
        "class Registry:\n    items = {}\n\n\ndef step(n):\n    Registry.items[n] = bytearray(100_000)\n"
    ),
    "instance": (
        "class Cart:\n    def __init__(self):\n        self.kept = []\n\n\ncart = Cart()\n\n\n"
        "def step(n):\n    cart.kept.append(bytearray(100_000))\n"
    ),
    "cache": (
        "import functools\n\n\n@functools.lru_cache(maxsize=None)\ndef step(n):\n"
        "    return bytearray(100_000)\n"
    ),
    "default": "def step(n, seen={}):\n    seen[n] = bytearray(100_000)\n",
    "traceback": (
        "errors = []\n\n\ndef fail():\n    big = bytearray(100_000)\n    raise ValueError(len(big))\n\n\n"
        "def step(n):\n    try:\n        fail()\n    except ValueError as error:\n        errors.append(error)\n"
    ),
}
HELD = {
    "global list": ("list", ["module __main__", "history"]),
    "closure": (
        "list",
        ["module __main__", "step", "'seen' in the closure of make.<locals>.keep()"],
    ),
    "class attribute": ("dict", ["class __main__.Registry", "['items']"]),
    "instance": ("list", ["module __main__", "cart", ".kept of a Cart"]),
    "default": ("dict", ["module __main__", "step", "a default of step()"]),
    "traceback": ("list", ["module __main__", "errors"]),
}


@pytest.fixture
def leak(zeroin, project):
    def call(*words: str, code: int = 1, timeout: float = 100):
        done = zeroin("leak", "--json", *words, cwd=project, timeout=timeout)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    return call


def slope(found, key="in_use") -> float:
    return next(one["slope"] for one in found["trends"] if one["of"] == key)


@pytest.mark.parametrize("kind", LEAKS)
def test_who_holds_it(leak, project, kind):
    """How much, what repeats, the line that allocates, and the name that holds."""
    (project / "grow.py").write_text(LEAKS[kind] + LOOP)
    found = leak("--", "python", "grow.py")
    assert (found["verdict"], found["grown"]) == ("leaks", ["in_use"])
    assert 100_000 <= slope(found) < 104_000
    assert (found["place"]["kind"], found["place"]["times"]) == ("loop", 60)
    site = found["who"]["sites"][0]
    text = (project / "grow.py").read_text().splitlines()[site["line"] - 1]
    assert "bytearray(100_000)" in text
    first = found["who"]["containers"][0]
    if kind == "cache":
        assert (first["type"], first["name"]) == ("functools._lru_cache_wrapper", "step")
        return
    assert first["items"] == 1
    where, held = HELD[kind]
    assert first["type"] == where
    assert first["held"] == held or (kind == "instance" and first["held"][:2] == held[:2])


THREADS = """\
import threading

kept = []


def work():
    for n in range(100):
        kept.append(bytearray(100_000))


threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""
LOCAL = """\
def work():
    mine = []
    for n in range(60):
        mine.append(bytearray(100_000))


work()
"""
COROUTINES = """\
import asyncio

kept = {}


async def handle(n):
    kept[n] = bytearray(100_000)
    await asyncio.sleep(0)


async def main():
    for n in range(60):
        await handle(n)


asyncio.run(main())
"""
INSIDE = {
    "threads": (THREADS, ["module __main__", "kept"]),
    "a local variable": (LOCAL, ["local of work()", "mine"]),
    "coroutines": (COROUTINES, ["module __main__", "kept"]),
}


@pytest.mark.parametrize("kind", INSIDE)
def test_wherever_it_repeats(leak, project, kind):
    """In threads, in a running function, in coroutines."""
    text, held = INSIDE[kind]
    (project / "grow.py").write_text(text)
    found = leak("--", "python", "grow.py")
    # Of several threads, others are amid a repetition when one is counted.
    assert 80_000 <= slope(found) < 120_000
    assert found["who"]["containers"][0]["held"] == held


def test_objects_of_strangers_are_left_alone(leak, project):
    """No code of theirs is run: neither their length, nor their attributes, nor their repr."""
    text = (
        "class Evil:\n    def __len__(self):\n        raise KeyboardInterrupt\n\n"
        "    def __getattribute__(self, name):\n        raise SystemExit(9)\n\n"
        "    def __repr__(self):\n        raise KeyboardInterrupt\n\n"
        "    def __eq__(self, other):\n        raise SystemExit(8)\n\n"
        "    __hash__ = None\n\n\nkept = []\n\n\n"
        "def step(n):\n    kept.append([Evil(), bytearray(100_000)])\n"
    )
    (project / "evil.py").write_text(text + LOOP)
    found = leak("--", "python", "evil.py")
    assert found["who"]["containers"][0]["held"] == ["module __main__", "kept"]


def test_each_interpreter_is_looked_into(leak, project, python):
    """From 3.9 on."""
    (project / "grow.py").write_text(LEAKS["closure"] + LOOP)
    found = leak("--", python, "grow.py")
    assert found["who"]["containers"][0]["held"][-1].startswith("'seen' in the closure of")
    assert 100_000 <= slope(found) < 104_000


LOOPS = """\
import asyncio

kept = []


async def work():
    waiting = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(waiting.set_result, None)
    await waiting
    kept.append(bytearray(100_000))


for number in range(60):
    asyncio.run(work())
"""


def test_event_loops_can_be_looked_into(leak, project, python):
    """The look comes back: on 3.12 it once broke the free list of `_asyncio`, and hung for good."""
    (project / "loops.py").write_text(LOOPS)
    found = leak("--", python, "loops.py")
    assert found["who"]["containers"][0]["held"] == ["module __main__", "kept"]


STUCK = """import gc
import threading
import tracemalloc

kept = []


def wait(phase, info):
    if tracemalloc.is_tracing():
        threading.Event().wait()


gc.disable()
gc.callbacks.append(wait)
for number in range(60):
    kept.append(bytearray(100_000))
"""


def test_a_look_that_hangs_is_ended(zeroin, project):
    """A process that gives no answer is ended, and what the first run has found is told."""
    (project / "stuck.py").write_text(STUCK)
    searches = []
    asked = Asked(look=lambda until: None, progress=lambda *one: searches.append(one), patience=1)
    cycle = Cycle(["python", "stuck.py"], str(project), timeout=100)
    found = run_leak(cycle, asked, Options(record=False, brief=True), zeroin.env)
    assert (found.verdict, found.who, found.reason) == ("leaks", None, "silent")
    assert searches  # it was told that the search had begun


def test_searches_are_counted(zeroin, project):
    """While holders are looked for, how many searches are done is told, and how many there are."""
    (project / "grow.py").write_text(LEAKS["global list"] + LOOP)
    told = []
    asked = Asked(look=lambda until: None, progress=lambda *one: told.append(one))
    cycle = Cycle(["python", "grow.py"], str(project), timeout=100)
    run_leak(cycle, asked, Options(record=False, brief=True), zeroin.env)
    assert any(done < of for done, of in told)
    assert all(done <= of for done, of in told)


def test_files_and_threads_that_are_left(leak, project):
    """Counted, and named."""
    text = "kept = []\n\n\ndef step(n):\n    kept.append(open('train.py'))\n"
    (project / "files.py").write_text(text + LOOP)
    found = leak("--", "python", "files.py")
    assert ("fds" in found["grown"], slope(found, "fds")) == (True, 1.0)
    assert set(found["who"]["fds"]) == {str(project / "train.py")}
    text = (
        "import threading\n\nstop = threading.Event()\n\n\ndef step(n):\n"
        "    threading.Thread(target=stop.wait, name='waits', daemon=True).start()\n"
    )
    (project / "waits.py").write_text(text + LOOP.replace("60", "30"))
    found = leak("--", "python", "waits.py")
    assert slope(found, "threads") == 1.0
    assert found["who"]["threads"][0].startswith("waits")


def test_memory_that_no_object_has(zeroin, project):
    """Asked for by compiled code."""
    text = (
        "import ctypes\n\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\n\n\n"
        "def step(n):\n    libc.malloc(100_000)\n"
    )
    (project / "native.py").write_text(text + LOOP)
    done = zeroin("leak", "--", "python", "native.py", cwd=project)
    assert done.returncode == 1
    assert done.stderr.splitlines()[1].startswith("leak: 100 KB each time")
    assert (
        "each time were asked for by compiled code, and no object of Python's has them"
        in done.stderr
    )


FINE = {
    "temporaries": "def step(n):\n    return len([bytearray(1_000_000) for _ in range(10)])\n",
    "small objects": "def step(n):\n    return len([{'a': i} for i in range(20_000)])\n",
    "a bounded cache": (
        "import functools\n\n\n@functools.lru_cache(maxsize=4)\ndef step(n):\n    return bytes(100_000)\n"
    ),
    "a ring": (
        "import collections\n\nlast = collections.deque(maxlen=3)\n\n\ndef step(n):\n"
        "    last.append(bytearray(1_000_000))\n"
    ),
}


@pytest.mark.parametrize("kind", FINE)
def test_no_leak(leak, project, kind):
    """However much is used in between."""
    (project / "fine.py").write_text(FINE[kind] + LOOP)
    found = leak("--", "python", "fine.py", code=0)
    assert (found["verdict"], found["who"]) == ("steady", None)


def test_a_cache_that_fills_up(leak, project):
    """It has an end, and the growth had one as well."""
    text = "cache = {}\n\n\ndef step(n):\n    cache[n % 40] = bytearray(100_000)\n"
    (project / "fills.py").write_text(text + LOOP)
    assert leak("--", "python", "fills.py", code=0)["verdict"] == "fills"


def test_garbage_in_cycles(leak, project):
    """It is no leak as long as the collector is on; and one if it is off."""
    text = (
        "class Node:\n    def __init__(self):\n        self.me = self\n"
        "        self.data = bytearray(100_000)\n\n    def __del__(self):\n        pass\n\n\n"
        "def step(n):\n    Node()\n"
    )
    (project / "cycles.py").write_text(text + LOOP)
    found = leak("--", "python", "cycles.py", code=0)
    assert (found["verdict"], found["who"]["cycles"][0]["type"]) == ("cycles", "__main__.Node")
    (project / "off.py").write_text("import gc\n\ngc.disable()\n\n\n" + text + LOOP)
    found = leak("--", "python", "off.py")
    assert (found["verdict"], found["who"]["gc"]) == ("leaks", False)
    assert found["who"]["cycles"][0] == {"type": "__main__.Node", "more": 1.0}


def test_cycles_that_only_seem_to_fill_a_cache(leak, project):
    """Garbage that grew for most of the time is told by what it is."""
    text = (
        "class Node:\n    pass\n\n\ndef step(n):\n    node = Node()\n    node.me = node\n"
        "    node.data = bytearray(100_000 if n < 40 else 1)\n"
    )
    (project / "fills.py").write_text(text + LOOP)
    assert leak("--quick", "--", "python", "fills.py", code=0)["verdict"] == "fills"
    assert leak("--", "python", "fills.py", code=0)["verdict"] == "cycles"


CHILDREN = """\
import os, subprocess, sys
kept = []
for number in range(20):
    if sys.argv[1] == "fork":
        if os.fork() == 0:
            os._exit(0)
    else:
        kept.append(subprocess.Popen(["sleep", "20"]))
for one in kept:
    one.kill()
    one.wait()
"""


@pytest.mark.parametrize("way", ["fork", "start"])
def test_child_processes_that_are_left(zeroin, project, way):
    """Their command; or that they have ended and nobody waited for them."""
    (project / "kids.py").write_text(CHILDREN)
    done = zeroin("leak", "--", "python", "kids.py", way, cwd=project)
    assert "leak: +1 child process each time" in done.stderr, done.stderr
    said = done.stderr.partition("child processes that are left\n")[2]
    words = "which has ended and was not waited for × " if way == "fork" else "  sleep 20 × "
    assert words in said.splitlines()[0]


def test_a_function_that_was_named(leak, project):
    """Each call is a repetition, by its module or by its file."""
    text = LEAKS["global list"] + "\n\ndef main():\n    for n in range(60):\n        step(n)\n"
    (project / "lib.py").write_text(text)
    (project / "run.py").write_text("import lib\n\nlib.main()\n")
    for asked in ("lib:step", "lib.step", "lib.py:step"):
        found = leak("--func", asked, "--", "python", "run.py")
        assert found["place"]["kind"] == "function"
        assert (found["place"]["name"], found["place"]["times"]) == ("step", 60)
        assert found["who"]["containers"][0]["held"] == ["module lib", "history"]
    found = leak("--func", "lib:main", "--", "python", "run.py", code=125)
    assert (found["verdict"], found["reason"]) == ("unknown", "few")


def test_the_whole_script_again_and_again(leak, project):
    """Its arguments and its module are as they were; what it imported stays loaded."""
    (project / "store.py").write_text("kept = {}\n")
    text = (
        "import sys\n\nimport store\n\nassert sys.argv[1:] == ['a', 'b']\nassert __name__ == '__main__'\n"
        "sys.argv.append('more')\nassert 'seen' not in globals()\nseen = list(range(10_000))\n"
        "store.kept[len(store.kept)] = bytearray(100_000)\n\n\ndef cycle():\n    return seen\n\n\n"
        "raise SystemExit(0)\n"
    )
    (project / "whole.py").write_text(text)
    found = leak("--repeat", "20", "--", "python", "-u", "whole.py", "a", "b")
    assert (found["place"]["kind"], found["place"]["times"]) == ("run", 21)
    assert 100_000 <= slope(found) < 104_000
    assert found["who"]["containers"][0]["held"] == ["module store", "kept"]
    (project / "plain.py").write_text("xs = list(range(100_000))\n\n\ndef f():\n    return xs\n")
    assert leak("--repeat", "20", "--", "python", "plain.py", code=0)["verdict"] == "steady"


def test_a_program_that_fails_ends_as_it_did(leak, zeroin, project):
    """With its exit code, whatever was seen before."""
    (project / "dies.py").write_text(LEAKS["global list"] + LOOP + "raise SystemExit(7)\n")
    assert leak("--quick", "--", "python", "dies.py", code=7)["verdict"] == "leaks"
    done = zeroin("leak", "--repeat", "10", "--", "sh", "-c", "true", cwd=project)
    assert (done.returncode, "this is none: sh" in done.stderr) == (2, True)
    done = zeroin("leak", "--", "python", "train.py", cwd=project)
    assert done.returncode == 125
    assert "zeroin leak --repeat 20 -- python train.py" in done.stderr
    assert zeroin("leak", "--repeat", "20", "--", "python", "train.py", cwd=project).returncode == 0
    done = zeroin("leak", "--func", "nope:f", "--", "python", "train.py", cwd=project)
    assert (done.returncode, "finds no module nope" in done.stderr) == (2, True)
    done = zeroin("leak", "--func", "textwrap:fill", "--", "python", "train.py", cwd=project)
    assert done.stderr.splitlines()[0] == "that function was never called"


def test_a_server_is_looked_at_for_a_time(leak, project):
    """The time limit ends it, and the answer counts."""
    text = (
        LEAKS["global list"]
        + "\n\nimport time\n\nwhile True:\n    step(0)\n    time.sleep(0.005)\n"
    )
    (project / "serve.py").write_text(text)
    found = leak("--timeout", "2s", "--", "python", "serve.py")
    assert found["verdict"] == "leaks"
    assert found["who"]["containers"][0]["held"] == ["module __main__", "history"]


def test_a_time_limit_is_no_failure(zeroin, project):
    """It is how one looks at a server: nothing says that it hung."""
    text = "import time\n\n\ndef step(n):\n    time.sleep(0.01)\n\n\nwhile True:\n    step(0)\n"
    (project / "serve.py").write_text(text)
    done = zeroin("leak", "--timeout", "2s", "--", "python", "serve.py", cwd=project)
    assert "hung" not in done.stderr, done.stderr
    assert done.stderr.startswith("no leak: ")


def test_a_child_process_that_leaks(leak, project):
    """The process that grows is the one that is told about."""
    (project / "grow.py").write_text(LEAKS["global list"] + LOOP)
    text = "import subprocess, sys\n\nsubprocess.run([sys.executable, 'grow.py'], check=True)\n"
    (project / "parent.py").write_text(text)
    found = leak("--", "python", "parent.py")
    assert found["who"]["containers"][0]["held"] == ["module __main__", "history"]


def test_output_is_the_programs_own_once(zeroin, project):
    """The second run is not heard, and no frame or error of ours is seen."""
    (project / "says.py").write_text(LEAKS["global list"] + LOOP + "print('done')\n")
    done = zeroin("leak", "--", "python", "says.py", cwd=project)
    assert done.stdout == "done\n"
    assert done.stderr.splitlines()[1].startswith("leak: 100 KB each time")
    assert "  +1 item of bytearray in a list: the script's history" in done.stderr.splitlines()


@heavy("torch")
@pytest.mark.slow
def test_pytest_and_torch(leak, project, libs):
    """Tests are repeated in one session; a graph that is kept is told as such."""
    (project / "store.py").write_text("kept = {}\n")
    leaks = "import store\n\n\ndef test_put(tmp_path):\n    store.kept[len(store.kept)] = bytes(100_000)\n"
    fine = "def test_fine(tmp_path):\n    assert bytes(100_000)\n"
    (project / "test_leaks.py").write_text(leaks)
    (project / "test_fine.py").write_text(fine)
    found = leak("--repeat", "20", "--", libs, "-m", "pytest", "-q", "test_leaks.py")
    assert any(one["held"] == ["module store", "kept"] for one in found["who"]["containers"])
    words = ("--repeat", "20", "--", libs, "-m", "pytest", "-q", "test_fine.py")
    assert leak(*words, code=0)["verdict"] == "steady"
    text = (
        "import torch\n\nmodel = torch.nn.Linear(100, 100)\nlosses = []\n\n\ndef step(n):\n"
        "    loss = model(torch.randn(300, 100)).pow(2).mean()\n    loss.backward()\n"
        "    losses.append(loss + 0)\n"
    )
    (project / "graph.py").write_text(text + LOOP)
    found = leak("--", libs, "graph.py")
    assert found["who"]["graph"].endswith("Backward0")
    assert found["who"]["tensors"][0] == found["who"]["times"]
    held = [one["held"] for one in found["who"]["containers"]]
    assert ["module __main__", "losses"] in held
    text = text.replace("losses = []", "total = 0").replace(
        "    loss.backward()\n    losses.append(loss + 0)\n",
        "    global total\n    total = total + loss\n",
    )
    (project / "total.py").write_text(text + LOOP)
    assert leak("--", libs, "total.py")["who"]["graph_held"] == ["module __main__", "total"]


MODULE = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.LSTM(8, 64)
        self.states = []

    def forward(self, x):
        out, state = self.rnn(x)
        self.states.append(KEPT)
        return out.pow(2).mean()


net = Net()
for number in range(60):
    loss = net(torch.randn(5, 4, 8))
    loss.backward()
"""
CARRIED = """\
import torch


def train():
    rnn = torch.nn.LSTM(8, 64)
    state = None
    losses = []
    for number in range(60):
        out, state = rnn(torch.randn(5, 4, 8), state)
        loss = out.pow(2).mean()
        scaled = loss / 4
        losses.append(scaled)


train()
"""
TOTAL = """\
import torch

model = torch.nn.Linear(100, 100)
total = 0
for number in range(60):
    loss = model(torch.randn(300, 100)).pow(2).mean()
    loss.backward()
    total += loss
"""
STATES = "the script's net, .states of a Net"
WITHOUT = "put it in without its graph, x.detach(), or don't keep it"
# The program, the beginning of the first line of "held by" and its end, the advice.
GRAPHS = {
    "states on a module": (
        MODULE.replace("KEPT", "state[0]"),
        "+1 item of torch.Tensor in a list",
        STATES,
        [f"{STATES}: {WITHOUT}"],
    ),
    "pairs of states": (
        MODULE.replace("KEPT", "state"),
        "+1 item of tuple in a list",
        STATES,
        [f"{STATES}: {WITHOUT}"],
    ),
    "a state that is carried along": (
        CARRIED,
        "+",
        "state, a local of train()[…]",
        ["cut state, a local of train()[…] from its graph before the next repetition:"],
    ),
    "a sum": (
        TOTAL,
        "a graph of autograd that is longer each time",
        "the script's total",
        ["keep a number instead, which holds no graph: loss.item(), or loss.detach()"],
    ),
}


@heavy("torch")
@pytest.mark.slow
@pytest.mark.parametrize("kind", GRAPHS)
def test_who_keeps_a_graph(zeroin, project, libs, kind):
    """The holder that grows comes first, and the advice is one that helps with this holder."""
    text, what, holder, advice = GRAPHS[kind]
    (project / "graph.py").write_text(text)
    done = zeroin("leak", "--", libs, "graph.py", cwd=project, timeout=250)
    lines = done.stderr.splitlines()
    first = lines[lines.index("held by") + 1].strip()
    assert first.startswith(what), lines
    assert first.endswith(f": {holder}"), lines
    given = [line.strip() for line in lines if "detach()" in line]
    assert len(given) == len(advice)
    assert all(line.startswith(start) for line, start in zip(given, advice, strict=True)), given
