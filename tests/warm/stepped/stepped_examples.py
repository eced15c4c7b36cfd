"""Example scripts of real projects: fetched from the package index, run plainly and stepped.

    python stepped_examples.py fetch          gets the source distributions, and what they need
    python stepped_examples.py list           names the scripts that are found
    python stepped_examples.py run [PART]     runs those whose name holds PART, and says what differs

The index is the one that pip is configured for. What is fetched stays in `.cache/examples`. A script
that doesn't run here, takes too long or differs from its own second run is left out, and counted.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

if __name__ == "__main__":  # run by hand, it is not pytest that makes the path
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import stepped

import support

HOME = support.ROOT / ".cache" / "examples"
PYTHON = HOME / "venv" / "bin" / "python"
SOURCES = HOME / "sources"
LONGEST = 10  # seconds that a script may take plainly, on a quiet machine


@dataclasses.dataclass(frozen=True)
class Project:
    """A project on the index: where its examples are, what they need, how many are tried."""

    places: list[str]
    most: int
    needs: list[str] = dataclasses.field(default_factory=list)
    small: bool = False  # fetched in an ordinary run, too: pure Python, and quick


PROJECTS = {
    "pyparsing": Project(["examples"], 110, ["matplotlib"]),
    "lark": Project(["examples"], 28, ["regex"], small=True),
    "simpy": Project(["docs/examples/code"], 7, small=True),
    "rich": Project(["-m rich"], 40, small=True),
    "ply": Project(["example"], 20, small=True),
    "prompt_toolkit": Project(["examples"], 40, small=True),
    "tqdm": Project(["examples"], 11),
    "colorama": Project(["demos"], 10, small=True),
    "pygments": Project(["scripts"], 10),
    "docutils": Project(["tools"], 10),
    "networkx": Project(["examples"], 80, ["matplotlib", "scipy", "pandas"]),
    "scikit-learn": Project(["examples"], 60, ["matplotlib", "pandas"]),
    "matplotlib": Project(["galleries/examples"], 60, ["numpy"]),
}

# Not for a test: they ask a server, open a window, want a terminal or never end.
AVOID = re.compile(
    r"user_interfaces|animation|event_handling|widgets|web|telnet|ssh|server|full-screen|"
    r"drawing/plot_(selfloops|center)|jit|3d_drawing|plot_osmnx|geospatial|subclasses|"
    r"setup\.py|conf\.py|rich/console|__init__\.py|inprocess|wordpress|clock|asyncio-|progress-bar"
)
# Addresses, times and figures of speed, which differ from run to run.
VARIES = [
    rb"0x[0-9a-f]+",
    rb"\d+(\.\d+)?(e-?\d+)? ?(s|ms|us|\xc2\xb5s|sec|secs|seconds|milliseconds|it/s|s/it)\b",
    rb"\d\d:\d\d(:\d\d)?",
]


class FetchError(Exception):
    """The index gives nothing, or not what is needed."""


# --- fetching -----------------------------------------------------------------------------


def projects(*, full: bool) -> dict[str, Project]:
    """Give all projects, or the few that are fetched quickly."""
    return {name: project for name, project in PROJECTS.items() if full or project.small}


def fetch(*, full: bool) -> None:
    """Make the environment and get the sources, once; what is there stays."""
    HOME.mkdir(parents=True, exist_ok=True)
    wanted = projects(full=full)
    with (HOME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not PYTHON.exists():
            _call([support.base_python(), "-m", "venv", str(HOME / "venv")], 120)
        needed = [*wanted, *(need for project in wanted.values() for need in project.needs)]
        names = sorted(set(needed))
        mark = HOME / "installed"
        if not mark.exists() or not set(names) <= set(mark.read_text().split()):
            _call([str(PYTHON), "-m", "pip", "install", "-q", *names], 900)
            mark.write_text(" ".join(names))
        lacking = [name for name in wanted if not _get_source(name)]
        if len(lacking) > len(wanted) // 2:
            raise FetchError(f"the package index has no sources of {' '.join(lacking)}")


def _call(command: list[str], patience: int) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=patience)
    except subprocess.SubprocessError as error:
        last = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[-1]
        raise FetchError(last) from error


def _get_source(project: str) -> bool:
    """Get a source distribution, unpacked.

    pip builds the metadata of what it downloads, which for some means to compile. Without a
    back end it can't, fails at once, and leaves the unpacked source where we told it to.
    """
    target = SOURCES / project
    if target.exists():
        return True
    scratch = HOME / "scratch" / project
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    command = [PYTHON, "-m", "pip", "download", "-q", "--no-clean", "--no-build-isolation"]
    command += ["--no-deps", "--no-binary", project, project, "-d", scratch / "packed"]
    env = {**os.environ, "TMPDIR": str(scratch)}
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, env=env, capture_output=True, check=False, timeout=300)
    found = [path.parent for path in scratch.glob("pip-*/*/PKG-INFO")]
    if found:
        target.parent.mkdir(exist_ok=True)
        shutil.move(found[0], target)
    shutil.rmtree(scratch, ignore_errors=True)
    return bool(found)


def scripts(*, full: bool) -> list[str]:
    """Name the example scripts, as `project/path`, in an order that mixes the projects."""
    found = []
    for name, project in projects(full=full).items():
        root = SOURCES / name
        own = []
        for place in project.places:
            below = root / place.removeprefix("-m ")
            for path in sorted(below.rglob("*.py")):
                shown = f"{name}/{path.relative_to(root)}"
                text = path.read_text(errors="replace")
                demo = not place.startswith("-m ") or 'if __name__ == "__main__"' in text
                if demo and not AVOID.search(shown):
                    own.append(shown)
        found += sorted(own, key=_mixed)[: project.most]
    return sorted(found, key=_mixed)


def _mixed(name: str) -> int:
    return zlib.crc32(name.encode())


# --- running ------------------------------------------------------------------------------


def run(name: str, base: Path, *, is_stepped: bool, patience: float) -> stepped.Result:
    """Run an example in a copy of its folder, which has the same name each time."""
    project, _, path = name.partition("/")
    module = path.partition("/")[0] in _packages(project)
    source = SOURCES / project / (path.partition("/")[0] if module else os.path.dirname(path))
    folder = base / f"{_mixed(name):08x}"
    work = folder / source.name
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, work)
    (folder / "private").mkdir()
    env = stepped.environment(folder / "private", stepped=is_stepped)
    env.update(MPLBACKEND="Agg", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", COLUMNS="80")
    # The font cache of matplotlib takes seconds to make: one for all.
    env["MPLCONFIGDIR"] = str(HOME / "matplotlib")
    dotted = path.removesuffix(".py").replace("/", ".")
    words = ["-m", dotted] if module else [os.path.basename(path)]
    command = [str(PYTHON), "-W", "ignore", *words]
    cwd = folder if module else work
    return masked(stepped.execute(command, cwd=cwd, env=env, patience=patience))


def _packages(project: str) -> list[str]:
    places = PROJECTS[project].places
    return [place.removeprefix("-m ") for place in places if place.startswith("-m ")]


def masked(result: stepped.Result) -> stepped.Result:
    """Leave out what an example prints of times and addresses."""
    out, err = result.out, result.err
    for pattern in VARIES:
        out, err = re.sub(pattern, b"~", out), re.sub(pattern, b"~", err)
    return stepped.Result(out, err, result.code)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What comparing an example gave: it ran well, or why it doesn't count, or how it differs."""

    name: str
    ran: bool
    unfit: str = ""
    difference: str | None = None


