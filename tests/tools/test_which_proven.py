"""`zeroin which NAME -- COMMAND`: proven by running, ended at the place, nothing edited."""

from __future__ import annotations

import importlib.util
import json
import os
import py_compile
import shutil
import sys
from pathlib import Path

import pytest

import support

RUN = """\
import sys
from shop.cart import Cart


def main():
    cart = Cart()
    print("before")
    for _ in range(3):
        cart.total()
    open("after", "w").close()


if __name__ == "__main__":
    main()
"""
CART = '''\
"""Carts."""

from __future__ import annotations


class Cart:
    def total(self):
        """What it costs."""
        return sum(
            number
            for number in (1, 2)
        )

    async def later(self):
        yield 1


def never():
    return 0
'''


@pytest.fixture
def shop(tmp_path):
    folder = tmp_path / "shop"
    for where in ("lib", "other"):
        (folder / where / "shop").mkdir(parents=True)
        (folder / where / "shop" / "__init__.py").write_text("")
        (folder / where / "shop" / "cart.py").write_text(CART)
    (folder / "run.py").write_text(RUN)
    return folder


@pytest.fixture
def which(zeroin, shop):
    def call(*words: str, code: int = 0, path: str = "lib", **options):
        env = {"PYTHONPATH": str(shop / path)}
        done = zeroin("which", "--json", *words, cwd=shop, env=env, **options)
        assert done.returncode == code, (done.stdout, done.stderr)
        return json.loads(done.stdout), done.stderr

    return call


def names(found) -> list[str]:
    return [f"{os.path.basename(one['file'])}:{one['line']}" for one in found["reached"]["stack"]]


def test_it_ends_where_it_was_asked_for(which, shop, python):
    """On each Python: with the way to there, and nothing after it is done."""
    found, said = which("shop.cart.Cart.total", "--", python, "run.py")
    assert (found["verdict"], found["file"]) == ("yes", str(shop / "lib" / "shop" / "cart.py"))
    assert names(found) == ["run.py:14", "run.py:9", "cart.py:9"]
    assert (found["reached"]["times"], found["reached"]["exit_code"]) == (1, None)
    assert not (shop / "after").exists()
    assert (shop / "lib" / "shop" / "cart.py").read_text() == CART
    assert said == ""  # it was ended before its output was written out


def test_it_runs_on_with_no_stop(which, shop):
    """And it is said how often it came by."""
    found, said = which("shop.cart.Cart.total", "--no-stop", "--", "python", "run.py")
    assert (found["reached"]["times"], found["reached"]["exit_code"]) == (3, 0)
    assert (shop / "after").exists()
    assert "before" in said


@pytest.mark.parametrize(
    ("asked", "line"),
    [("lib/shop/cart.py", 6), ("lib/shop/cart.py:11", 9), ("shop.cart", 6), ("run.py:10", 10)],
)
def test_files_lines_and_modules(which, asked, line):
    """A file is reached by being loaded; a line by the statement that it is of."""
    found, _ = which(asked, "--", "python", "run.py")
    assert (found["verdict"], found["reached"]["line"]) == ("yes", line)


def test_a_class_is_reached_by_a_call_of_it(which):
    """Its definition alone is not it."""
    found, _ = which("shop.cart.Cart", "--", "python", "run.py")
    assert found["reached"]["stack"][-1]["line"] == 9
    found, _ = which("shop.cart.Cart", "--", "python", "-c", "import shop.cart", code=1)
    assert found["why"] == "not-reached"


def test_what_is_never_reached(which, shop):
    """Loaded or not makes a difference."""
    found, _ = which("shop.cart.never", "--", "python", "run.py", code=1)
    assert (found["verdict"], found["why"]) == ("no", "not-reached")
    assert found["reached"]["loaded"] == [str(shop / "lib" / "shop" / "cart.py")]
    found, _ = which("shop.cart", "--", "python", "-c", "pass", code=1)
    assert found["why"] == "not-loaded"
    found, _ = which("shop.cart", "--", "python", "-I", "-c", "pass", code=1)
    assert found["why"] == "not-heard"


def test_another_copy_is_loaded_by_the_command(which, shop):
    """Which one is said, and where it got to."""
    found, _ = which("lib/shop/cart.py", "--", "python", "run.py", path="other", code=1)
    assert found["why"] == "other-reached"
    assert found["file"] == str(shop / "other" / "shop" / "cart.py")
    (shop / "path.py").write_text(
        "import sys\nsys.path.insert(0, 'other')\nimport run\nrun.main()\n"
    )
    found, _ = which("shop.cart.Cart.total", "--", "python", "path.py", code=1)
    assert found["file"].endswith("other/shop/cart.py")


def test_what_our_own_code_calls_does_not_count(which, shop):
    """The standard library is used by the agent as well, before the program begins."""
    (shop / "joins.py").write_text("import posixpath\n\nposixpath.commonpath(['/a', '/a/b'])\n")
    found, _ = which("posixpath.join", "--", "python", "-S", "-c", "pass", code=1)
    assert found["why"] == "not-heard"
    found, _ = which("posixpath.commonpath", "--", "python", "joins.py")
    assert names(found)[0] == "joins.py:3"
    (shop / "reals.py").write_text("import posixpath\n\nposixpath.realpath('/a')\n")
    found, _ = which("posixpath.realpath", "--", "python", "reals.py")
    assert "reals.py:3" in names(found)


