"""One line about any value: what it says, and that no code of the value's is run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from summaries import assert_cheap, run, texts

from zeroin.agent import summary


@pytest.mark.xdist_group("summary_values")  # they share a run on each Python
class TestValues:
    """What programs usually hold."""

    @pytest.fixture
    def told(self, python):
        return texts(run(python, "summary_values"))

    def test_numbers(self, told):
        """A number is written exactly, unless it has hundreds of digits."""
        assert told["int"] == "-12"
        assert told["float"] == "0.1"
        assert told["complex"] == "1.5j"
        assert told["true"] == "True"
        assert told["my int"] == "MyInt(3)"
        assert told["huge int"] == "int of about 1,000,001 digits"
        assert told["huge negative"] == "negative int of about 1,000,001 digits"
        assert told["Decimal"] == "Decimal('1.50')"
        assert told["huge Decimal"].startswith("Decimal of about ")
        assert told["range"] == "range(0, 3)"
        assert told["huge range"] == "range(0, int of about 1,000,001 digits)"
        assert told["slice"] == "slice(1, None, None)"

    def test_text(self, told):
        """Text is quoted; what a terminal would act upon is escaped, what is long is cut."""
        assert told["text"] == r'''"it's\n\x1b[31mred\x1b[0m \u202e\ud800"'''
        assert told["spaces"] == "'a  b'"
        assert told["bytes"] == r"b'\x00\xff'"
        assert told["bytearray"] == "bytearray(b'ab')"
        assert told["my str"] == "MyStr('abc')"
        assert told["long text"].startswith("str(1,000,000): 'abab")
        assert told["long text"].endswith("ab…'")
        assert told["long bytes"].startswith("bytes(1,000): b'zzz")
        assert told["memoryview"] == "memoryview[3] format 'B' of a bytes"

    def test_containers(self, told):
        """A container is told by its first elements, with the number of all if that is more."""
        assert told["list"] == "[1, 'a', None]"
        assert told["empty list"] == "[]"
        assert told["long list"] == "list(100,000): [0, 1, 2, 3, 4, 5, 6, 7, …]"
        assert told["tuple"] == "(1,)"
        assert told["dict"] == "{'a': 1, 2: [3]}"
        assert told["long dict"].startswith("dict(100,000): {0: 0, 1: -1, ")
        assert told["set"] == "{'a', 'b', 'c'}"
        assert told["empty set"] == "set()"
        assert told["large set"].startswith("set(100,000): {")
        assert told["frozenset"] == "frozenset({1, 2})"
        assert told["deque"] == "deque([1, 2])"
        assert told["defaultdict"] == "defaultdict({'a': [1]})"
        assert told["Counter"] == "Counter({'a': 2, 'b': 1})"
        assert told["OrderedDict"] == "OrderedDict({'a': 1})"
        assert told["UserDict"] == "UserDict(data={'a': 1})"
        assert told["my list"] == "MyList([1, 2])"
        assert told["released"] == "[<memoryview object>, 1]"

    def test_depth(self, told):
        """Nesting ends after a few levels, and where a container holds itself."""
        assert told["itself"] == "[1, <itself>]"
        assert told["deep"] == "[[[list(1): […]]]]"

    def test_records(self, told):
        """Dataclasses, namedtuples and enums are told field by field."""
        assert told["dataclass"] == "Point(x=1, y=[2, 3])"
        assert told["dataclass with own repr"] == "mine"
        assert told["dataclass with wrapped repr"] == "mine, wrapped"
        assert told["namedtuple"] == "Pair(left=1, right='b')"
        assert told["NamedTuple"] == "Typed(a=1, b='b')"
        assert told["enum"] == "<Colour.RED: 1>"
        assert told["IntEnum"] == "<Level.LOW: 3>"

    def test_objects(self, told):
        """An object without a repr of its own is told by its attributes."""
        assert told["plain"] == "Plain(a=1, b=[1, 2, 3], c={'d': Plain(e=list(1): […])})"
        assert told["no attributes"] == "<Plain object>"
        assert told["slots"] == "Slotted(first=1, second=[1, 2])"
        assert told["object"] == "<object object>"
        assert told["StringIO"] == "<StringIO object>"
        assert told["Namespace"] == "Namespace(lr=0.1, data='d')"
        assert told["SimpleNamespace"] == "SimpleNamespace(a=1)"

    def test_own_repr(self, told):
        """An object with a repr of its own is told by that: on one line, without addresses."""
        assert told["told"] == r"<a b and 0x… … \x1b[31m>"
        assert told["list of told"] == "[one, two]"
        assert told["long told"] == "x" * 199 + "…"
        assert told["windows path"] == "PureWindowsPath('c:/a')"
        assert told["foreign zone"].endswith("tzinfo=Zone())")
        assert told["Fraction"] == "Fraction(1, 3)"
        assert told["UUID"] == "UUID('00000000-0000-0000-0000-000000000005')"
        assert told["regex"] == "re.compile('a+')"
        assert told["lock"] == "<unlocked _thread.lock object>"
        assert told["thread"] == "<_MainThread(MainThread, started …)>"
        assert told["socket"].startswith("<socket.socket fd=")
        assert told["file"].startswith("<_io.TextIOWrapper name=")
        assert told["Mock"] == "<Mock id='…'>"
        assert told["MagicMock"] == "<MagicMock name='model' id='…'>"
        assert told["weakref"] == "<weakref; to 'type' (Plain)>"

    def test_foreign_array(self, told):
        """An array of a library that we don't know is told by shape and type, and not read."""
        assert told["foreign array"] == "Array[2, 3] float32"

    def test_code(self, told):
        """Functions, classes, modules and generators say where they are from, or where they are."""
        assert told["function"].startswith("<function stream, summary_values.py:")
        assert told["lambda"].startswith("<function <lambda>, summary_values.py:")
        assert told["builtin"] == "<built-in function len>"
        assert told["method"].startswith("<method Plain.__init__, summary_values.py:")
        assert told["class"] == "<class Plain>"
        assert told["builtin class"] == "<class dict>"
        assert told["module"] == "<module sys>"
        assert told["generator"].startswith("<generator stream, waiting at line ")
        assert told["finished"] == "<generator stream, finished>"
        assert told["coroutine"].startswith("<coroutine fetch, waiting at line ")
        assert told["code"].startswith("<code of stream, summary_values.py:")
        assert told["partial"] == "partial(<class int>, '10', base=2)"

    def test_standard_library(self, told):
        """Paths, dates and exceptions are told without running their repr."""
        assert told["path"] == "PurePosixPath('/data/train.csv')"
        assert told["relative path"] == "PurePosixPath('a/b')"
        assert told["no path"] == "PurePosixPath('.')"
        assert told["date"] == "date(2026-01-02)"
        assert told["datetime"] == "datetime(2026-01-02 03:04:00)"
        assert told["utc"] == "datetime(2026-01-02 00:00:00+00:00)"
        assert told["timedelta"] == "timedelta(1 day, 0:00:00)"
        assert told["exception"] == "ValueError('bad', 3)"
        assert told["OSError"] == "FileNotFoundError(2, 'No such file')"

    def test_together(self, python, told):
        """One call for all says what a call for each says."""
        answer = run(python, "summary_values")
        assert list(told.values()) == answer["results"]["everything"]["told"]
        assert_cheap(answer)


