"""Looks at assignments: they see everything, change nothing, and keep nothing alive."""

from __future__ import annotations

import os
import signal
import subprocess
import textwrap
from pathlib import Path

import pytest

from zeroin.observe.shapes import text
from zeroin.observe.shapes.told import Told
from zeroin.run import environment
from zeroin.run.agent_order import AgentOrder, hand_order
from zeroin.run.inbox import Inbox
from zeroin.tools import shapes as tool

PROGRAMS = Path(__file__).parent.parent / "programs"
# Each on a line of its own: what is assigned, and what is to be said of it.
EVERY_KIND = '''\
"""A program with every kind of target."""
from __future__ import annotations
import array, asyncio, threading
from collections import OrderedDict, namedtuple
from dataclasses import dataclass

Pair = namedtuple("Pair", "left right")
floats = lambda n: array.array("d", [0.0] * n)

@dataclass
class Output:
    logits: array.array
    loss: float

plain = floats(3)  #: (3,) f64
first, (second, *rest) = floats(1), (floats(2), floats(3), floats(4))  #: first: (1,) f64; second: (2,) f64; rest: 2 x (3|4,) f64
ragged = [floats(n) for n in (5, 6, 7)]  #: 3 x (5..7,) f64
by_name = {"ids": floats(2), "n": 3}  #: {ids: (2,) f64}
ordered = OrderedDict(logits=floats(2))  #: {logits: (2,) f64}
record = Output(floats(2), 0.5)  #: {logits: (2,) f64}
pair = Pair(floats(1), floats(2))  #: {left: (1,) f64, right: (2,) f64}
short = (floats(1), None)  #: [(1,) f64, None]
rows = [[1, 2], [3, 4], [5, 6]]  #: 3 x (2,) list
names = ["a", "b"]  #: (2,) list
annotated: list[int] = [1, 2, 3]  #: (3,) list
again = other = floats(4)  #: (4,) f64
number, word, nothing, flag = 3, "x", None, True

class Thing:
    body = [1, 2, 3]
    def __init__(self):
        self.held = floats(2)  #: (2,) f64
        self.one, self.two = floats(1), floats(2)  #: self.one: (1,) f64; self.two: (2,) f64
        self.held += floats(1)  #: (3,) f64
        self.table = {}
        self.table["k"] = floats(5)  #: (5,) f64

    @property
    def costly(self):
        raise SystemExit("a property was read")

    costly = costly.setter(lambda self, value: None)

    def set(self):
        self.costly = floats(6)  #: (6,) f64

def numbers(count):
    """A generator."""
    for n in range(count):
        item = floats(n + 1)  #: (m=1|2,) f64
        yield item  #: (m=1|2,) f64

async def waiting(values):  #: values: (3,) f64
    await asyncio.sleep(0)
    async for one in later():  #: (9,) f64
        pass
    return values  #: (3,) f64

async def later():
    yield floats(9)  #: (9,) f64

class Opened:
    def __enter__(self): return floats(7)  #: (7,) f64
    def __exit__(self, *_): return None

def every(
    values,  #: values: (2,) f64
    *others,  #: others: 1 x (3,) f64
    key=None,  #: key: (4,) f64
    **more,  #: more: {extra: (5,) f64}
):
    with Opened() as opened:  #: (7,) f64
        if (bound := floats(8)) and len(bound):  #: bound: (8,) f64
            total = bound + floats(1)  #: (9,) f64
    values += floats(2)  #: (4,) f64
    for left, right in zip([floats(1)], [floats(2)]):  #: left: (1,) f64; right: (2,) f64
        pass
    def inner():
        nonlocal total
        total = floats(
            2
        )  #: (2,) f64
        return total  #: (2,) f64
    try:
        inner()
        raise ValueError
    except ValueError:
        caught = floats(3)  #: (3,) f64
    finally:
        last = floats(4)  #: (4,) f64
    return caught  #: (3,) f64

def one_line(x): return x  #: x, return: (3,) f64

Thing().set()
for item in numbers(2):  #: (1|2,) f64
    pass
asyncio.run(waiting(plain))
every(floats(2), floats(3), key=floats(4), extra=floats(5))
one_line(plain)
thread = threading.Thread(target=one_line, args=(plain,))
thread.start()
thread.join()
print(Thing.body, len(Thing().held), sorted(n for n in globals() if not n.startswith("__")))
'''


