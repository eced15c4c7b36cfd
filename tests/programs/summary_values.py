"""What programs usually hold: every kind of value of the standard library."""

import argparse
import collections
import dataclasses
import datetime as dt
import decimal
import enum
import fractions
import functools
import io
import pathlib
import re
import reprlib
import socket
import sys
import threading
import types
import typing
import unittest.mock
import uuid
import weakref

import summary_harness as harness


@dataclasses.dataclass
class Point:
    x: int
    y: object = None
    hidden: object = dataclasses.field(default=7, repr=False)


@dataclasses.dataclass
class OwnRepr:
    x: int

    def __repr__(self):
        return "mine"


@dataclasses.dataclass
class WrappedRepr:
    x: int

    @reprlib.recursive_repr()
    def __repr__(self):
        return "mine, wrapped"


class Pair(collections.namedtuple("Pair", "left right")):  # noqa: PYI024
    __slots__ = ()


class Typed(typing.NamedTuple):
    a: int
    b: str


class Colour(enum.Enum):
    RED = 1


class Level(enum.IntEnum):
    LOW = 3


class Plain:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Slotted:
    __slots__ = ("first", "never_set", "second")

    def __init__(self):
        self.first, self.second = 1, [1, 2]


class Told:
    def __init__(self, text):
        self.text = text

    def __repr__(self):
        return self.text


class Zone(dt.tzinfo):
    def utcoffset(self, _):
        return dt.timedelta(hours=1)

    def __repr__(self):
        return "Zone()"


class MyList(list):
    pass


class MyInt(int):
    pass


class MyStr(str):
    __slots__ = ()


jax = types.ModuleType("jax")
sys.modules["jax"] = jax


class Array:
    """An array of a library that is known only by its name."""

    __module__ = "jax"
    shape = (2, 3)
    dtype = "float32"

    def __repr__(self):
        return "not asked"


jax.Array = Array


def released():
    view = memoryview(b"abc")
    view.release()
    return view


def stream():
    yield 1


async def fetch():
    pass


def used_up():
    one = stream()
    list(one)
    return one


itself = [1]
itself.append(itself)
deep = []
for _ in range(100_000):
    deep = [deep]
coroutine = fetch()

VALUES = {
    "none": None,
    "true": True,
    "ellipsis": ...,
    "int": -12,
    "float": 0.1,
    "complex": 1.5j,
    "huge int": 10**1_000_000,
    "huge negative": -(10**1_000_000),
    "range": range(3),
    "huge range": range(10**1_000_000),
    "slice": slice(1, None),
    "text": "it's\n\x1b[31mred\x1b[0m \u202e\ud800",
    "long text": "ab" * 500_000,
    "spaces": "a  b",
    "bytes": b"\x00\xff",
    "long bytes": b"z" * 1000,
    "bytearray": bytearray(b"ab"),
    "memoryview": memoryview(b"abc"),
    "released": [released(), 1],
    "foreign array": Array(),
    "list": [1, "a", None],
    "empty list": [],
    "long list": list(range(100_000)),
    "tuple": (1,),
    "dict": {"a": 1, 2: [3]},
    "long dict": {number: -number for number in range(100_000)},
    "set": {"b", "a", "c"},
    "empty set": set(),
    "large set": set(range(100_000)),
    "frozenset": frozenset({2, 1}),
    "deque": collections.deque([1, 2], maxlen=5),
    "defaultdict": collections.defaultdict(list, a=[1]),
    "Counter": collections.Counter("aab"),
    "OrderedDict": collections.OrderedDict(a=1),
    "UserDict": collections.UserDict(a=1),
    "itself": itself,
    "deep": deep,
    "my list": MyList([1, 2]),
    "my int": MyInt(3),
    "my str": MyStr("abc"),
    "dataclass": Point(1, [2, 3]),
    "dataclass with own repr": OwnRepr(1),
    "dataclass with wrapped repr": WrappedRepr(1),
    "namedtuple": Pair(1, "b"),
    "NamedTuple": Typed(1, "b"),
    "enum": Colour.RED,
    "IntEnum": Level.LOW,
    "plain": Plain(a=1, b=[1, 2, 3], c={"d": Plain(e=[[[1]]])}),
    "no attributes": Plain(),
    "slots": Slotted(),
    "object": object(),
    "told": Told("<a\n   b at 0x7f12 and\t0x7fffdeadbeef 140737488355000 \x1b[31m>"),
    "list of told": [Told("one"), Told("two")],
    "long told": Told("x" * 5000),
    "function": stream,
    "lambda": lambda: 0,
    "builtin": len,
    "method": Plain(a=1).__init__,
    "builtin method": [].append,
    "class": Plain,
    "builtin class": dict,
    "module": sys,
    "generator": stream(),
    "finished": used_up(),
    "coroutine": coroutine,
    "code": stream.__code__,
    "partial": functools.partial(int, "10", base=2),
    "path": pathlib.PurePosixPath("/data") / "train.csv",
    "relative path": pathlib.PurePosixPath("a", "b"),
    "no path": pathlib.PurePosixPath(),
    "windows path": pathlib.PureWindowsPath("c:/a"),
    "date": dt.date(2026, 1, 2),
    "datetime": dt.datetime(2026, 1, 2, 3, 4),  # noqa: DTZ001
    "utc": dt.datetime(2026, 1, 2, tzinfo=dt.timezone.utc),  # noqa: UP017 - 3.9
    "foreign zone": dt.datetime(2026, 1, 2, tzinfo=Zone()),
    "timedelta": dt.timedelta(days=1),
    "Decimal": decimal.Decimal("1.50"),
    "huge Decimal": decimal.Decimal("1" * 1_000_000),
    "Fraction": fractions.Fraction(1, 3),
    "UUID": uuid.UUID(int=5),
    "regex": re.compile("a+"),
    "exception": ValueError("bad", 3),
    "OSError": OSError(2, "No such file"),
    "lock": threading.Lock(),
    "event": threading.Event(),
    "thread": threading.current_thread(),
    "socket": socket.socket(),
    "file": open(__file__),  # noqa: SIM115
    "StringIO": io.StringIO("abc"),
    "Mock": unittest.mock.Mock(),
    "MagicMock": unittest.mock.MagicMock(name="model"),
    "weakref": weakref.ref(Plain),
    "Namespace": argparse.Namespace(lr=0.1, data="d"),
    "SimpleNamespace": types.SimpleNamespace(a=1),
}

for name, value in VALUES.items():
    harness.tell(name, value)
harness.tell_all("everything", list(VALUES.items()))
coroutine.close()
while deep:  # by hand: freeing it at once would overflow the stack of some versions
    deep = deep[0]
harness.finish()
