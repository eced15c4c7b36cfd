"""What `pytest --zeroin` costs a test and a start, and `%load_ext zeroin` a cell.

pytest is started with zeroin installed beside it and not asked for, which is what every start
pays, against the same pytest without it; then with `--zeroin` on tests that do nothing, and on
tests that all fail. Cells are run by IPython itself, with the extension and without, in turn.
"""

from __future__ import annotations

import glob
import os
import subprocess
from typing import TYPE_CHECKING

import zeroin
from bench.measure import command, interleave
from bench.report import Row, at_most, more, ms

if TYPE_CHECKING:
    from bench.measure import Series
    from bench.scene import Scene

PASSING, FAILING = 1000, 100
FAILS = """\
import pytest

@pytest.mark.parametrize("n", range({count}))
def test_it(n):
    items = list(range(n))
    assert len(items) > {count}
"""
PASSES = """\
import pytest

@pytest.mark.parametrize("n", range({count}))
def test_it(n):
    pass
"""


def measure(scene: Scene) -> list[Row]:
    """Starts, tests, cells."""
    here = scene.make("fronts")
    for name, text, count in (
        ("one", PASSES, 1),
        ("pass", PASSES, PASSING),
        ("fail", FAILS, FAILING),
    ):
        with open(os.path.join(here, f"test_{name}.py"), "w", encoding="utf-8") as file:
            file.write(text.format(count=count))
    rows = _starts(scene, here)
    start = max(0.0, (rows[-1].values or {})["added"])  # once a session: no part of a test's cost
    rows += _tests(scene, here, start, "pass", PASSING, "a test that passes", 0.3)
    what = "a test that fails: values and its attempt"
    rows += _tests(scene, here, start, "fail", FAILING, what, 30)
    return rows + _cells(scene)


def _pytest(scene: Scene, test: str, *options: str) -> list[str]:
    """Also where tests fail: what is measured is the time."""
    line = 'exec "$@" || true' if test == "pass" else '"$@" || true'
    words = [scene.python, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider"]
    return ["sh", "-c", line, "sh", *words, *options, f"test_{test}.py"]


def _installed(scene: Scene) -> dict[str, str]:
    """An environment in which zeroin is found as an installed distribution.

    With the list of its files: pytest looks at each one of a distribution that has a plugin.
    """
    site = scene.make("site")
    info = os.path.join(site, "zeroin-0.dist-info")
    if not os.path.exists(info):
        os.makedirs(info)
        os.symlink(os.path.dirname(zeroin.__file__), os.path.join(site, "zeroin"))
        package = os.path.dirname(zeroin.__file__)
        files = glob.glob(os.path.join(package, "**", "*.py"), recursive=True)
        record = "".join(f"zeroin/{os.path.relpath(one, package)},,\n" for one in files)
        for name, text in (
            ("RECORD", record),
            ("METADATA", "Metadata-Version: 2.1\nName: zeroin\nVersion: 0\n"),
            ("entry_points.txt", "[pytest11]\nzeroin = zeroin.fronts.pytest_plugin\n"),
        ):
            with open(os.path.join(info, name), "w", encoding="utf-8") as file:
                file.write(text)
    return {**scene.env, "PYTHONPATH": site}


def _starts(scene: Scene, here: str) -> list[Row]:
    env = _installed(scene)
    cases = {
        "without zeroin": command(_pytest(scene, "one", "-p", "no:zeroin"), scene.env, here),
        "installed, not asked for": command(_pytest(scene, "one"), env, here),
        "--zeroin": command(_pytest(scene, "one", "--zeroin"), env, here),
    }
    series = interleave(cases, scene.rounds)
    bare = series["without zeroin"]
    rows = [_start("pytest with one test, without zeroin", bare, None, 0)]
    rows.append(_start("  installed, not asked for", series["installed, not asked for"], bare, 0))
    rows.append(_by_itself(scene, env))
    rows.append(_start("  with --zeroin", series["--zeroin"], bare, 50))
    return rows


def _by_itself(scene: Scene, env: dict[str, str]) -> Row:
    """The same, without all that pytest does: that is too much to see a few milliseconds in it."""
    words = [scene.python, scene.program("fronts_start.py")]
    told = [
        subprocess.run(words, env=env, capture_output=True, text=True, check=True).stdout.split()
        for _ in range(3 if scene.quick else 10)
    ]
    files, imports = (min(float(one[n]) for one in told) for n in (0, 1))
    return Row(
        "  of which by zeroin: pytest looks at its files, and imports the plugin",
        f"cpu {ms(files + imports)}",
        f"{ms(files)} and {ms(imports)}",
        (at_most((files + imports) * 1000, 5, "ms"),),
        {"files": files, "imports": imports},
    )


def _start(name: str, one: Series, bare: Series | None, limit: float) -> Row:
    added = one.cpu - bare.cpu if bare else 0.0
    return Row(
        name,
        f"{ms(one.wall):>8} ({ms(one.median)})  cpu {ms(one.cpu):>8}",
        f"cpu {more(added)}" if bare else "",
        (at_most(added * 1000, limit, "ms"),) if limit else (),
        {"wall": one.wall, "cpu": one.cpu, "added": added},
    )


def _tests(
    scene: Scene, here: str, start: float, test: str, count: int, what: str, limit: float
) -> list[Row]:
    env = _installed(scene)
    cases = {
        "bare": command(_pytest(scene, test), env, here),
        "ours": command(_pytest(scene, test, "--zeroin"), env, here),
    }
    series = interleave(cases, 3 if scene.quick else 7)
    added = max(0.0, series["ours"].cpu - series["bare"].cpu - start) / count
    plain = series["bare"].cpu / count
    return [
        Row(
            f"{what}, {count} of them",
            f"{added * 1000:.2f} ms a test",
            f"beside {plain * 1000:.2f} ms of pytest's own",
            (at_most(added * 1000, limit, "ms"),),
            {"added": added, "plain": plain},
        )
    ]


def _cells(scene: Scene) -> list[Row]:
    libs = os.environ.get("ZEROIN_TEST_LIBS", "")
    program = scene.program("fronts_cells.py")
    source = os.path.dirname(os.path.dirname(zeroin.__file__))
    if not libs:
        return [Row("cells: skipped, ZEROIN_TEST_LIBS names no Python with IPython")]
    done = subprocess.run(
        [libs, program, source], env=scene.env, capture_output=True, text=True, check=True
    )
    bare, ours = map(float, done.stdout.split()[-2:])
    return [
        Row(
            "a cell of three lines in IPython",
            f"+{(ours - bare) * 1000:.2f} ms",
            f"{ms(bare)} without the extension, {ms(ours)} with it",
            (at_most((ours - bare) * 1000, 5, "ms"),),
            {"bare": bare, "ours": ours},
        )
    ]
