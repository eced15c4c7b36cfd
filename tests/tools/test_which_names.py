"""`zeroin which NAME`: the file that is really loaded, in real environments."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import py_compile
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import packages
import support
from left_out import heavy

BASE = (
    "class Base:\n    def total(self):\n        return 0\n\n    def add(self, x):\n        pass\n"
)
CART = """\
import functools

from shop.base import Base


def timed(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)

    return wrapper


class Cart(Base):
    @timed
    def total(self):
        return 1 + super().total()

    @property
    def empty(self):
        return True

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def rate():
        return 2


class Big(Cart):
    def add(self, x):
        return x


double = functools.partial(timed, 2)
"""
# As a builder would, without one from the index.
BACKEND = """\
import os, zipfile

def _wheel(folder, files):
    info = "shop-0.3.dist-info"
    files[info + "/METADATA"] = "Metadata-Version: 2.1\\nName: shop\\nVersion: 0.3\\n"
    files[info + "/WHEEL"] = "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"
    files[info + "/RECORD"] = "".join(name + ",,\\n" for name in files) + info + "/RECORD,,\\n"
    name = "shop-0.3-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
    return name

def build_wheel(folder, config_settings=None, metadata_directory=None):
    files = {}
    for name in os.listdir("src/shop"):
        if name.endswith(".py"):
            files["shop/" + name] = open("src/shop/" + name).read()
    return _wheel(folder, files)

def build_editable(folder, config_settings=None, metadata_directory=None):
    return _wheel(folder, {"_shop.pth": os.path.abspath("src") + "\\n"})
"""
PROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "shop"
version = "0.3"
"""


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def shop(tmp_path):
    return write(
        tmp_path / "shop",
        {
            "pyproject.toml": PROJECT,
            "backend.py": BACKEND,
            "src/shop/__init__.py": "",
            "src/shop/base.py": BASE,
            "src/shop/cart.py": CART,
        },
    )


@pytest.fixture
def which(zeroin, tmp_path):
    def call(*words: str | Path, code: int | None = 0, cwd: Path | None = None, **options):
        done = zeroin("which", "--json", *words, cwd=cwd or tmp_path / "shop", **options)
        assert done.stdout, done.stderr
        assert code is None or done.returncode == code, done.stdout
        return json.loads(done.stdout)

    return call


def installed(zeroin, folder: Path, *wanted: str, python: str | None = None) -> Path:
    return packages.make_environment(folder, zeroin.env, *wanted, python=python)


# --- which copy --------------------------------------------------------------------------------


def test_an_installed_copy_is_told_from_the_sources(zeroin, which, shop):
    """The verdict is no, and the command that it prints mends it."""
    installed(zeroin, shop / ".venv", ".")
    for asked in ("shop.cart", "src/shop/cart.py", "shop.cart.Cart.total"):
        found = which(asked, code=1)
        assert (found["verdict"], found["why"]) == ("no", "other-copy")
        assert "/.venv/" in found["file"]
        assert (found["editable"], found["version"], found["how"]) == (False, "0.3", "installed")
        assert found["asked"] == str(shop / "src" / "shop" / "cart.py")
        assert found["python"]["why"] == "the project's .venv"
    (own,) = [one for one in found["others"] if one["where"] == "checkout"]
    assert own["same"] is True
    mend = found["mend"].replace("-m pip", "-m uv pip")
    assert "install" in mend
    uv = shutil.which("uv") or packages.Uv(zeroin.env, str(shop))._program
    words = [uv, "pip", "install", "-q", "--python", shop / ".venv" / "bin" / "python", "-e", "."]
    subprocess.run(words, cwd=shop, env=zeroin.env, check=True, timeout=100)
    found = which("src/shop/cart.py")
    assert (found["verdict"], found["editable"]) == ("yes", True)
    assert found["distribution"] == "shop"


def test_the_first_line_says_it(zeroin, shop):
    """Before all else: whether it is the right file, and how to mend it."""
    installed(zeroin, shop / ".venv", ".")
    done = zeroin("which", "src/shop/cart.py", cwd=shop)
    first, second = done.stdout.splitlines()[:2]
    assert first.startswith("no: python loads the installed copy .venv/lib/")
    assert first.endswith("edits in src/shop/cart.py are not run, the same text so far")
    assert second.startswith("  to mend: ")
    assert second.endswith("install -e .") or "pip install --python" in second


