"""Do something with many modules of the standard library, and print all that comes out."""

import _pydecimal
import argparse
import calendar
import collections
import configparser
import contextlib
import copy
import csv
import dataclasses
import difflib
import enum
import fnmatch
import fractions
import functools
import graphlib
import heapq
import html.parser
import ipaddress
import json
import json.encoder
import pickle
import plistlib
import pprint
import random
import reprlib
import shlex
import statistics
import string
import textwrap
import typing


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: list = dataclasses.field(default_factory=list)


class Colour(enum.Flag):
    RED = 1
    BLUE = 2


class Tags(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        print(tag, attrs)


@functools.singledispatch
def kind(_):
    return "other"


@kind.register(int)
def _(_):
    return "int"


@contextlib.contextmanager
def opened():
    print("in")
    yield 3
    print("out")


def texts():
    data = {"a": [1, 2, {"b": None}], "c": "é", "d": 1.5e300}
    print(json.dumps(data, indent=2, sort_keys=True), json.loads(json.dumps(data)))
    print(list(json.JSONEncoder(indent=1).iterencode(data)))
    print(list(difflib.unified_diff(["a", "b", "c", "d", "e"], ["a", "x", "c", "d", "f"])))
    print(difflib.SequenceMatcher(None, "abcd" * 20, "bcde" * 20).get_opcodes())
    print(difflib.get_close_matches("appel", ["ape", "apple", "peach"]))
    print(textwrap.fill("lorem ipsum dolor " * 20, 33), textwrap.dedent("  a\n   b\n"))
    print(string.Template("$x y").substitute(x=1), shlex.split("a 'b c' d"))
    print(pprint.pformat({n: list(range(n)) for n in range(12)}), reprlib.repr(list(range(99))))
    print(fnmatch.filter(["a.py", "b"], "*.py"))
    Tags().feed("<a href='x'><b>t</b></a>")


def settings():
    parser = argparse.ArgumentParser(prog="x", description="d")
    parser.add_argument("--n", type=int, default=3, help="how many")
    parser.add_argument("f", nargs="*")
    print(parser.format_help(), vars(parser.parse_args(["--n", "4", "a", "b"])))
    config = configparser.ConfigParser()
    config.read_string("[a]\nb = 1\nc = %(b)s2\n")
    print(dict(config["a"]), list(csv.DictReader(["a,b", "1,2"])))
    print(plistlib.loads(plistlib.dumps({"a": [1, b"x"]})))


def numbers():
    print(statistics.mean([1, 2, 3, 4]), statistics.quantiles(range(10)), statistics.stdev([1, 2]))
    print(
        fractions.Fraction("3/4") + 1, _pydecimal.Decimal("1.1") ** 5, _pydecimal.Decimal(2).sqrt()
    )
    rng = random.Random(3)
    print(rng.randint(0, 9), rng.sample(range(50), 5), rng.gauss(0, 1), rng.choices("abc", k=4))
    print(list(heapq.merge([1, 4], [2, 3])), heapq.nlargest(2, [3, 1, 2]))
    print(calendar.TextCalendar().formatmonth(2024, 2))
    print([str(one) for one in ipaddress.ip_network("10.0.0.0/29").hosts()])


def objects():
    print(sorted([Point(2), Point(1, [3])]), dataclasses.asdict(Point(1, [Point(2)])))
    print(dataclasses.replace(Point(1), x=5), Colour.RED | Colour.BLUE, list(Colour))
    print(copy.deepcopy({"a": [1, [2]]}), pickle._loads(pickle._dumps([1, {"a": (2,)}, Point(3)])))
    print(list(graphlib.TopologicalSorter({1: [2], 2: [3]}).static_order()))
    print(functools.reduce(lambda a, b: a * b, range(1, 9)), kind(3), kind(""))
    print(collections.Counter("abca").most_common(), typing.get_type_hints(Point))
    with opened() as three:
        print(three)


texts()
settings()
numbers()
objects()
