"""Small edits that are easily got wrong, each tried on everything that promises quick re-runs.

A project is an `app.py` with `prepare()`, which takes half a second, and `finish(state)`, with
more modules beside it. Tools that keep a session alive prepare once, take in the edit, and
finish again; what they then print is compared with what a cold run prints after the marker.
Each edit changes, makes or deletes one file.
"""

from __future__ import annotations

from typing import NamedTuple

MARK = "---"
MAIN = f"""\
import app

state = app.prepare()
print("{MARK}", flush=True)
app.finish(state)
"""
PREPARE = "import time\n\n\n{}\n\ndef prepare():\n    time.sleep(0.5)\n    return {}\n\n\n"


class Edit(NamedTuple):
    """What a user does."""

    name: str
    before: dict[str, str]  # file → text
    file: str
    after: str | None  # None: it is deleted


def _app(head: str, state: str, finish: str) -> str:
    body = "".join(f"    {line}\n" for line in finish.splitlines())
    return PREPARE.format(head, state) + f"def finish(state):\n{body}"


def _one(name: str, head: str, state: str, finish: str, old: str, new: str) -> Edit:
    """An edit of app.py alone: one text becomes another."""
    text = _app(head, state, finish)
    assert text.count(old) == 1, name
    return Edit(name, {"app.py": text}, "app.py", text.replace(old, new))


def _other(
    name: str, others: dict[str, str], app: tuple[str, str, str], file: str, after: str | None
) -> Edit:
    """An edit of another file."""
    return Edit(name, {"app.py": _app(*app), **others}, file, after)