def test_a_copy_that_differs_says_in_what(zeroin, which, shop):
    """By functions, and by age."""
    installed(zeroin, shop / ".venv", ".")
    cart = shop / "src" / "shop" / "cart.py"
    cart.write_text(CART.replace("return 2", "return 3").replace("return x", "return -x"))
    (loaded,) = (shop / ".venv").glob("lib/*/site-packages/shop/cart.py")
    os.utime(cart, (10**9, 10**9))
    os.utime(loaded, (10**9 + 86400 * 12,) * 2)
    found = which("shop.cart", code=1)
    (own,) = found["others"]
    assert (own["same"], set(own["differs"])) == (False, {"Cart.rate", "Big.add"})
    assert own["older_by"] == 86400 * 12
    said = zeroin("which", "shop.cart", cwd=shop).stdout
    assert "in the project: differs in 2 functions (Cart.rate, Big.add), older by 12 days" in said


def test_copies_in_other_environments_builds_and_checkouts(zeroin, which, shop, tmp_path):
    """All that lie near are named, with whose they are."""
    installed(zeroin, shop / ".venv", "-e", ".")
    installed(zeroin, shop / "old", ".")
    write(shop, {"build/lib/shop/cart.py": CART})
    support.make_project(shop, zeroin.env)
    other = tmp_path / "second"
    words = ["git", "worktree", "add", "-q", "--detach", str(other)]
    subprocess.run(words, cwd=shop, env=zeroin.env, check=True)
    found = which("shop.cart")
    assert {one["where"] for one in found["others"]} == {"environment", "build", "worktree"}
    (old,) = [one for one in found["others"] if one["where"] == "environment"]
    assert (old["of"], old["version"]) == (str(shop / "old"), "0.3")


def test_a_build_folder_is_not_the_one_to_edit(zeroin, which, shop):
    """Nobody installs that: the loaded one is named instead."""
    installed(zeroin, shop / ".venv", "-e", ".")
    write(shop, {"build/lib/shop/__init__.py": "", "build/lib/shop/cart.py": CART})
    found = which("build/lib/shop/cart.py", code=1)
    assert (found["mend"], found["file"]) == (None, str(shop / "src" / "shop" / "cart.py"))


def test_a_source_that_is_on_no_path(which, shop):
    """Its package is not importable, although its folder's name would do as a namespace."""
    found = which("src/shop/cart.py", code=1)
    assert (found["why"], found["module"], found["file"]) == ("not-importable", "shop.cart", None)
    (shop / "pyproject.toml").unlink()
    mend = which("src/shop/cart.py", code=1)["mend"]
    assert subprocess.run(["sh", "-c", mend], check=False, cwd="/").returncode == 0


def test_a_script_in_a_folder_of_scripts(which, shop):
    """It is a module of a namespace package, by the name of its folder."""
    write(shop, {"scripts/tool.py": "x = 1\n"})
    found = which("scripts/tool.py")
    assert (found["verdict"], found["module"]) == ("yes", "scripts.tool")


def test_a_script_here_is_the_one_that_runs(which, shop):
    """By the working folder."""
    write(shop, {"tool.py": "x = 1\n"})
    found = which("./tool.py:1")
    assert (found["verdict"], found["how"], found["line"]) == ("yes", "working folder", 1)


@pytest.mark.slow
@packages.needs_index()
@pytest.mark.parametrize("builder", ["setuptools", "setuptools-strict", "hatchling", "flit_core"])
def test_editable_installs_of_real_builders(zeroin, which, shop, builder):
    """A path file, a finder, links: all are told as editable."""
    name = builder.partition("-")[0]
    backend = {"setuptools": "setuptools.build_meta", "hatchling": "hatchling.build"}
    text = f'[build-system]\nrequires = ["{name}"]\n'
    text += f'build-backend = "{backend.get(name, "flit_core.buildapi")}"\n'
    text += '[project]\nname = "shop"\nversion = "0.3"\ndescription = "x"\n'
    (shop / "pyproject.toml").write_text(text)
    env = {**zeroin.env, **packages.online()}
    strict = ["--config-setting", "editable_mode=strict"] if "strict" in builder else []
    packages.make_environment(shop / ".venv", env, *strict, "-e", ".")
    found = which("shop.cart", code=None)
    assert found["version"] == "0.3"
    if "strict" not in builder:
        assert (found["verdict"], found["editable"]) == ("yes", True)
        assert found["file"] == str(shop / "src" / "shop" / "cart.py")


