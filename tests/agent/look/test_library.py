"""The library under both its names, installed, and in Pythons that can't run the command."""

from __future__ import annotations

import ast
import json
import os
import subprocess

import pytest
from looking import run, start, version
from uv import find_uv_bin

import packages
import support
import zeroin as package
from looping import Looping
from zeroin.agent import library

NAMES = ["checkpoint", "log", "peek", "section", "sections"]


def test_both_offer_the_same():
    """What an installed zeroin has, the stand-in under the agent has as well."""
    assert sorted(package.__all__) == sorted(library.NAMES) == NAMES
    assert set(NAMES) <= set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.nothing_of_the_kind


def test_import_loads_nothing(python, tmp_path):
    """`import zeroin` is one module, and `peek` costs no library that is slow to load."""
    source = """
        import sys
        before = set(sys.modules)
        import zeroin
        print(sorted(set(sys.modules) - before))
        zeroin.peek(1)
        slow = {"asyncio", "logging", "inspect", "typing", "ctypes", "socket", "json", "dataclasses"}
        print(sorted(slow & (set(sys.modules) - before)))
    """
    done = run(python, tmp_path, source)
    assert done.stdout == "['zeroin']\n[]\n"


@pytest.mark.parametrize("installed", [False, True])
def test_under_zeroin(zeroin, python, tmp_path, installed):
    """With or without zeroin in the environment, also in child processes; one state of all."""
    (tmp_path / "train.py").write_text(
        "import subprocess, sys\n"
        "from zeroin import peek, section, sections, log, checkpoint\n"
        "from zeroin import *\n"
        "x = 3\n"
        "peek(x)\n"
        "log.get('a').info('logged')\n"
        "with section('s', quiet=True): checkpoint()\n"
        "assert [row.name for row in sections(quiet=True)] == ['s']\n"
        "assert '_zeroin_agent.look.peeks' in sys.modules\n"
        "assert 'zeroin.agent.look.peeks' not in sys.modules\n"
        "if len(sys.argv) < 2: subprocess.run([sys.executable, __file__, 'child'], check=True)\n"
    )
    env = {"PYTHONPATH": str(support.SRC)} if installed else {}
    done = zeroin("run", "--no-record", "-q", "--", python, "train.py", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("train.py:5  x = 3\n") == 2
    assert done.stderr.count("INFO a: logged\n") == 2


def test_in_a_loop(zeroin, project):
    """A process that goes on with an edited file tells the expressions that are in it."""
    source = "from zeroin import *\nx = 1\npeek(x)\ncheckpoint()\ny = 2\npeek(x + y)\n"
    (project / "train.py").write_text(source)
    with Looping(zeroin, project) as loop:
        loop.line()
        loop.edit("train.py", source.replace("x + y", "y * 10"))
        assert loop.line()["mode"] == "resumed"
        assert "train.py:6  x + y = 3" in loop.shown
        assert "train.py:6  y * 10 = 20" in loop.shown


def test_what_python_39_reads():
    """The package itself, the entry of the command and all of the agent keep to its syntax."""
    files = [*(support.SRC / "zeroin").glob("*.py"), *(support.SRC / "zeroin/agent").rglob("*.py")]
    files += [
        support.SRC / "zeroin/fronts/__init__.py",
        support.SRC / "zeroin/fronts/cli/__init__.py",
    ]
    for path in files:
        ast.parse(path.read_text(), feature_version=(3, 9))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    env = {**os.environ, **packages.online()}
    command = [find_uv_bin(), "build", "-q", "--wheel", "-o", folder, support.ROOT]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    if done.returncode:
        pytest.skip(f"no wheel can be built here: {done.stderr[-200:]}")
    return next(folder.glob("*.whl"))


@pytest.mark.slow
def test_a_wheel_in_every_python(wheel, python, tmp_path):
    """The library works; the command on an old Python says what it needs, and ends with 2."""
    own = tmp_path / "v" / "bin" / "python"
    subprocess.run([find_uv_bin(), "venv", "-q", "-p", python, tmp_path / "v"], check=True)
    install = [find_uv_bin(), "pip", "install", "-q", "-p", own, "--no-index"]
    old = support.as_numbers(version(python)) < support.OLDEST_DRIVER
    # On an old Python nothing else is wanted, so all that uv looks for is there.
    subprocess.run([*install, *([] if old else ["--no-deps"]), wheel], check=True)
    env = {"PYTHONPATH": ""}
    code = "from zeroin import peek, section, sections, log\nwith section('s'): peek(1 + 1)\n"
    done = start([own, "-c", code], tmp_path, env)
    assert (done.returncode, "1 + 1 = 2\n" in done.stderr) == (0, True)
    for command in ([tmp_path / "v/bin/zeroin"], [own, "-m", "zeroin"]):
        done = start([*command, "--version"], tmp_path, env)
        if old:
            assert (done.returncode, done.stdout) == (2, "")
            assert "needs Python 3.11 or newer, and this is 3." in done.stderr
            assert "Traceback" not in done.stderr
        else:
            assert (done.returncode, done.stdout) == (0, f"zeroin {package.__version__}\n")


def test_json_of_nothing(zeroin, tmp_path):
    """A run without the library has no peeks and no log."""
    zeroin("run", "--", "true", cwd=tmp_path)
    told = json.loads(zeroin("show", "--json", cwd=tmp_path).stdout)
    assert (told["peeks"], told["log"]) == ("", None)
