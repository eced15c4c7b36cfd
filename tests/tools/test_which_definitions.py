"""`zeroin which NAME`: which of several definitions in a file is the one that counts."""

from __future__ import annotations

import json
import re
import shlex
import subprocess

import pytest

SHOP = """\
import collections
import dataclasses
import sys


class Cart:
    @property
    def total(self):
        return self._total

    @total.setter
    def total(self, value):
        self._total = value


if sys.platform:
    class Till:
        def open(self):
            return 1
        if sys.platform:
            def shut(self):
                return 1
        else:
            def shut(self):
                return 2
else:
    class Till:
        def open(self):
            return 2
try:
    def price():
        return 1
except ImportError:
    def price():
        return 2


@dataclasses.dataclass
class Item:
    name: str = ""
    rate = 0.2


Row = collections.namedtuple("Row", "a")
Made = type("Made", (Item,), {})


class A:
    def go(self):
        return ["A"]


class B(A):
    def go(self):
        return ["B", *super().go()]


class C(A):
    def go(self):
        return ["C", *super().go()]


class D(B, C):
    go = C.go
"""


@pytest.fixture
def which(zeroin, tmp_path):
    (tmp_path / "shop.py").write_text(SHOP)

    def call(*words: str, code: int = 0):
        done = zeroin("which", "--json", *words, cwd=tmp_path)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout)

    return call


def test_each_definition_counts(which, python):
    """On each Python: a property with a setter, and the branch of an `if` or `try` that ran."""
    lines = {"Cart.total": 8, "Till": 17, "Till.open": 18, "Till.shut": 21, "price": 31}
    for name, line in lines.items():
        found = which(f"shop.{name}", "--python", python)
        assert (name, found["verdict"], found["line"]) == (name, "yes", line)


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("shop.price", "price()"),
        ("shop.Till.shut", "Till().shut()"),
        ("shop.Cart.total", "Cart().total = 3"),
        ("shop.Till", "Till().open()"),
    ],
)
def test_each_definition_is_watched(which, name, calls):
    """The command is stopped in the one that it gets to."""
    found = which(name, "--", "python", "-c", f"import shop; shop.{calls}")
    assert (found["verdict"], found["reached"]["times"]) == ("yes", 1)


def test_what_is_no_definition_has_its_assignment(which, python):
    """Made classes, attributes of classes and constants are in the source, not compiled."""
    for name, line in {"Row": 44, "Made": 45, "Item.rate": 41}.items():
        assert which(f"shop.{name}", "--python", python)["line"] == line
    found = which("shop.Item.__init__", "--python", python)
    assert (found["line"], found["replaced"]) == (39, None)
    assert any("made while its module was loaded" in note for note in found["notes"])
    found = which("collections.abc.Mapping", "--python", python)
    assert found["file"].endswith("_collections_abc.py")
    assert all(one["file"] for one in found["mro"][:-1])


def test_super_goes_on_behind_the_class_that_a_method_was_written_in(which):
    """A method that a class has taken over from another one calls what comes behind that."""
    chain = which("shop.D.go")["chain"]
    assert [(one["class"], one["called"]) for one in chain] == [
        ("shop.D", True),
        ("shop.B", False),
        ("shop.C", False),
        ("shop.A", True),
    ]


def test_names_that_python_has_built_in(which, zeroin, tmp_path):
    """They are of no module that anyone imports, and known all the same."""
    assert which("len")["defined"] == "builtins.len"
    assert which("dict.get")["kind"] == "method"
    done = zeroin("which", "dict.nope", cwd=tmp_path)
    assert "dict has no nope" in done.stderr


def test_what_a_module_has_is_printed_by_the_hint(zeroin, which, tmp_path):
    """The command that is told works as it stands."""
    which("shop")
    done = zeroin("which", "shop.Item.qqqq", cwd=tmp_path)
    hint = done.stderr.splitlines()[1].partition("see what it has: ")[2]
    told = subprocess.run(
        shlex.split(hint), cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "'rate'" in told.stdout


def test_a_file_behind_a_built_in_module(which, zeroin, tmp_path):
    """It is never loaded: to be renamed, not to be mended by a path."""
    (tmp_path / "sys.py").write_text("x = 1\n")
    found = which("sys.py", code=1)
    assert (found["why"], found["mend"]) == ("other-copy", None)
    said = zeroin("which", "sys.py", cwd=tmp_path).stdout
    assert "has sys built in; edits in sys.py are not run\n  rename it: " in said
    assert "can't be read" not in said


@pytest.mark.parametrize(
    ("name", "calls", "line"),
    [
        ("price", "price()", 31),
        ("Till.shut", "Till().shut()", 21),
        ("Cart.total", "Cart().total = 3", 12),
        ("Cart.total", "Cart().total", 8),
        ("Till", "Till().open()", 17),
    ],
)
def test_of_a_name_in_a_file_each_definition_is_watched(which, name, calls, line):
    """The one that ran is told, and that others were not waited for."""
    found = which(f"shop.py:{name}", "--", "python", "-c", f"import shop; shop.{calls}")
    assert (found["verdict"], found["line"]) == ("yes", line)
    ran = {one["line"]: one["times"] for one in found["definitions"]}
    assert len(ran) > 1
    assert ran == {one: int(one == line) for one in ran}


def test_how_often_each_definition_ran(which, zeroin, tmp_path):
    """With `--no-stop`; by threads and child processes too, and those that never did."""
    code = (
        "import shop, threading, os\nshop.Cart._total = 0\n"
        "one = threading.Thread(target=lambda: [shop.Cart().total for _ in range(500)])\n"
        "one.start()\nfor _ in range(500): shop.Cart().total\none.join()\n"
        "if not os.fork(): shop.Cart().total = 1\nelse: os.wait()\n"
    )
    found = which("shop.py:Cart.total", "--no-stop", "--", "python", "-c", code)
    assert found["definitions"] == [{"line": 8, "times": 1000}, {"line": 12, "times": 1}]
    words = ["shop.py:price", "--no-stop", "--", "python", "-c", "import shop; shop.price()"]
    said = zeroin("which", *words, cwd=tmp_path).stdout
    assert re.search(
        r"^defined 2 times in shop.py\n  line 31 +reached once\n  line 34 +never$",
        said,
        re.MULTILINE,
    )


def test_a_place_in_a_script_that_nothing_can_import(zeroin, tmp_path):
    """Its name has a hyphen; that the script is loaded does not mean that it gets there."""
    text = "def main():\n    return 1\n\n\ndef never():\n    return 2\n\n\nmain()\n"
    script = tmp_path / "jobs.d" / "my-job.py"
    script.parent.mkdir()
    script.write_text(text)
    run = ["--", "python", str(script)]
    for place, code in (("main", 0), ("never", 1), ("2", 0), ("6", 1)):
        done = zeroin("which", f"{script}:{place}", *run, cwd=tmp_path)
        assert done.returncode == code, done.stdout
    said = zeroin("which", str(script), cwd=tmp_path).stdout
    assert "that is no name for a module, it can only be run" in said
    mend = said.partition("to mend: ")[2].splitlines()[0]
    subprocess.run(shlex.split(mend), cwd=tmp_path, check=True)


def test_a_name_in_a_file_that_is_an_assignment(which):
    """It has the line of it."""
    assert which("shop.py:Row")["line"] == 44