def test_each_interpreter_answers(which, shop, python):
    """From 3.9 on: the file, the chain of definitions, the layers, the order of the classes."""
    env = {"PYTHONPATH": "src"}
    found = which("shop.cart.Big.total", "--python", python, env=env)
    assert found["file"] == str(shop / "src" / "shop" / "cart.py")
    assert (found["line"], found["how"]) == (16, "PYTHONPATH")
    assert [(one["class"], one["called"], one["super"]) for one in found["chain"]] == [
        ("shop.cart.Cart", True, True),
        ("shop.base.Base", True, False),
    ]
    assert [one["name"] for one in found["layers"]] == ["wrapper"]
    found = which("shop.cart:Big", "--python", python, env=env)
    assert [one["class"] for one in found["mro"]] == [
        "shop.cart.Big",
        "shop.cart.Cart",
        "shop.base.Base",
        "builtins.object",
    ]
    assert found["mro"][0]["overrides"] == [{"name": "add", "of": "shop.base.Base"}]
    assert found["mro"][1]["line"] == 14


# --- what a name is ----------------------------------------------------------------------------


def test_layers_are_taken_off(which, shop):
    """Properties, static methods, caches and partials lead to the function inside."""
    env = {"PYTHONPATH": "src"}
    found = which("shop.cart.Cart.rate", env=env)
    assert [one["name"] for one in found["layers"]] == ["staticmethod", "functools.lru_cache"]
    assert found["line"] == 25
    assert which("shop.cart.Cart.empty", env=env)["kind"] == "property"
    found = which("shop.cart.double", env=env)
    assert (found["layers"][0]["name"], found["line"]) == ("functools.partial", 6)


def test_what_was_patched_is_said(which, shop):
    """The source has one function, the class another by now."""
    patch = "import shop.cart\n\n\ndef fake(self):\n    return 9\n\n\nshop.cart.Cart.total = fake\n"
    write(shop, {"src/shop/__init__.py": "import shop.patch\n", "src/shop/patch.py": patch})
    found = which("shop.cart.Cart.total", env={"PYTHONPATH": "src"}, code=1)
    assert (found["why"], found["line"]) == ("replaced", 4)
    assert found["file"].endswith("patch.py")
    assert (found["replaced"]["line"], found["replaced"]["by"]) == (16, "patch")


def test_what_was_taken_over_has_its_real_name(which, shop):
    """As `pandas.DataFrame` has; also by a lazy `__getattr__`."""
    lazy = "def __getattr__(name):\n    import shop.cart\n    return getattr(shop.cart, name)\n"
    write(shop, {"src/shop/__init__.py": lazy})
    found = which("shop.Big", env={"PYTHONPATH": "src"})
    assert (found["defined"], found["module"]) == ("shop.cart.Big", "shop.cart")
    assert any("lazy" in note for note in found["notes"])


def test_a_local_file_that_shadows_the_library(zeroin, which, shop):
    """It is said; and our own questions are still answered with such files around."""
    names = ("random", "json", "ast", "tokenize", "importlib", "re", "types", "os")
    write(shop, {f"{name}.py": "raise SystemExit('shadowed')\n" for name in names})
    installed(zeroin, shop / ".venv")
    own = [str(Path(sys.executable).with_name("zeroin"))]  # python -m would not even start
    which = functools.partial(which, driver=own)
    found = which("random")
    assert found["file"] == str(shop / "random.py")
    assert "it shadows random of the standard library" in found["notes"][0]
    found = which("json.dumps", code=1)
    assert (found["why"], found["error"]["type"]) == ("import-error", "SystemExit")
    found = which("os")
    assert "never loaded" in found["notes"][0]  # it is there before any file is asked for


def test_modules_without_a_file(which, shop):
    """Built in, or compiled."""
    assert (which("sys")["kind"], which("sys")["file"]) == ("builtin", None)
    assert which("sys.exit")["kind"] == "function"
    found = which("dict.get".replace("dict", "builtins.dict"))
    assert (found["kind"], found["file"]) == ("method", None)
    assert which("os.path")["module"] == "posixpath"