def compare(name: str, base: Path) -> Outcome:
    """Run it both ways; three times if they differ, to see whether it differs from itself."""
    start = time.monotonic()
    plain = run(name, base, is_stepped=False, patience=2 * LONGEST)
    if not isinstance(plain.code, int):
        return Outcome(name, ran=False, unfit="takes too long")
    for lack in (b"ModuleNotFoundError", b"URLError", b"ConnectionError"):
        if lack in plain.err:
            return Outcome(name, ran=False, unfit=lack.decode())
    patience = 30 + 5 * (time.monotonic() - start)
    told = run(name, base, is_stepped=True, patience=patience)
    if plain == told:
        return Outcome(name, ran=plain.code == 0)
    if plain != run(name, base, is_stepped=False, patience=patience):
        return Outcome(name, ran=False, unfit="differs from itself")
    return Outcome(name, ran=False, difference=stepped.difference(name, plain, told))


def main(words: list[str]) -> None:
    """Do by hand what the tests do."""
    fetch(full=True)
    names = [name for name in scripts(full=True) if not words[1:] or words[1] in name]
    if words[:1] == ["list"]:
        print(*names, sep="\n")
    elif words[:1] == ["run"]:
        base = HOME / "run"
        done = stepped.map_some(lambda name: compare(name, base), names)
        print(*(one.difference for one in done if one.difference), sep="\n")
        print(*(f"{one.name}: {one.unfit}" for one in done if one.unfit), sep="\n")
        print(len(done), "tried,", sum(one.ran for one in done), "ran to their end")


if __name__ == "__main__":
    main(sys.argv[1:])
