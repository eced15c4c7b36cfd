"""Environments that are composed from a store, compared with real ones."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import packages
from zeroin.errors import ZeroinError
from zeroin.run import interpreter
from zeroin.run.composed import Part, compose, keep_bytecode
from zeroin.run.dists import installed
from zeroin.run.pins import Pin, Store
from zeroin.run.uv import Uv

LOOK = """
import importlib.metadata as m, json, os, pkgutil, sys
base = os.path.join(sys.prefix, "lib")
dists = sorted((d.metadata["Name"].lower(), d.version) for d in m.distributions())
points = sorted((e.group, e.name, e.value) for d in m.distributions() for e in d.entry_points)
modules = sorted(x.name for x in pkgutil.iter_modules() if x.module_finder.path.startswith(base))
print(json.dumps([dists, points, modules]))
"""


@pytest.fixture
def index(tmp_path):
    """Two packages that share a namespace, one with a command, one single module."""
    index = packages.Index(tmp_path / "index")
    say = "def main():\n    import sys\n    print('{}', sys.prefix)\n"
    for version in ("1.0", "2.0"):
        index.add(
            "shop",
            version,
            {"shop/__init__.py": f"v = '{version}'\n", "shop/cli.py": say.format(version)},
            scripts={"shop": "shop.cli:main"},
        )
    index.add("acme-a", "1.0", {"acme/a/__init__.py": "v = 'a'\n"})
    index.add("acme-b", "1.0", {"acme/b/__init__.py": "v = 'b'\n"})
    index.add("acme-b", "2.0", {"acme/b/__init__.py": "v = 'b2'\n", "acme/b/more.py": ""})
    index.add("single", "1.0", {"single.py": "v = 1\n"})
    return index


@pytest.fixture
def env(zeroin, index):
    return {**zeroin.env, **index.env}


@pytest.fixture
def real(tmp_path, env):
    wanted = ("shop==1.0", "acme-a==1.0", "acme-b==1.0", "single==1.0")
    return packages.make_environment(tmp_path / "real", env, *wanted)


def python_of(folder, env):
    return interpreter.at(str(folder), "/", env)


def look(python, env):
    done = subprocess.run([python, "-c", LOOK], env=env, capture_output=True, check=True)
    return json.loads(done.stdout)


def test_like_a_real_environment(tmp_path, env, real):
    """The same distributions, entry points and modules, namespaces included."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    pins = [Pin(one.name, one.version) for one in installed(python.sites).values()]
    assert store.fill(pins) == {}
    made = compose(str(tmp_path / "made"), python, [store.part(pin) for pin in pins])
    assert look(made.python, env) == look(python.executable, env)
    code = "import acme.a, acme.b, single, shop; print(acme.a.v, acme.b.v, single.v, shop.v)"
    assert subprocess.check_output([made.python, "-c", code], env=env) == b"a b 1 1.0\n"


def test_its_commands_run_in_it(tmp_path, env, real):
    """A console script of a package is there, and starts the composed environment's Python."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    whole = [Part(site, frozenset(["shop"])) for site in python.sites]
    for version in ("1.0", "2.0"):
        parts = [*whole, store.part(Pin("shop", version))]
        made = compose(str(tmp_path / "made"), python, parts)
        said = subprocess.check_output([os.path.join(made.bin, "shop")], env=env, text=True)
        assert said == f"{version} {made.folder}\n"


def test_a_command_in_a_folder_with_a_long_name(tmp_path, env, real):
    """The kernel reads only the first bytes of a script's first line."""
    python = python_of(real, env)
    folder = tmp_path / ("long " * 30)
    made = compose(str(folder / "made"), python, [Part(site) for site in python.sites])
    said = subprocess.check_output([os.path.join(made.bin, "shop")], env=env, text=True)
    assert said == f"1.0 {made.folder}\n"