def test_children_are_ended_as_well(which, shop):
    """The place is in a worker: its parent does not wait for it in vain."""
    text = (
        "import multiprocessing, run\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        pool.apply(run.main)\n"
    )
    (shop / "pool.py").write_text(text)
    found, _ = which("shop.cart.Cart.total", "--", "python", "pool.py")
    assert found["verdict"] == "yes"


def test_a_command_that_fails_before(zeroin, shop):
    """Its exit code is said."""
    (shop / "dies.py").write_text("import shop.cart\nraise SystemExit(3)\n")
    env = {"PYTHONPATH": "lib"}
    done = zeroin("which", "shop.cart.never", "--", "python", "dies.py", cwd=shop, env=env)
    assert done.returncode == 1
    assert "but never gets to shop.cart.never" in done.stdout.splitlines()[0]
    assert "  the command ended with exit code 3" in done.stdout.splitlines()


def test_a_time_limit(zeroin, shop):
    """A command that never gets there and never ends can't tell anything."""
    words = ("--timeout", "0.5s", "--", "python", "-c", "import time; time.sleep(100)")
    env = {"PYTHONPATH": "lib"}
    done = zeroin("which", "shop.cart", *words, cwd=shop, env=env)
    assert (done.returncode, done.stdout) == (125, "")


@pytest.mark.slow
def test_under_pytest(which, shop, libs):
    """Through a test, which pytest itself rewrites."""
    test = "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 3\n"
    (shop / "test_cart.py").write_text(test)
    words = ("--", libs, "-m", "pytest", "-q", "test_cart.py")
    found, _ = which("shop.cart.Cart.total", *words)
    assert names(found)[-2:] == ["test_cart.py:5", "cart.py:9"]
    found, _ = which("test_cart.py:5", *words)
    assert found["reached"]["line"] == 5
    shutil.rmtree(shop / ".pytest_cache", ignore_errors=True)


def test_the_script_itself_is_loaded(which, shop):
    """It is no module of that name, and yet the file is the one that runs."""
    found, _ = which("run.py:3", "--", "python", "-c", "pass", code=1)
    assert found["why"] == "not-loaded"
    (shop / "run.py").write_text(RUN + "\n\ndef unused():\n    return 1\n")
    found, _ = which("run.unused", "--", "python", "run.py", code=1)
    assert (found["why"], found["reached"]["loaded"]) == ("not-reached", [str(shop / "run.py")])


def test_a_line_behind_the_end(zeroin, shop):
    """It is not run for nothing."""
    done = zeroin("which", "run.py:200", "--", "python", "run.py", cwd=shop)
    assert (done.returncode, done.stdout) == (2, "")
    assert "that file has 14 lines" in done.stderr


@pytest.mark.parametrize("name", ["json", "sys", "os", "math"])
def test_modules_that_are_loaded_before_or_have_no_source(which, python, name):
    """Reached by the program's own import of them, and by nothing that is done at each start."""
    words = ("--", python, "-c")
    for code in (f"import {name}", f"from {name} import __name__ as x"):
        found, _ = which(name, *words, code)
        assert (found["reached"]["reached"], found["why"]) == (True, None)
        assert names(found)[0] == "<string>:1"
    found, _ = which(name, *words, "pass", code=1)
    assert found["why"] in ("not-reached", "not-loaded")


def test_what_is_compiled_can_not_be_watched(zeroin, shop):
    """It is said of the module that it is loaded; no empty name of a file, and no verdict."""
    words = ("--", "python", "-c", "import math")
    done = zeroin("which", "math.sin", *words, cwd=shop)
    assert done.returncode == 0
    said = "the command loads math; whether it gets to math.sin can't be told: that is compiled"
    assert done.stdout.splitlines()[0].replace(" (standard library)", "") == said


@pytest.mark.parametrize("name", ["shop.cart", "shop.cart.never"])
def test_stale_bytecode_is_run_and_told(which, shop, name):
    """As Python does it by itself: the answer is no, although the source has the place."""
    path = shop / "lib" / "shop" / "cart.py"
    cached = importlib.util.cache_from_source(str(path))
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(path), cached, invalidation_mode=mode)
    path.write_text(CART.replace("return 0", "return 1"))
    code = "import shop.cart; print(shop.cart.never())"
    found, said = which(name, "--", sys.executable, "-c", code, code=1)
    assert (found["why"], said) == ("stale", "0\n")


def test_files_that_shadow_the_library_are_the_ones_that_run(which, shop, python):
    """Neither our question nor our watch loads the library's own before the program does."""
    for name in ("json", "re", "types", "enum", "platform", "functools"):
        (shop / f"{name}.py").write_text("x = 1\n")
    (shop / "uses.py").write_text("import json\n\nassert json.x\n")
    own = [str(Path(sys.executable).with_name("zeroin"))]  # python -m would not even start
    found, said = which("json", "--no-stop", "--", python, "uses.py", driver=own)
    assert (found["verdict"], found["file"]) == ("yes", str(shop / "json.py"))
    assert (found["reached"]["exit_code"], said) == (0, "")


@pytest.mark.parametrize("old", support.old_pythons(), ids=lambda path: path.split("/")[-3])
def test_pythons_that_are_too_old(zeroin, shop, old):
    """They are named as such, not by an error of ours inside of them."""
    for words in (("--", old, "run.py"), ("--python", old)):
        done = zeroin("which", "run", *words, cwd=shop)
        assert (done.returncode, done.stdout) == (2, "")
        assert "which is too old to be asked" in done.stderr