EDITS = [
    _one("the tail", "", "1", "print('old', state)", "'old'", "'new'"),
    _one("the tail fails", "", "1", "print(state + 1)", "state + 1", "state + 'x'"),
    _one(
        "moved lines in a traceback",
        "LIMIT = 3\n",
        "1",
        "value = [state]\nprint(value[LIMIT])",
        "LIMIT = 3\n",
        "# one\n# two\n# three\nLIMIT = 3\n",
    ),
    _one(
        "removed def still used",
        "def helper():\n    return 1\n",
        "1",
        "print(helper())",
        "def helper():\n    return 1\n",
        "",
    ),
    _one(
        "removed constant still used",
        "RATE = 3\n",
        "1",
        "print(state * RATE)",
        "RATE = 3\n",
        "",
    ),
    _one(
        "removed method still used",
        "class Model:\n    size = 1\n\n    def score(self):\n        return 1\n",
        "Model()",
        "print(state.score())",
        "    def score(self):\n        return 1\n",
        "",
    ),
    _one(
        "changed decorator",
        "def twice(f):\n    return lambda x: f(f(x))\n\n\n"
        "def thrice(f):\n    return lambda x: f(f(f(x)))\n\n\n"
        "@twice\ndef grow(x):\n    return x * 2\n",
        "1",
        "print(grow(state))",
        "@twice",
        "@thrice",
    ),
    _one(
        "changed decorator's body",
        "def times(f):\n    return lambda x: f(x) * 2\n\n\n"
        "@times\ndef grow(x):\n    return x + 1\n",
        "1",
        "print(grow(state))",
        "f(x) * 2",
        "f(x) * 3",
    ),
    _one(
        "base class with a live instance",
        "class A:\n    def go(self):\n        return 'A'\n\n\n"
        "class B:\n    def go(self):\n        return 'B'\n\n\nclass C(A):\n    pass\n",
        "C()",
        "print(state.go())",
        "class C(A)",
        "class C(B)",
    ),
    _one(
        "__init__ with a live instance",
        "class Model:\n    def __init__(self):\n        self.size = 1\n",
        "Model()",
        "print(state.size)",
        "self.size = 1",
        "self.size = 2",
    ),
    _one(
        "mutable default",
        "def add(x, seen=[]):\n    seen.append(x)\n    return seen\n",
        "add(1)",
        "print(add(2))",
        "seen=[]",
        "seen=[0]",
    ),
    _one(
        "default made of a constant",
        "BASE = 1\n\n\ndef add(x, base=BASE):\n    return x + base\n",
        "1",
        "print(add(state))",
        "BASE = 1\n",
        "BASE = 10\n",
    ),
    _one(
        "constant made by a function",
        "def table():\n    return [1, 2]\n\n\nTABLE = table()\n",
        "len(TABLE)",
        "print(state, TABLE)",
        "[1, 2]",
        "[1, 2, 3]",
    ),
    _one(
        "code under a module's if",
        "if True:\n    def helper():\n        return 'old'\n",
        "1",
        "print(helper())",
        "'old'",
        "'new'",
    ),
    _one(
        "lambda in a dict",
        "ACTIONS = {'go': lambda x: x + 1}\n",
        "ACTIONS",
        "print(state['go'](1))",
        "x + 1",
        "x + 2",
    ),
    _one(
        "closure that is alive",
        "def make(n):\n    def add(x):\n        return x + n\n\n    return add\n",
        "make(5)",
        "print(state(1))",
        "x + n",
        "x * n",
    ),
    _one(
        "functools.cache over a helper",
        "import functools\n\n\ndef helper():\n    return 1\n\n\n"
        "@functools.cache\ndef value():\n    return helper()\n",
        "value()",
        "print(value())",
        "    return 1\n",
        "    return 2\n",
    ),
    _one(
        "cached_property of a live instance",
        "import functools\n\n\nclass Data:\n    @functools.cached_property\n"
        "    def size(self):\n        return 1\n",
        "(lambda d: (d.size, d)[1])(Data())",
        "print(state.size)",
        "        return 1\n",
        "        return 2\n",
    ),
    _one(
        "dataclass field",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Point:\n    x: int = 1\n",
        "Point()",
        "print(state)",
        "    x: int = 1\n",
        "    x: int = 1\n    y: int = 2\n",
    ),
    _one(
        "enum value",
        "import enum\n\n\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\n",
        "Color.RED",
        "print(state is Color.RED, state.value)",
        "RED = 1",
        "RED = 3",
    ),
    _one(
        "name in a registry",
        "REGISTRY = {}\n\n\ndef register(f):\n    REGISTRY[f.__name__] = f\n    return f\n\n\n"
        "@register\ndef first():\n    pass\n",
        "1",
        "print(sorted(REGISTRY))",
        "def first()",
        "def renamed()",
    ),
    _one(
        "loop that has run",
        "def squares():\n    found = []\n    for n in range(3):\n        found.append(n * n)\n"
        "    return found\n",
        "squares()",
        "print(state)",
        "n * n",
        "n + n",
    ),
    _one(
        "metaclass",
        "class Meta(type):\n    def __new__(m, name, bases, space):\n"
        "        space['made'] = 1\n        return type.__new__(m, name, bases, space)\n\n\n"
        "class Thing(metaclass=Meta):\n    pass\n",
        "Thing()",
        "print(state.made)",
        "space['made'] = 1",
        "space['made'] = 2",
    ),
    _other(
        "constant re-exported",
        {"config.py": "LIMIT = 1\n", "lib.py": "from config import LIMIT\n"},
        ("import lib\n", "1", "print(lib.LIMIT)"),
        "config.py",
        "LIMIT = 2\n",
    ),
    _other(
        "from x import *",
        {"lib.py": "def helper():\n    return 1\n"},
        ("from lib import *\n", "1", "print(sorted(n for n in globals() if n == 'extra'))"),
        "lib.py",
        "def helper():\n    return 1\n\n\ndef extra():\n    return 2\n",
    ),
    _other(
        "a data file",
        {"data.txt": "1\n"},
        ("DATA = open('data.txt').read()\n", "DATA", "print(state)"),
        "data.txt",
        "2\n",
    ),
    _other(
        "a deleted module",
        {"lib.py": "SIZE = 1\n"},
        ("import lib\n", "1", "print(lib.SIZE)"),
        "lib.py",
        None,
    ),
    _other(
        "a new module that was looked for",
        {},
        (
            "try:\n    import local_settings as local\nexcept ImportError:\n    local = None\n",
            "1",
            "print(local and local.SIZE)",
        ),
        "local_settings.py",
        "SIZE = 5\n",
    ),
]
