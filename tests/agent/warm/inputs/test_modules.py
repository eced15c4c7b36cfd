"""Modules that were imported, and those that were looked for."""

import itertools
import os


def test_modules_that_come_and_go(ask, tmp_path):
    """A new module that was looked for, one that shadows, one that is gone; others don't count."""
    (tmp_path / "mine.py").touch()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "sub.py").touch()
    told = ask(
        """
        step(); import mine, pkg.sub
        step(); import colorsys
        step()
        try: import faster
        except ImportError: pass
        try: from pkg import quick
        except ImportError: pass
        import importlib
        try: importlib.import_module("pkg.other")
        except ImportError: pass
        def one(*names): return fork(lambda: [save(n, "") for n in names])
        told = [
            one("unrelated.py", "pkg/unrelated.py"),
            one("faster.py"), one("colorsys.py"), one("pkg/quick.py", "pkg/other.py"),
            fork(lambda: os.remove("mine.py")), fork(lambda: os.remove("pkg/__init__.py")),
        ]
        """
    )
    new = [
        told[0],
        *([x for x in after if x not in before] for before, after in itertools.pairwise(told)),
    ]
    assert new[0] == []
    assert new[1] == [[3, "faster.py is new and had been looked for by import"]]
    assert new[2][0][0] == 2
    assert new[2][0][1].startswith("colorsys.py is new and would be imported instead of /")
    assert new[3] == [
        [3, "pkg/other.py is new and had been looked for by import"],
        [3, "pkg/quick.py is new and had been looked for by import"],
    ]
    assert [1, "mine.py is gone and had been looked for by import"] in new[4]
    assert [1, "pkg/__init__.py is gone and had been looked for by import"] in new[5]


def test_a_folder_that_does_not_shadow(ask):
    """A plain folder named like a package (some make one for their output) isn't imported."""
    told = ask(
        """
        step(); import colorsys
        told = [
            fork(lambda: os.mkdir("colorsys")),
            fork(lambda: save("colorsys/__init__.py", "")),
        ]
        """
    )
    assert told[0] == []
    assert told[1][0][0] == 1


def test_a_module_taken_from_its_cache_counts_by_its_source(ask, tmp_path):
    """The second import opens no source; caches themselves are no inputs."""
    (tmp_path / "mine.py").write_text("x = 1")
    program = """
        step(); import mine
        import shutil
        told = [os.path.exists("__pycache__"), fork(lambda: shutil.rmtree("__pycache__")),
                fork(lambda: save("mine.py", "x = 2"))]
        """
    for _ in range(2):
        (tmp_path / "mine.py").write_text("x = 1")
        os.utime(tmp_path / "mine.py", (1, 1))
        told = ask(program)
        assert told == [True, [], [[1, "mine.py was changed and had been read"]]]
        ask("import mine; told = 0")


def test_installed_packages(ask, tmp_path):
    """What pip does between two iterations counts from the start; a cache in site-packages doesn't."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "a-1.dist-info").mkdir()
    told = ask(
        """
        step()
        told = [
            fork(), fork(lambda: os.mkdir("lib/site-packages/__pycache__")),
            fork(lambda: os.mkdir("lib/site-packages/b-1.dist-info")),
        ]
        """,
        env={"PYTHONPATH": str(site)},
    )
    assert told == [[], [], [[0, "packages were installed or removed in lib/site-packages"]]]
