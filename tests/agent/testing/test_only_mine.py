"""`pytest --zeroin-only-mine`: the package under test is the checkout's, or the run fails."""

from __future__ import annotations

import shutil
import subprocess

import pytest

PACKAGE = "def price():\n    return 2\n"
TEST = "from {name} import price\n\ndef test_price():\n    assert price() == 2\n"
LATE = "def test_price():\n    from {name} import price\n    assert price() == 2\n"


class Checkout:
    """A project that is laid out in one of the usual ways, and a copy on the path."""

    def __init__(self, suite):
        self.suite = suite
        self.site = suite.folder.parent / "lib" / "site-packages"
        self.site.mkdir(parents=True)
        self.suite.env["PYTHONPATH"] += f":{self.site}"

    def package(self, folder: str, name: str = "shop", text: str = PACKAGE) -> None:
        package = self.suite.folder / folder / name.replace(".", "/")
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(text)

    def project(self, text: str, folder: str = ".") -> None:
        path = self.suite.folder / folder
        path.mkdir(parents=True, exist_ok=True)
        (path / "pyproject.toml").write_text(text)

    def install(self, folder: str, name: str = "shop") -> None:
        """As `pip install .` does: a copy."""
        top = name.partition(".")[0]
        shutil.copytree(self.suite.folder / folder / top, self.site / top)

    def test(self, text: str = TEST, name: str = "shop", at: str = "tests/test_price.py") -> None:
        path = self.suite.folder / at
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.format(name=name))

    def __call__(self, *args: str, **env: str):
        words = [f"{self.suite.folder.parent}/pytest-runner.py"]
        # `pytest` and not `python -m pytest`, which puts the working folder on the path.
        runner = self.suite.folder.parent / "pytest-runner.py"
        runner.write_text("import sys, pytest\nsys.exit(pytest.console_main())\n")
        return subprocess.run(
            [self.suite.runner, "-P", *words, "--zeroin-only-mine", "-q", *args],
            cwd=self.suite.folder,
            env={**self.suite.env, **env},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture
def checkout(suite):
    """A checkout without a package yet."""
    return Checkout(suite)


@pytest.mark.parametrize("folder", ["src", "."], ids=["src layout", "flat layout"])
def test_an_installed_copy_fails_the_run(checkout, folder):
    """Both files are named, and what to type puts it right."""
    checkout.package(folder)
    checkout.install(folder)
    checkout.test()
    done = checkout("--import-mode=importlib")
    assert done.returncode == 4, done.stdout + done.stderr
    assert "the tests do not test this checkout: a copy of it was imported" in done.stderr
    mine = checkout.suite.folder / folder / "shop" / "__init__.py"
    assert f"shop came from {checkout.site}/shop/__init__.py" in done.stderr
    assert f"and not {mine.resolve()}" in done.stderr
    assert "python -m pip install -e ." in done.stderr
    assert f"PYTHONPATH={folder} python -m pytest" in done.stderr
    both = f"{folder}:{checkout.suite.env['PYTHONPATH']}"
    assert checkout("--import-mode=importlib", PYTHONPATH=both).returncode == 0


def test_a_copy_that_is_imported_late_fails_the_run_at_its_end(checkout):
    """Inside a test: the collection saw nothing."""
    checkout.package("src")
    checkout.install("src")
    checkout.test(LATE)
    done = checkout()
    assert (done.returncode, "1 passed" in done.stdout) == (1, True)
    assert "shop came from" in done.stdout


def test_workers_of_xdist_are_asked(checkout):
    """They are who import."""
    checkout.suite.load_plugins("xdist")
    checkout.package("src")
    checkout.install("src")
    checkout.test()
    # With two workers for one test pytest now and then did not end; why is not known.
    done = checkout("-n", "1")
    assert (done.returncode, "shop came from" in done.stdout) == (1, True), done.stdout


@pytest.mark.parametrize(
    "how", ["pth", "finder", "symlink", "conftest", "pythonpath"], ids=lambda how: how
)
def test_every_way_to_the_checkout_is_fine(checkout, how):
    """Editable installs of each kind, a conftest.py beside the package, pytest's own option."""
    checkout.package("src" if how != "conftest" else ".")
    checkout.test()
    src = checkout.suite.folder / "src"
    if how == "symlink":
        (checkout.site / "shop").symlink_to(src / "shop")
    elif how == "conftest":
        (checkout.suite.folder / "conftest.py").write_text("")
    elif how == "finder":
        code = (
            "import sys, importlib.util\nclass F:\n"
            "    @staticmethod\n    def find_spec(name, path=None, target=None):\n"
            "        if name == 'shop':\n"
            f"            return importlib.util.spec_from_file_location(name, {str(src / 'shop' / '__init__.py')!r})\n"
            "sys.meta_path.insert(0, F)\n"
        )
        (checkout.suite.folder / "conftest.py").write_text(code)
    elif how == "pth":
        (checkout.suite.folder / "conftest.py").write_text(
            f"import sys\nsys.path.append({str(src)!r})\n"
        )
    options = ["-o", "pythonpath=src"] if how == "pythonpath" else []
    done = checkout(*options)
    assert done.returncode == 0, done.stdout + done.stderr


def test_tests_inside_of_the_package(checkout):
    """The installed copy has the same tests; the ones here are run."""
    checkout.package(".")
    (checkout.suite.folder / "shop" / "tests").mkdir()
    (checkout.suite.folder / "shop" / "tests" / "__init__.py").write_text("")
    checkout.test(at="shop/tests/test_price.py")
    checkout.install(".")
    assert checkout("shop").returncode == 0


def test_a_namespace_is_shared(checkout):
    """Others' parts of it come from elsewhere; ours must not."""
    checkout.project("[project]\nname = 'acme.shop'\n")
    checkout.package("src", "acme.shop")
    other = checkout.site / "acme" / "other"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    checkout.test("import acme.other\n" + TEST, name="acme.shop")
    assert checkout("-o", "pythonpath=src").returncode == 0
    shutil.copytree(
        checkout.suite.folder / "src" / "acme" / "shop", checkout.site / "acme" / "shop"
    )
    done = checkout()
    assert (done.returncode, "acme.shop came from" in done.stderr) == (4, True)


def test_several_projects_in_one_checkout(checkout):
    """Each is asked for; the message says which one to install."""
    checkout.project("[project]\nname = 'all'\n")
    for name in ("shop", "stock"):
        checkout.project(f"[project]\nname = '{name}'\n", f"packages/{name}")
        checkout.package(f"packages/{name}/src", name)
    checkout.install("packages/stock/src", "stock")
    checkout.test("import stock\n" + TEST)
    done = checkout("-o", "pythonpath=packages/shop/src")
    assert done.returncode == 4, done.stdout
    assert "stock came from" in done.stderr
    assert "shop came from" not in done.stderr
    assert "python -m pip install -e ./packages/stock" in done.stderr


def test_what_is_only_installed_is_no_copy(checkout):
    """Compiled and generated modules have no counterpart in the checkout."""
    text = "__path__.append({!r})\nfrom shop._version import version\n" + PACKAGE
    built = checkout.site / "shop-built"
    built.mkdir()
    (built / "_version.py").write_text("version = 1\n")
    checkout.package("src", text=text.format(str(built)))
    checkout.test()
    done = checkout("-o", "pythonpath=src")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_dependency_with_the_name_of_a_folder_is_no_copy(checkout):
    """`datasets/` beside the package `shop/` is not what is under test."""
    checkout.package(".")
    checkout.package(".", "datasets")
    (checkout.site / "datasets").mkdir()
    (checkout.site / "datasets" / "__init__.py").write_text("price = lambda: 2\n")
    checkout.test("import datasets\n" + TEST)
    (checkout.suite.folder / "tests" / "conftest.py").write_text(
        f"import sys\nsys.path.append({str(checkout.suite.folder)!r})\n"
    )
    done = checkout()
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "[project]\nname='x'\n[tool.setuptools.packages.find]\nwhere=['lib']\n",
        "[project]\nname='x'\n[tool.setuptools]\npackage-dir={''='lib'}\n",
        "[tool.poetry]\nname='x'\npackages=[{include='shop', from='lib'}]\n",
        "[project]\nname='x'\n[tool.hatch.build.targets.wheel]\npackages=['lib/shop']\n",
        "",
    ],
    ids=["setuptools find", "setuptools package-dir", "poetry", "hatch", "setup.cfg"],
)
def test_sources_are_found_where_the_build_files_say(checkout, text):
    """In `lib/`, which nobody would guess."""
    checkout.project(text)
    if not text:
        (checkout.suite.folder / "setup.cfg").write_text(
            "[metadata]\nname = x\n[options]\npackage_dir =\n    = lib\n"
        )
    checkout.package("lib")
    checkout.install("lib")
    checkout.test()
    done = checkout()
    assert (done.returncode, "shop came from" in done.stderr) == (4, True), done.stdout
