"""`show --oneliner` and `again --code` with code that an editable install leads to."""

import os
import subprocess
import sys

import pytest

import support

WORKS = "def total():\n    return 7\n"
BROKEN = "from shop.rates import RATE\n\n\ndef total():\n    raise ValueError(f'broken {RATE}')\n"
# What installers write for packages that no single folder of the path leads to.
HOOK = """\
import importlib.machinery, importlib.util, sys
class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name == 'shop':
            return importlib.util.spec_from_file_location(name, {file!r})
sys.meta_path.append(Finder)
"""
USE = "import shop\nprint(shop.__file__)\nshop.total()\n"


def git(folder, *words, env):
    who = ("-c", "user.name=me", "-c", "user.email=me@example.org")
    done = subprocess.run(
        ["git", *who, *words], cwd=folder, env=env, check=True, capture_output=True, text=True
    )
    return done.stdout


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Story:
    """A program, and a package that is installed editable, in one repository or in two."""

    def __init__(self, base, zeroin, repository, project, package):
        self.zeroin = zeroin
        self.base = base
        self.project = base / repository / project
        self.shop = base / package
        self.python = base / "venv"
        support.place_python(self.python, support.base_python())
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.site = self.python / "lib" / version / "site-packages"
        self.site.mkdir(parents=True)
        path = f"{self.python / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
        self.env = {**zeroin.env, "PATH": path}
        self.repository = base / repository
        write(self.project, {"pyproject.toml": "", "scripts/use.py": USE})
        write(self.shop, {"__init__.py": WORKS, "old.py": "", "data.bin": "\0old"})
        (self.shop.parent / "pyproject.toml").touch()
        self.repositories = sorted({self.repository, *self._other_repositories()})
        for one in self.repositories:
            write(one, {".gitignore": "_version.py\n__pycache__\n.zeroin\n"})
            git(one, "init", "-q", env=self.env)
            git(one, "add", ".", env=self.env)
            git(one, "commit", "-q", "-m", "one", env=self.env)

    def _other_repositories(self):
        if not self.shop.is_relative_to(self.repository):
            yield self.shop.parent

    def install(self, *, hook=False):
        """Editable."""
        if hook:
            (self.site / "shop_hook.py").write_text(
                HOOK.format(file=str(self.shop / "__init__.py"))
            )
            (self.site / "shop.pth").write_text("import shop_hook\n")
        else:
            (self.site / "shop.pth").write_text(f"{self.shop.parent}\n")

    def run(self, *words):
        done = self.zeroin(*words, cwd=self.project, env={"PATH": self.env["PATH"]})
        return done.stdout + done.stderr

    def put_right(self):
        """As it was committed."""
        for one in self.repositories:
            git(one, "checkout", "-q", ".", env=self.env)
            git(one, "clean", "-fdq", env=self.env)

    def paste(self, line, ignored=()):
        """Into a shell, in another clone that has files of its own which git ignores."""
        clone = self.base / "clone"
        git(self.base, "clone", "-q", str(self.repository), str(clone), env=self.env)
        for place in ignored:
            (clone / place).symlink_to((self.project / place).resolve())
        version = self.shop / "_version.py"
        if version.exists() and self.shop.is_relative_to(self.repository):
            place = clone / self.shop.relative_to(self.repository)
            (place / "_version.py").write_text(version.read_text())
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=clone, env=self.env, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert len(git(clone, "worktree", "list", env=self.env).splitlines()) == 1
        return done.stdout + done.stderr