class TestHostile:
    """Objects that answer every question with code."""

    def test_nothing_is_called(self, python):
        """No method of any object, class or metaclass runs in the process."""
        answer = run(python, "summary_hostile")
        assert answer["called"] == []
        assert_cheap(answer)

    def test_told_by_what_they_are(self, python):
        """They are told by their real type, real storage and real attributes."""
        told = texts(run(python, "summary_hostile"))
        assert told["everything"] == "<Everything object>"
        assert told["class"] == "<class Everything>"
        assert told["metaclass"] == "<Metaclassed object>"
        assert told["list of metaclass"] == "MetaList([])"
        assert told["property"] == "SlotsAndProperty(kept=1)"
        assert told["proxy"] == "<Proxy object>"
        assert told["from jax"] == "<FromJax object>"
        assert told["from numpy"] == "<FromNumpy object>"
        assert told["from torch"] == "<FromTorch object>"
        assert told["renamed"] == r"<New\nname object>"
        assert told["dict"] == "Mapping({'a': 1, KeyText('b'): <Everything object>})"
        assert told["holder"] == rf"New\nname(inner=<Everything object>, items={told['dict']})"
        assert told["list"] == "List([1, <Everything object>])"
        assert told["tuple"] == "Tuple((1, 2))"
        assert told["set"] == "Set({1})"
        assert told["int"] == "Int(7)"
        assert told["float"] == "Float(1.5)"
        assert told["str"] == "Str('abc')"
        assert told["bytes"] == "Bytes(b'abc')"
        assert told["module"] == "<module lazy>"
        assert told["error"] == "Error('bad')"
        assert told["bound"] == "<method of Everything>"
        assert told["secret"] == "{KeyText('password'): <secret>, 'token': <secret>}"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
        max_leaves=50,
    )
)
def test_always_one_short_line(value):
    """A summary is one line of printable characters, of bounded length, and the same twice."""
    told = summary.summarise(value)
    assert told.isprintable()
    assert 0 < len(told) <= summary.LENGTH
    assert told == summary.summarise(value)


def test_time_is_up():
    """When the time is over, the values left are told by their type at least."""
    items = [(str(number), [number]) for number in range(20_000)]
    told = summary.summarise_all(items, seconds=0.001)
    assert told[-1] == "<list: not looked at, time was up>"


def test_nothing():
    """No values, no summaries."""
    assert summary.summarise_all([]) == []