def test_one_package_of_a_namespace_is_exchanged(tmp_path, env, real):
    """The rest of the folder that they share stays, and nothing of the old one."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    parts = [
        *(Part(s, frozenset(["acme-b"])) for s in python.sites),
        store.part(Pin("acme-b", "2.0")),
    ]
    made = compose(str(tmp_path / "made"), python, parts)
    code = "import acme.a, acme.b, acme.b.more; print(acme.a.v, acme.b.v)"
    assert subprocess.check_output([made.python, "-c", code], env=env) == b"a b2\n"
    assert {"acme-a", "acme-b", "shop", "single"} == installed([made.site]).keys()


def test_a_package_is_taken_away(tmp_path, env, real):
    """With its modules, its metadata and its commands."""
    python = python_of(real, env)
    gone = frozenset(["shop", "acme-a"])
    made = compose(str(tmp_path / "made"), python, [Part(site, gone) for site in python.sites])
    dists, _, modules = look(made.python, env)
    assert dists == [["acme-b", "1.0"], ["single", "1.0"]]
    assert "shop" not in modules
    assert not os.path.exists(os.path.join(made.bin, "shop"))


def test_a_package_without_a_list_of_its_files(tmp_path, env, real):
    """As Debian has many: it is told by its name, and nothing of it is left."""
    python = python_of(real, env)
    Path(python.sites[0], "shop-1.0.dist-info", "RECORD").unlink()
    parts = [Part(site, frozenset(["shop"])) for site in python.sites]
    made = compose(str(tmp_path / "made"), python, parts)
    assert not os.path.lexists(os.path.join(made.site, "shop"))
    assert "shop" not in installed([made.site])


def test_of_two_files_with_one_name_the_first_stays(tmp_path, env, real):
    """So what is put first is what is imported."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    parts = [store.part(Pin("shop", "2.0")), *(Part(site) for site in python.sites)]
    made = compose(str(tmp_path / "made"), python, parts)
    code = "import shop; print(shop.v)"
    assert subprocess.check_output([made.python, "-c", code], env=env) == b"2.0\n"


def test_only_one_package_of_an_environment(tmp_path, env, real):
    """As it is installed there, without its neighbours in a folder that they share."""
    python = python_of(real, env)
    site = python.sites[0]
    parts = [Part(site, only=name) for name in ("acme-b", "shop")]
    made = compose(str(tmp_path / "made"), python, parts)
    dists, points, _ = look(made.python, env)
    assert dists == [["acme-b", "1.0"], ["shop", "1.0"]]
    assert points == [["console_scripts", "shop", "shop.cli:main"]]
    assert os.listdir(os.path.join(made.site, "acme")) == ["b"]


def test_an_editable_package_stays(tmp_path, env, real):
    """Its .pth file leads to the user's folder as before."""
    python = python_of(real, env)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("v = 'mine'\n")
    Path(python.sites[0], "mine.pth").write_text(f"{tmp_path / 'mine'}\n")
    parts = [Part(site, frozenset(["shop"])) for site in python.sites]
    made = compose(str(tmp_path / "made"), python, parts)
    code = "import mine; print(mine.v)"
    assert subprocess.check_output([made.python, "-c", code], env=env) == b"mine\n"


def test_uv_sees_what_is_in_it(tmp_path, env, real):
    """So it can be asked what would have to change."""
    python = python_of(real, env)
    made = compose(str(tmp_path / "made"), python, [Part(site) for site in python.sites])
    uv = Uv(env, str(tmp_path))
    assert uv.would_change(made.python, ["shop", "acme-b", "single"]) == {}


def test_nothing_is_installed_twice(tmp_path, env, real, index):
    """What is in the store needs no index any more."""
    python = python_of(real, env)
    pin = Pin("shop", "2.0")
    Store(Uv(env, str(tmp_path)), python, env).part(pin)
    (index.folder / "files" / "shop-2.0-py3-none-any.whl").unlink()
    away = env | {"UV_CACHE_DIR": str(tmp_path / "other")}
    part = Store(Uv(away, str(tmp_path)), python, away).part(pin)
    assert "shop" in os.listdir(part.folder)


def test_two_at_once(tmp_path, env, real):
    """Many that want the same at the same time all get it, and nothing half made is left."""
    python = python_of(real, env)
    stores = [Store(Uv(env, str(tmp_path)), python, env) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda store: store.part(Pin("shop", "2.0")), stores))
    assert len(set(parts)) == 1
    assert os.listdir(stores[0].folder) == ["shop-2.0"]


def test_what_cannot_be_installed(tmp_path, env, real):
    """The others are there all the same, and the reason is told."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    good, bad = Pin("shop", "2.0"), Pin("shop", "9.0")
    failed = store.fill([bad, good])
    assert list(failed) == [bad]
    assert store.has(good)
    with pytest.raises(ZeroinError, match=r"shop==9\.0"):
        store.part(bad)


def test_bytecode_is_kept(tmp_path, env, real):
    """Of packages, and of single modules, whose bytecode lies beside others'."""
    python = python_of(real, env)
    store = Store(Uv(env, str(tmp_path)), python, env)
    parts = [store.part(Pin("single", "1.0")), store.part(Pin("shop", "2.0"))]
    for _ in range(2):
        made = compose(str(tmp_path / "made"), python, parts)
        subprocess.run([made.python, "-c", "import single, shop"], env=env, check=True)
        keep_bytecode(made, store.folder)
    for part, below in zip(parts, ("__pycache__", "shop/__pycache__"), strict=True):
        names = os.listdir(os.path.join(part.folder, below))
        assert [name.partition(".")[0] for name in names] in (["single"], ["__init__"])
    assert os.path.islink(
        os.path.join(
            made.site, "__pycache__", os.listdir(os.path.join(parts[0].folder, "__pycache__"))[0]
        )
    )
