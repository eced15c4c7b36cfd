"""`zeroin bisect commits` where a part of the package is compiled: whose code was it?"""

from __future__ import annotations

import subprocess
import sysconfig

import pytest

import packages
from zeroin.axes.commits import built
from zeroin.axes.commits.git import Git
from zeroin.axes.commits.worktree import Worktree, borrow

COMMAND = ("--", "python", "repro.py")
PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "pkg"
version = "1.0"
"""
SETUP = """\
from setuptools import Extension, setup
from tools.names import NAME

setup(ext_modules=[Extension(f"pkg.{NAME}", ["src/pkg/_add.c"])])
"""
SOURCE = """\
#include <Python.h>
static PyObject *add(PyObject *self, PyObject *arg) {
    return PyLong_FromLong(PyLong_AsLong(arg) + %d);
}
static PyMethodDef methods[] = {{"add", add, METH_O, ""}, {NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_add", "", -1, methods};
PyMODINIT_FUNC PyInit__add(void) { return PyModule_Create(&module); }
"""
LAST = "import sys\nsys.path.insert(0, '.')\n"


@pytest.fixture
def compiled(repository):
    """Nine commits of a package with a C extension; the source changes in the 4th and the 7th."""
    first = {
        "pyproject.toml": PROJECT,
        "setup.py": LAST + SETUP,
        "tools/names.py": "NAME = '_add'\n",
        ".gitignore": "*.so\n",
        "src/pkg/_add.c": SOURCE % 1,
        "src/pkg/core.py": "from pkg._add import add\n",
    }
    texts = [first, *({"src/pkg/core.py": f"from pkg._add import add  # {n}\n"} for n in range(8))]
    texts[3]["src/pkg/_add.c"] = "/* as it was */\n" + SOURCE % 1
    texts[6]["src/pkg/_add.c"] = SOURCE % 2
    repository.shas = repository.commits(*texts)
    return repository


@pytest.mark.slow
@pytest.mark.needs("gcc")
@packages.needs_index()
def test_a_c_extension_is_built_for_each_state(bisect, compiled, tmp_path):
    """--editable: the commit that changes the C source; built once for each state of it.

    The user's own build, which is newer than all of them, is in no try.
    """
    name = f"_add{sysconfig.get_config_var('EXT_SUFFIX')}"
    stale = compiled.write(f"src/pkg/{name}", "not a library")
    env = {**packages.online(), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    words = ("commits", "HEAD~8", "--editable", *COMMAND)
    done = bisect(*words, cwd=compiled.folder, env=env, timeout=200)
    assert done.told["first_bad"] == compiled.shas[6], done.told
    paths = [one["path"] for one in done.told["about"]["commit"]["files"]]
    assert "src/pkg/_add.c" in paths
    made = list((tmp_path / "cache" / "zeroin" / "editable").glob("*/.left/src/pkg/*.so"))
    assert 2 <= len(made) <= 3  # of nine commits
    assert stale.read_text() == "not a library"
    assert compiled.git("status", "--porcelain") == "?? repro.py\n"


@pytest.mark.needs("gcc")
def test_what_is_compiled_for_the_checkout_is_no_proof(bisect, compiled):
    """Without --editable or --build each try would load the same library: that is said."""
    name = f"_add{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_paths()["include"]
    target = compiled.folder / "src" / "pkg" / name
    source = compiled.folder / "src" / "pkg" / "_add.c"
    words = ["gcc", "-shared", "-fPIC", f"-I{include}", str(source), "-o", str(target)]
    subprocess.run(words, check=True)
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=compiled.folder)
    assert done.told["verdict"] == "not-reproduced"
    assert f"pkg._add was imported from {target}, which was compiled for" in done.told["why"]
    assert done.told["hint"].startswith("add --editable")
    same = bisect("commits", "HEAD~1", *COMMAND, cwd=compiled.folder)  # the sources don't differ
    assert "compiled for" not in same.told["why"]


@pytest.fixture
def states(repository, tmp_path):
    """How the state of a build is called, for each of some commits."""

    def told(*texts):
        shas = repository.commits(*texts)
        git = Git(str(repository.folder))
        tree = Worktree(
            borrow(git, str(tmp_path / "own")), str(tmp_path / "tree"), git, (), shas[0]
        )
        found = []
        for sha in shas:
            tree.switch(sha)
            found.append(built.state(tree.folder, tree.files()))
        return found

    return told


SIMPLE = "from setuptools import setup\nimport tools.names\nexec(open('src/pkg/about.py').read())\n"


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("src/pkg/core.py", False),
        ("README.md", False),
        (".github/workflows/ci.yaml", False),
        ("src/pkg/_add.c", True),
        ("include/deep/add.h", True),
        ("src/pkg/_fast.pyx", True),
        ("CMakeLists.txt", True),
        ("setup.py", True),
        ("tools/names.py", True),  # imported by setup.py,
        ("tools/__init__.py", True),
        ("tools/more.py", True),  # and by that one
        ("src/pkg/about.py", True),  # named by setup.py
        ("src/pkg/version.py", True),  # by pyproject.toml
    ],
)
def test_what_a_build_reads(states, path, counts):
    """A change of it is a new state; a change of what no build reads is none."""
    texts = {
        "setup.py": SIMPLE,
        "pyproject.toml": '[tool.setuptools.dynamic]\nversion = {attr = "pkg.version.V"}\n',
        "tools/__init__.py": "",
        "tools/names.py": "from .more import (\n    NAME,\n)\n",
        "tools/more.py": "NAME = 1\n",
        "src/pkg/core.py": "",
        "src/pkg/about.py": "",
        "src/pkg/version.py": "V = '1'\n",
    }
    before, after, back = states(
        texts, {path: texts.get(path, "") + "# changed\n"}, {path: texts.get(path)}
    )
    assert (before != after) is counts
    assert before == back


def test_where_python_is_compiled_all_of_it_counts(states):
    """With mypyc, or Cython for Python files."""
    setup = "from mypyc.build import mypycify\nfrom setuptools import setup\n"
    before, after = states({"setup.py": setup}, {"src/pkg/core.py": "X = 1\n"})
    assert before != after