def test_a_namespace_package_has_all_its_portions(which, shop):
    """And a folder without `__init__.py` is told to be one."""
    write(shop, {"a/space/one.py": "", "b/space/two.py": ""})
    found = which("space", env={"PYTHONPATH": "a:b"})
    assert (found["kind"], found["file"]) == ("namespace", None)
    assert found["portions"] == [str(shop / "a" / "space"), str(shop / "b" / "space")]
    assert which("space.two", env={"PYTHONPATH": "a:b"})["file"].endswith("b/space/two.py")


def test_compiled_code_wins_over_the_source_beside_it(which, shop, python):
    """Edits of the source do nothing until it is built again, and that is said."""
    ask = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    write(shop, {"fast.py": "x = 1\n", "fast" + done.stdout.strip(): ""})
    found = which("fast", "--python", python)
    assert (found["kind"], found["file"].endswith(".so")) == ("extension", True)
    assert [one["where"] for one in found["others"]] == ["beside"]
    assert "compiled code: edits of the .py beside it are not run" in found["notes"][0]
    assert which("fast.py", "--python", python, code=1)["why"] == "other-copy"


def test_zip_files_and_bytecode_without_source(which, shop):
    """Both are loaded, and both are said to be."""
    with zipfile.ZipFile(shop / "lib.zip", "w") as archive:
        archive.writestr("zipped.py", "x = 1\n")
    found = which("zipped", env={"PYTHONPATH": "lib.zip"})
    assert "lib.zip/zipped.py" in found["file"]
    assert "archive" in found["notes"][0]
    write(shop, {"gone.py": "x = 1\n"})
    py_compile.compile(str(shop / "gone.py"), str(shop / "gone.pyc"))
    (shop / "gone.py").unlink()
    found = which("gone", "--python", support.base_python())
    assert "bytecode that has no source" in found["notes"][0]


# --- stale bytecode ----------------------------------------------------------------------------


def test_bytecode_of_another_text(which, shop):
    """Unchecked, or with the time and size of the source: Python runs it and not the source."""
    python = support.base_python()
    for name, mode in (("one", "UNCHECKED_HASH"), ("two", "TIMESTAMP"), ("three", "CHECKED_HASH")):
        path = shop / f"{name}.py"
        path.write_text("x = 1\n")
        cached = importlib.util.cache_from_source(str(path))
        py_compile.compile(
            str(path), cached, invalidation_mode=py_compile.PycInvalidationMode[mode]
        )
        stamp = path.stat().st_mtime_ns
        path.write_text("x = 2\n")
        os.utime(path, ns=(stamp, stamp))
        done = subprocess.run(
            [python, "-c", f"import {name}; print({name}.x)"],
            cwd=shop,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONDONTWRITEBYTECODE": "1"},
        )
        stale = done.stdout == "1\n"
        found = which(name, "--python", python, code=int(stale))
        assert (found["stale"] == cached, found["why"] == "stale") == (stale, stale), name
        found = which(f"{name}.py", "--python", python, code=int(stale))
        assert (found["verdict"] == "no") == stale
    assert [
        bool(which(n, "--python", python, code=None)["stale"]) for n in ("one", "two", "three")
    ] == [
        True,
        True,
        False,
    ]


# --- what can't be answered --------------------------------------------------------------------


def test_names_that_are_nearly_right(zeroin, shop):
    """Exit code 2, with the command that would work."""
    env = {"PYTHONPATH": "src"}
    for asked, meant in (
        ("shop.kart", "shop.cart"),
        ("shop.cart.Cart.totl", "shop.cart.Cart.total"),
        ("jsn", "json"),
    ):
        done = zeroin("which", asked, cwd=shop, env=env)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"did you mean: zeroin which {meant}" in done.stderr
        assert zeroin("which", meant, cwd=shop, env=env).returncode == 0
    for asked in ("src/shop/crat.py", "/etc/passwd", "", ".", "a b", "shop..cart", ":x", "shop:"):
        assert zeroin("which", asked, cwd=shop).returncode == 2