class Looked:
    """Runs programs with looks: `looked(python, script)`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.told = Told()

    def __call__(self, python, script, *args, files=(), functions=(), timeout=60):
        inbox = Inbox()
        try:
            wanted = {"files": [str(one) for one in files], "functions": list(functions)}
            env = {"PATH": os.environ["PATH"]}
            env |= {name: value for name, value in os.environ.items() if "ZEROIN_TEST" in name}
            env = environment.lead_to_agent(env, debugger=False)
            env = hand_order(AgentOrder(shapes=wanted), inbox.folder, env)
            done = self.run(python, script, *args, env=env, timeout=timeout)
            told = Path(inbox.folder, "shapes")
            lines = told.read_text().splitlines() if told.exists() else []
            self.told = Told().read(lines)
        finally:
            inbox.close()
        return done

    def run(self, python, script, *args, env=None, timeout=60):
        return subprocess.run(
            [python, script, *args],
            cwd=self.folder,
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def seen(self, script: Path) -> dict[str, str]:
        """What was seen, by target; several of a name are told with a slash."""
        found: dict[str, str] = {}
        for one in self.told.files[str(script)].places:
            if one.forms:
                label = one.place.label or one.place.how
                said = text.alternatives(one.forms)
                found[label] = f"{found[label]} / {said}" if label in found else said
        return found


@pytest.fixture
def looked(tmp_path) -> Looked:
    return Looked(tmp_path)


@pytest.fixture
def program(tmp_path):
    def write(source: str, name: str = "program.py") -> Path:
        path = tmp_path / name
        path.write_text(textwrap.dedent(source))
        return path.resolve()

    return write


def test_every_kind_of_target(looked, program, python):
    """Names, attributes, items, arguments, loops, `with`, `:=`, results; output as without."""
    script = program(EVERY_KIND)
    plain = looked.run(python, script)
    done = looked(python, script)
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, 0)
    source = tool._source(looked.told.files[str(script)], torn=False, named=True)
    expected = {
        n: line.partition("#: ")[2]
        for n, line in enumerate(EVERY_KIND.splitlines(), 1)
        if "#: " in line
    }
    assert {line: note for line, note in source.notes().items() if note} == expected


def test_only_the_functions_that_are_asked_for(looked, program, python):
    """By name or with the class, and what is inside of them; nothing else is touched."""
    script = program("""
        class A:
            def f(self):
                a = [1, 2]
                def g():
                    b = [1, 2, 3]
                g()
            def h(self):
                c = [1, 2]
        class B:
            def f(self):
                d = [1, 2]
        def f():
            e = [1, 2, 3, 4]
        A().f(); A().h(); B().f(); f()
        top = [1, 2]
    """)
    for functions, expected in ((["f"], "abde"), (["A.f"], "ab"), (["g"], "b"), (["A"], "abc")):
        assert looked(python, script, functions=functions).returncode == 0
        assert "".join(looked.seen(script)) == expected, functions


def test_the_sizes_that_an_object_keeps_are_names(looked, program, python):
    """Also where its class is not looked at but for one method: its own ints, and its settings'."""
    script = program("""
        import array
        class Config:
            def __init__(self):
                self.hidden_size = 48
        class Layer:
            def __init__(self):
                self.config = Config()
                self.heads = 12
                self.layers = 7
            def forward(self):
                x = array.array("d", [0.0] * 48)
                y = array.array("d", [0.0] * 12)
                z = array.array("d", [0.0] * 7)
        Layer().forward()
    """)
    assert looked(python, script, functions=["Layer.forward"]).returncode == 0
    source = tool._source(looked.told.files[str(script)], torn=False, named=True)
    said = [text.alternatives(place.forms) for place in source.places if place.forms]
    assert said == ["(hidden_size=48,) f64", "(heads=12,) f64", "(7,) f64"]


def test_a_script_without_the_wanted_file_has_its_own_code(looked, program, python):
    """Other files have the very code that they would have had."""
    program("def f():\n    x = [1, 2]\n    return x\n", "helper.py")
    script = program("""
        import helper
        def g():
            y = [1, 2, 3]
        g(); helper.f()
        print(g.__code__.co_code == compile("y = [1, 2, 3]", "", "exec").co_code or g.__code__.co_consts)
    """)
    plain = looked.run(python, script)
    done = looked(python, script, files=[script.parent / "helper.py"])
    assert done.stdout == plain.stdout
    assert list(looked.told.files) == [str(script.parent / "helper.py")]


CORPUS = "json/encoder json/decoder difflib textwrap dataclasses argparse statistics configparser"
CORPUS += " string fractions heapq pprint shlex random enum copy pickle calendar ipaddress csv"
CORPUS += " graphlib functools typing _pydecimal plistlib fnmatch reprlib contextlib html/parser"


@pytest.mark.slow
def test_real_code_gives_the_same_results(looked, python):
    """Modules of the standard library, looked at in every line, and something done with each."""
    script = (PROGRAMS / "shapes_corpus.py").resolve()
    ask = "import os; print(os.path.dirname(os.path.realpath(os.__file__)))"
    folder = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    files = [Path(folder.stdout.strip(), f"{name}.py") for name in CORPUS.split()]
    plain = looked.run(python, script)
    assert plain.returncode == 0, plain.stderr
    done = looked(python, script, files=[*files, script])
    assert (done.stdout, done.stderr) == (plain.stdout, plain.stderr)
    assert len(looked.told.files) > 25
    assert not looked.told.refused


