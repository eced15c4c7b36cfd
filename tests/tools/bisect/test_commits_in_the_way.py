"""`zeroin bisect commits`: whatever lies about in the checkout, and code that is not the commit's."""

import os
import subprocess

import pytest

import packages
from repositories import BAD, GOOD

COMMAND = ("--", "python", "repro.py")


def test_same_size_within_a_second(bisect, repository):
    """Bytecode that looks fresh and is not: git's own way names the wrong commit, we don't."""
    one = "def add(x):\n    return x + {}\n"
    shas = repository.commits(*[one.format(1 if n < 23 else 2) for n in range(64)])
    repository.write("run.sh", "PYTHONPATH=src exec python repro.py\n")
    repository.git("bisect", "start", "HEAD", "HEAD~63")
    told = repository.git("bisect", "run", "sh", "run.sh")
    fooled = f"{shas[23]} is the first bad commit" not in told
    repository.git("bisect", "reset")
    subprocess.run(["find", "src", "-name", "__pycache__"], cwd=repository.folder, check=True)
    done = bisect("commits", "HEAD~63", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[23]
    assert fooled  # or this test would show nothing


def test_commits_that_tell_nothing(bisect, repository):
    """A stretch that can't be imported is skipped; where the answer is in it, it is a range."""
    broken = "def add(x:\n"
    texts = [GOOD] * 20 + [broken] * 6 + [BAD] * 20
    for number, text in enumerate(texts):
        texts[number] = {"src/pkg/core.py": text, "number.txt": f"{number}\n"}
    shas = repository.commits(*texts)
    done = bisect("commits", "HEAD~45", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (1, "range")
    assert done.told["candidates"] == shas[20:27]
    assert {one["name"] for one in done.told["skipped"]} == set(shas[20:26])
    assert "SyntaxError" in done.told["skipped"][0]["reason"]


def test_data_that_git_ignores(bisect, repository):
    """It is there in each try, however large; what a try writes is not seen by anybody."""
    shas = repository.commits(*[GOOD if n < 5 else BAD for n in range(10)])
    repository.write(".gitignore", "data/\n")
    large = repository.write("data/large.bin", "x" * 3_000_000)
    repository.write("notes.txt", "small")
    repository.write(
        "repro.py",
        "from pathlib import Path\nfrom pkg.core import add\n"
        "assert len(Path('data/large.bin').read_text()) == 3_000_000\n"
        "assert Path('notes.txt').read_text() == 'small'\n"
        "for name in ('data/large.bin', 'notes.txt', 'data/new', 'src/pkg/core.py', 'new'):\n"
        "    Path(name).write_text('')\n"
        "assert add(1) == 2\n",
    )
    before = repository.state()
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[5]
    assert large.stat().st_size == 3_000_000
    assert (repository.folder / "notes.txt").read_text() == "small"
    assert not (repository.folder / "data" / "new").exists()
    assert repository.state()[1:] == before[1:]


def test_a_repro_that_is_changed(bisect, repository):
    """One that is committed, and changed since: it counts as it is; what else is changed, not."""
    repository.git("rm", "-q", "--cached", "--ignore-unmatch", "repro.py")
    first = {"src/pkg/core.py": GOOD, "repro.py": "pass\n"}
    shas = repository.commits(first, *[GOOD if n < 4 else BAD for n in range(9)])
    repository.write("repro.py", "from pkg.core import add\nassert add(1) == 2\n")
    repository.write("src/pkg/core.py", "raise MemoryError\n")
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[5]
    assert "src/pkg/core.py" in " ".join(done.told["notes"])


def test_a_repro_that_is_younger_than_the_code(bisect, repository):
    """Committed at last only: it is there in the old commits as well."""
    texts = [GOOD if n < 4 else BAD for n in range(9)]
    last = {"repro.py": "from pkg.core import add\nassert add(1) == 2\n"}
    (repository.folder / "repro.py").unlink()
    shas = repository.commits(*texts, last)
    done = bisect("commits", "HEAD~9", *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[4]


def test_the_wrong_copy(bisect, repository, tmp_path):
    """Where the program loads another copy of the package, it is not tested but told."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    other = tmp_path / "elsewhere" / "pkg"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "core.py").write_text(BAD)
    text = f"import sys\nsys.path.insert(0, {str(other.parent)!r})\n"
    repository.write("repro.py", f"{text}from pkg.core import add\nassert add(1) == 2\n")
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=repository.folder)
    assert (done.code, done.told["verdict"]) == (1, "not-reproduced")
    assert f"pkg was imported from {other}" in done.told["why"]
    assert shas


def test_an_installed_copy(bisect, repository, tmp_path):
    """A package that is also installed: the commit's own is what is tested."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    other = tmp_path / "site" / "pkg"
    other.mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "core.py").write_text(BAD)
    site = {"PYTHONPATH": str(other.parent)}
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=repository.folder, env=site)
    assert done.told["first_bad"] == shas[4]


def test_builds(bisect, repository):
    """With --build each commit is built first; one that does not is skipped."""
    build = "cp src/pkg/core.py built.py"
    texts = [{"src/pkg/core.py": GOOD if n < 6 else BAD, "ok": "1"} for n in range(12)]
    texts[5]["ok"] = None
    texts[7]["ok"] = None
    shas = repository.commits(*texts)
    repository.write("repro.py", "from built import add\nassert add(1) == 2\n")
    repository.write("built.py", "raise MemoryError\n")  # of the user's own checkout
    repository.write(".gitignore", "built.py\n")
    line = f"test -e ok && {build}"
    done = bisect("commits", "HEAD~11", "--build", line, *COMMAND, cwd=repository.folder)
    assert (done.told["verdict"], done.told["candidates"]) == ("range", shas[5:7])
    assert "does not build" in done.told["skipped"][0]["reason"]


def test_submodules(bisect, repository, tmp_path, zeroin):
    """They are at the commit that belongs to each, without a network."""
    inner = type(repository)(tmp_path / "inner", zeroin.env)
    versions = inner.commits({"lib.py": "V = 1\n"}, {"lib.py": "V = 2\n"})
    allow = ("-c", "protocol.file.allow=always")
    repository.commits({"src/pkg/core.py": GOOD})
    repository.git(*allow, "submodule", "--quiet", "add", str(inner.folder), "lib")
    for number in range(8):
        repository.git("-C", "lib", "checkout", "-q", versions[number >= 5])
        repository.write("number.txt", str(number))
        repository.git("commit", "-q", "-a", "-m", f"{number}")
    repository.write(
        "repro.py", "import sys\nsys.path.append('lib')\nimport lib\nassert lib.V == 1\n"
    )
    shas = repository.git("log", "--reverse", "--format=%H").split()
    done = bisect("commits", shas[1], *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[6]
    assert repository.git("-C", "lib", "rev-parse", "HEAD").strip() == versions[1]


def test_submodules_come_from_the_users_own_copies_alone(bisect, repository, tmp_path, zeroin):
    """Also those in others; what else a commit names, any folder of the machine, is not cloned."""
    make = type(repository)
    deep, inner, private = (
        make(tmp_path / one, zeroin.env) for one in ("deep", "inner", "private")
    )
    deep.commits({"deep.txt": "deep"})
    secret = private.commits({"secret.txt": "secret"})[-1]
    allow = ("-c", "protocol.file.allow=always")
    inner.commits({"lib.py": "V = 1\n"})
    inner.git(*allow, "submodule", "--quiet", "add", str(deep.folder), "deep")
    inner.git("commit", "-q", "-m", "deeper")
    repository.commits({"src/pkg/core.py": GOOD})
    repository.git(*allow, "submodule", "--quiet", "add", str(inner.folder), "lib")
    repository.git(*allow, "submodule", "--quiet", "update", "--init", "--recursive")
    modules = (repository.folder / ".gitmodules").read_text()
    stolen = f'[submodule "stolen"]\n\tpath = stolen\n\turl = {private.folder}\n'
    repository.write(".gitmodules", modules + stolen)
    repository.git("add", ".gitmodules")
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{secret},stolen")
    for number in range(8):
        repository.write("number.txt", str(number))
        repository.git("add", "number.txt")
        repository.git("commit", "-q", "-m", f"{number}")
    repository.write(
        "repro.py",
        "import os\nassert not os.path.exists('stolen/secret.txt'), 'cloned'\n"
        "assert os.path.exists('lib/deep/deep.txt'), 'none'\n"
        "assert int(open('number.txt').read()) < 5\n",
    )
    shas = repository.git("log", "--reverse", "--format=%H").split()
    done = bisect("commits", shas[-8], *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[-3]


@pytest.mark.parametrize("name", ["a repo, ü [1]", "a:b"])
def test_odd_names(bisect, repository, name):
    """Of the repository, and of what is not committed; where PYTHONPATH can't say it, that is said."""
    shas = repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    repository.write("new\nline.txt", "x")
    repository.write("da:ta/big [1]*.bin", "x" * 2_000_000)
    folder = repository.folder.rename(repository.folder.parent / name)
    done = bisect("commits", "HEAD~8", *COMMAND, cwd=folder)
    if ":" in name:
        assert "PYTHONPATH can't name" in done.told["why"]
    else:
        assert done.told["first_bad"] == shas[4]
    assert (folder / "da:ta" / "big [1]*.bin").stat().st_size == 2_000_000


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
@pytest.mark.parametrize("size", ["16k", "100k"])
def test_a_full_temporary_folder(repository, zeroin, tmp_path, size):
    """Exit code 125 and what to do; nothing is left there."""
    repository.commits(*[GOOD if n < 4 else BAD for n in range(9)])
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", small], check=True)
    try:
        words = ("bisect", "commits", "HEAD~8", *COMMAND)
        done = zeroin(*words, cwd=repository.folder, env={"TMPDIR": str(small)})
        assert done.returncode == 125, done.stderr
        assert "set TMPDIR" in done.stderr  # git's own words differ by what it was at
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)


def test_resets(bisect, repository):
    """They are run before each try, and see what the try sees."""
    shas = repository.commits(*[GOOD if n < 7 else BAD for n in range(20)])
    repository.write("counted.txt", "")
    script = (
        "from pkg.core import add\nassert open('counted.txt').read() == 'x'\nassert add(1) == 2\n"
    )
    repository.write("repro.py", script)
    words = ("HEAD~19", "--reset", "printf x > counted.txt")
    done = bisect("commits", *words, *COMMAND, cwd=repository.folder)
    assert done.told["first_bad"] == shas[7]
    assert (repository.folder / "counted.txt").read_text() == ""


@pytest.mark.parametrize("good", [(), ("HEAD~2",)], ids=["looked for", "given"])
def test_an_end_that_does_not_build(bisect, repository, good):
    """What to do is said with it, whether a good one is given or looked for."""
    repository.commits(GOOD, GOOD, BAD)
    words = ("commits", *good, "--build", "echo broken; false", *COMMAND)
    done = bisect(*words, cwd=repository.folder)
    assert "it does not build: broken" in done.told.get("why", "") + done.err
    assert "a --build line that builds this one" in done.told.get("hint", "") + done.err


PROJECT = """\
[build-system]
requires = ["setuptools>=61"]
build-backend = "setuptools.build_meta"

[project]
name = "pkg"
version = "{version}"
dependencies = ["{needs}"]
"""


@pytest.mark.slow
@packages.needs_index()
def test_what_each_commit_requires(bisect, repository):
    """--editable: an environment for each state of the requirements, and the commit itself in it."""
    use = "import importlib.metadata as m\nimport iniconfig\n\ndef add(x):\n    return x + {}\n"
    texts = [
        {
            "pyproject.toml": PROJECT.format(version="1.0", needs="iniconfig==2.0.0"),
            "src/pkg/core.py": use.format("(m.version('iniconfig') != '2.0.0') + 1"),
            "number.txt": f"{number}\n",
        }
        for number in range(9)
    ]
    for one in texts[5:]:
        one["pyproject.toml"] = PROJECT.format(version="2.0", needs="iniconfig==1.1.1")
    shas = repository.commits(*texts)
    words = ("commits", "HEAD~8", "--editable", *COMMAND)
    done = bisect(*words, cwd=repository.folder, env=packages.online(), timeout=200)
    assert done.told["first_bad"] == shas[5], done.told["why"]
    assert done.told["about"]["commit"]["files"][1]["path"] == "pyproject.toml"
    assert not list(repository.folder.glob("**/*.egg-info"))


def test_requirements_and_no_project(bisect, repository, tmp_path):
    """--editable: what each commit lists is installed; the command may be one of that."""
    index = packages.Index(tmp_path / "index")
    for version, body in (("1.0", "pass"), ("2.0", "raise ValueError('no total')")):
        code = {"shop.py": f"def total():\n    {body}\n"}
        index.add("shop", version, code, scripts={"shop-total": "shop:total"})
    texts = [
        {
            "requirements.txt": f"shop=={'1.0' if number < 4 else '2.0'}\n",
            "number.txt": f"{number}\n",
        }
        for number in range(7)
    ]
    shas = repository.commits(*texts)
    words = ("commits", "HEAD~6", "--editable", "--", "shop-total")
    done = bisect(*words, cwd=repository.folder, env=index.env)
    assert done.told["first_bad"] == shas[4], done.told["why"]


def test_nothing_to_install(bisect, repository):
    """--editable: that nothing is required is said, and what to do."""
    repository.commits(*[{"number.txt": f"{number}\n"} for number in range(3)])
    done = bisect("commits", "HEAD~2", "--editable", *COMMAND, cwd=repository.folder)
    assert "nothing says what it requires" in done.told["why"]
    assert done.told["hint"] == "leave --editable out"