def test_a_distribution_names_its_modules(zeroin, shop):
    """The name that one installs is not always the one that one imports."""
    installed(zeroin, shop / ".venv", ".")
    (info,) = (shop / ".venv").glob("lib/*/site-packages/*.dist-info")
    info.rename(info.with_name("the_shop-0.3.dist-info"))
    done = zeroin("which", "the-shop", cwd=shop)
    assert done.returncode == 2
    assert "its modules: shop; zeroin which shop" in done.stderr


def test_an_import_that_fails_names_its_file(which, shop):
    """And where the function is written all the same."""
    write(shop, {"src/shop/broken.py": "import shop.worse\n\n\ndef f():\n    pass\n"})
    write(shop, {"src/shop/worse.py": "print('hello')\n1 / 0\n"})
    found = which("shop.broken.f", env={"PYTHONPATH": "src"}, code=1)
    assert (found["why"], found["line"]) == ("import-error", 4)
    error = found["error"]
    assert (error["type"], error["line"]) == ("ZeroDivisionError", 2)
    assert error["file"].endswith("worse.py")
    assert which("shop.broken", env={"PYTHONPATH": "src"})["verdict"] == "yes"


def test_an_import_that_does_not_end(zeroin, shop):
    """It is ended, with all that it started."""
    slow = "import subprocess, time\nsubprocess.Popen(['sleep', '1000'])\ntime.sleep(1000)\n"
    write(shop, {"slow.py": slow + "def f(): pass\n"})
    done = zeroin("which", "slow.f", "--timeout", "1s", cwd=shop)
    assert done.returncode == 125
    assert "took longer than 1 s" in done.stderr


def test_what_an_import_prints_is_kept_away(zeroin, shop):
    """Also what it writes by descriptor, and at its end."""
    loud = "import atexit, os\nprint('noise')\nos.write(1, b'noise')\nos.write(2, b'noise')\n"
    write(shop, {"loud.py": loud + "atexit.register(print, 'noise')\ndef f(): pass\n"})
    done = zeroin("which", "loud.f", cwd=shop)
    assert "noise" not in done.stdout + done.stderr
    assert not (shop / "__pycache__").exists()


def test_a_console_command(zeroin, which, shop):
    """What it calls, in the interpreter of its first line."""
    installed(zeroin, shop / ".venv", "-e", ".")
    python = shop / ".venv" / "bin" / "python"
    script = shop / ".venv" / "bin" / "shop-total"
    script.write_text(f"#!{python}\nimport sys\nfrom shop.cart import timed\nsys.exit(timed(0))\n")
    script.chmod(0o755)
    found = which("shop-total")
    assert (found["line"], found["python"]["executable"]) == (6, str(python))
    assert "which calls shop.cart:timed" in found["notes"][0]
    assert which("sh", code=None)["kind"] == "command"


def test_a_plain_user_and_folders_that_are_closed(plain):
    """What can't be read is left out, not a failure."""
    write(plain.project, {"src/shop/__init__.py": "", "pyproject.toml": PROJECT})
    site = plain.project / ".venv" / "lib" / "python3.11" / "site-packages"
    write(site, {"shop/__init__.py": ""})
    write(plain.project, {".venv/pyvenv.cfg": "home = /nowhere\n"})
    plain.own()
    site.chmod(0)
    done = plain("which", "src/shop/__init__.py", "--json", "--python", plain.python)
    site.chmod(0o755)
    assert json.loads(done.stdout)["why"] == "not-importable", done.stderr


# --- real libraries ----------------------------------------------------------------------------


@heavy("torch")
@pytest.mark.slow
def test_real_libraries(which, shop, libs):
    """Torch's method with its base, and a class that gives itself out for another module's."""
    found = which("torch.nn.Linear.forward", "--python", libs, timeout=120)
    assert found["file"].endswith("torch/nn/modules/linear.py")
    assert [one["class"] for one in found["chain"]] == [
        "torch.nn.modules.linear.Linear",
        "torch.nn.modules.module.Module",
    ]
    assert (found["how"], found["distribution"]) == ("installed", "torch")
    found = which("pandas.DataFrame", "--python", libs, timeout=120)
    assert found["defined"] == "pandas.core.frame.DataFrame"
    assert found["file"].endswith("pandas/core/frame.py")
    found = which("numpy", "--python", libs)
    assert (found["kind"], found["distribution"]) == ("package", "numpy")