def test_nothing_is_kept_alive(looked, program, python):
    """A value dies when it would have died."""
    script = program("""
        import weakref
        class Held(list):
            pass
        def f(given):
            mine = Held([1, 2, 3])
            ref = weakref.ref(mine)
            pair = (mine, given)
            del mine, pair
            return ref
        value = Held([1])
        other = weakref.ref(value)
        print(f(value)() is None)
        del value
        print(other() is None)
    """)
    assert looked(python, script).stdout == "True\nTrue\n"
    assert looked.seen(script)["mine"] == "(3,) list"


def test_no_code_of_values_runs(looked, program, python):
    """Not their length, their equality, their attributes, their class's hash."""
    script = program("""
        class Loud(type):
            def __hash__(cls): raise SystemExit("hashed")
            def __eq__(cls, other): raise SystemExit("compared")
            def __getattribute__(cls, name): raise SystemExit("asked for " + name)
        class Odd(list, metaclass=Loud):
            __len__ = __iter__ = __eq__ = __getitem__ = lambda *_: 1 / 0
        class Plain(metaclass=Loud):
            pass
        class Shy:
            def __getattribute__(self, name): raise SystemExit("asked for " + name)
        def f():
            odd = Odd()
            shy = Shy()
            both = [odd, shy, Plain()]
            plain = Plain()
            return both
        f()
        print("done")
    """)
    done = looked(python, script)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_what_varies_and_what_counts(looked, program, python):
    """All sizes are seen, the last odd one of many as well; counters are left after a few."""
    script = program("""
        import array
        def f():
            for n in range(5000):
                batch = array.array("i", [0] * (17 if n == 4999 else 32))
                grows = [0] * n
                total = n * 2
        f()
    """)
    looked(python, script)
    assert looked.seen(script) == {"batch": "(17|32,) i32", "grows": "(0..4999,) list"}
    (total,) = (s for s in looked.told.files[str(script)].places if s.place.label == "total")
    assert len(total.numbers) < 10


def test_processes_that_end_without_their_last_steps(looked, program, python):
    """What forked, spawned and killed processes have seen is there, and counted once."""
    script = program("""
        import multiprocessing, os, signal
        def work(n):
            mine = [0] * n
            if n == 5:
                os.kill(os.getpid(), signal.SIGKILL)
            if n == 6:
                os._exit(0)
            return mine
        if __name__ == "__main__":
            work(2)
            if os.fork() == 0:
                work(2)
                raise SystemExit
            os.wait()
            for way, n in (("fork", 3), ("spawn", 4), ("fork", 5), ("fork", 6)):
                one = multiprocessing.get_context(way).Process(target=work, args=(n,))
                one.start()
                one.join()
    """)
    assert looked(python, script).returncode == 0
    assert looked.seen(script)["mine"] == "(2..6,) list"
    (mine,) = (s for s in looked.told.files[str(script)].places if s.place.label == "mine")
    assert dict(mine.forms[0].length.sizes)[2] == 2


def test_signals_and_exceptions_pass(looked, program, python):
    """An interrupt is the program's, a traceback is as without looks."""
    script = program("""
        import os, signal
        def f(x):
            y = [x,
                 x]
            z = [1 / x]
            return z
        try:
            while True:
                a = [1]
                os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            print("interrupted")
        f(0)
    """)
    plain = looked.run(python, script)
    done = looked(python, script)
    assert (done.stdout, done.stderr, done.returncode) == (plain.stdout, plain.stderr, 1)
    assert looked.told.failed[-1].line == 6
    assert looked.seen(script)["y"] == "(2,) list"


def test_text_that_grows_stays_quick(looked, program, python):
    """`s = s + t` is done in place by the interpreter, which a look in between would prevent."""
    script = program("""
        def f(n):
            s = ""
            start = id(s)
            moved = 0
            for _ in range(n):
                before = id(s)
                s = s + "x"
                moved += id(s) != before
            return moved
        print(f(20000) < 5000)
    """)
    plain = looked.run(python, script)
    assert looked(python, script).stdout == plain.stdout == "True\n"


def test_deep_recursion(looked, program, python):
    """A recursion near the limit is as deep as without looks, give or take one level."""
    script = program("""
        import sys
        def deep(n):
            here = [n]
            return deep(n - 1) if n else here
        print(deep(sys.getrecursionlimit() - 50))
        try:
            deep(10 ** 6)
        except RecursionError:
            print("RecursionError")
    """)
    done = looked(python, script)
    assert done.stdout == "[0]\nRecursionError\n", done.stderr


def test_a_killed_program_has_told(looked, program, python):
    """What was seen until a kill -9 is there."""
    script = program("""
        import os, signal
        x = [1, 2, 3]
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    assert looked(python, script).returncode == -signal.SIGKILL
    assert looked.seen(script) == {"x": "(3,) list"}