LAYOUTS = {
    "a folder on the path": ("repo", ".", "repo/src/shop", False),
    "the top on the path": ("repo", ".", "repo/shop", False),
    "a hook": ("repo", ".", "repo/lib/shop", True),
    "another project of the repository": ("repo", "app", "repo/libs/shop-lib/shop", False),
    "another repository": ("repo", ".", "other/shop", False),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_uncommitted_code_of_an_editable_install(tmp_path, zeroin, layout):
    """Both run what was run, also when the install leads to other code by now.

    Changed, new, deleted and binary files are brought about.
    """
    *places, hook = layout
    story = Story(tmp_path, zeroin, *places)
    story.install(hook=hook)
    checks = (
        "import os\nhere = os.path.dirname(__file__)\nassert not os.path.exists(here + '/old.py')\n"
    )
    checks += "assert open(here + '/data.bin', 'rb').read() == b'\\0new\\xff'\n"
    write(story.shop, {"__init__.py": checks + BROKEN, "rates.py": "RATE = 'new'\n"})
    (story.shop / "old.py").unlink()
    (story.shop / "data.bin").write_bytes(b"\0new\xff")
    assert "ValueError: broken new" in story.run("run", "--", "python", "scripts/use.py")
    line = story.run("show", "1", "--oneliner").strip()
    assert "\n" not in line
    story.put_right()
    again = story.run("again", "1", "--code")
    pasted = story.paste(line)
    for said in (again, pasted):
        assert "ValueError: broken new" in said
        assert str(story.shop) not in said


def test_modules_that_git_ignores(tmp_path, zeroin):
    """What an install has written into the package is taken from the clone where the line runs."""
    story = Story(tmp_path, zeroin, "repo", ".", "repo/src/shop")
    story.install()
    broken = "from shop._version import VERSION\n\n\ndef total():\n    raise ValueError(VERSION)\n"
    write(story.shop, {"__init__.py": broken, "_version.py": "VERSION = 'one'\n"})
    story.run("run", "--", "python", "scripts/use.py")
    line = story.run("show", "1", "--oneliner").strip()
    story.put_right()
    assert "ValueError: one" in story.paste(line)


@pytest.mark.parametrize("is_absolute", [False, True])
def test_files_of_the_command_that_git_ignores(tmp_path, zeroin, is_absolute):
    """The environment and the data that the command names are those of the clone."""
    story = Story(tmp_path, zeroin, "repo", ".", "repo/src/shop")
    story.install()
    write(story.repository, {".git/info/exclude": ".venv\ndata\n", "data/rows.txt": "seven"})
    (story.project / ".venv").symlink_to(story.python)
    broken = "import sys\ndef total():\n    raise ValueError(open(sys.argv[1]).read())\n"
    write(story.shop, {"__init__.py": broken})
    python = str(story.project / ".venv/bin/python") if is_absolute else ".venv/bin/python"
    story.run("run", "--", python, "scripts/use.py", "data/rows.txt")
    line = story.run("show", "1", "--oneliner").strip()
    story.put_right()
    assert "ValueError: seven" in story.paste(line, ignored=(".venv", "data"))
    assert str(story.project) not in line


def test_an_interpreter_beside_the_repository(tmp_path, zeroin):
    """It is looked for beside the clone, by the same way."""
    story = Story(tmp_path, zeroin, "repo", ".", "other/shop")
    story.install()
    write(story.shop, {"__init__.py": WORKS.replace("return 7", "raise ValueError('broken')")})
    story.run("run", "--", "../venv/bin/python", "scripts/use.py")
    line = story.run("show", "1", "--oneliner").strip()
    story.put_right()
    assert "ValueError: broken" in story.paste(line)


def test_code_that_no_line_can_hold(tmp_path, zeroin):
    """It is said which changes of another repository the line does without."""
    story = Story(tmp_path, zeroin, "repo", ".", "other/shop")
    story.install()
    write(story.shop, {"__init__.py": WORKS.replace("return 7", "raise ValueError('broken')")})
    (story.shop / "data.bin").write_bytes(os.urandom(200_000))
    story.run("run", "--", "python", "scripts/use.py")
    told = story.run("show", "1", "--oneliner")
    assert f"the line does without the changes in {tmp_path / 'other'}" in told
