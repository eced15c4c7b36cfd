"""A package that is installed as a copy, and the checkout that it was installed from."""

import os
import shutil
import subprocess
import sys

import pytest

import support

USE = "import shop\nassert shop.total() == 7, 'total'\n"


class Checkout:
    """A repository of a package, a copy of which is installed."""

    def __init__(self, base, zeroin, below):
        self.zeroin = zeroin
        self.folder = base / "repo"
        self.code = self.folder / below / "shop"
        self.code.mkdir(parents=True)
        (self.folder / ".gitignore").write_text("__pycache__\n.venv\n")
        (self.folder / "scripts").mkdir()
        (self.folder / "scripts" / "use.py").write_text(USE)
        python = self.folder / ".venv"
        support.place_python(python, support.base_python())
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self.site = python / "lib" / version / "site-packages"
        self.site.mkdir(parents=True)
        self.path = f"{python / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
        self.git("init", "-q")

    def git(self, *words):
        who = ("-c", "user.name=me", "-c", "user.email=me@example.org")
        subprocess.run(["git", *who, *words], cwd=self.folder, env=self.zeroin.env, check=True)

    def commit(self, total):
        (self.code / "__init__.py").write_text(f"def total():\n    return {total}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", total)

    def install(self):
        """A copy, without the tests that lie in the package."""
        shutil.copytree(self.code, self.site / "shop", dirs_exist_ok=True)
        (self.code / "tests").mkdir(exist_ok=True)
        (self.code / "tests" / "test_a.py").write_text("")

    def ask(self, *words, **env):
        done = self.zeroin(*words, cwd=self.folder, env={"PATH": self.path, **env})
        return done.stdout + done.stderr


@pytest.mark.parametrize("below", ["src", "."])
def test_which_copy_is_run_and_which_is_tried(tmp_path, zeroin, below):
    """`run` says that it is not the checkout's, `bisect commits` that it is not the installed."""
    checkout = Checkout(tmp_path, zeroin, below)
    checkout.commit("7")
    checkout.install()
    run = ("run", "--", "python", "scripts/use.py")
    assert "was imported from" not in checkout.ask(*run), "both are the same"
    checkout.commit("3 + 4")
    checkout.commit("8")
    copy = checkout.site / "shop" / "__init__.py"
    said = checkout.ask(*run)
    code = os.path.normpath(os.path.join(below, "shop"))
    assert f"shop was imported from {copy.relative_to(checkout.folder)}, which differs" in said
    assert f"from {code}: PYTHONPATH={below} runs the checkout" in said
    assert "passed" in said
    told = checkout.ask("run", "--env", f"PYTHONPATH={below}", "--", "python", "scripts/use.py")
    assert "was imported from" not in told
    assert "failed" in told
    found = checkout.ask("bisect", "commits", "HEAD~2", "--", "python", "scripts/use.py")
    assert f"each try imports shop as the commit has it, not the installed copy: {copy}" in found
    assert '"8"' in found


def test_another_package_of_that_name_that_is_not_imported(tmp_path, zeroin):
    """What a program does not import is not spoken of."""
    checkout = Checkout(tmp_path, zeroin, "src")
    checkout.commit("7")
    checkout.install()
    checkout.commit("8")
    (checkout.folder / "scripts" / "use.py").write_text("assert False\n")
    assert "was imported from" not in checkout.ask("run", "--", "python", "scripts/use.py")


def test_a_loop_says_it_once(tmp_path, zeroin):
    """Who edits the checkout in vain is told with the first run, not with each."""
    checkout = Checkout(tmp_path, zeroin, "src")
    checkout.commit("7")
    checkout.install()
    checkout.commit("8")
    command = ("loop", "--json", "--", "python", "scripts/use.py")
    done = zeroin(
        *command, cwd=checkout.folder, env={"PATH": checkout.path}, input="cold\ncold\nquit\n"
    )
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr.count("shop was imported from .venv") == 1
