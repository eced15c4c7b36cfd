"""Other reducers: how to get them here, and what each makes of a case within a time limit."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from bench.scene import interpreters
from bench.shrink_cases import size_of
from bench.warm_scene import libraries

if TYPE_CHECKING:
    from bench.scene import Scene
    from bench.shrink_cases import Case

LIMIT = 60.0  # seconds for each
PACKAGES = ("shrinkray<26", "picire", "lithium-reducer")
ALSO = "setuptools<80"  # picire needs its pkg_resources
ELSEWHERE = {"cvise": "apt-get install cvise"}  # treereduce is a crate for each format
SCRIPT = """#!/bin/sh
printf . >> {count}
{python} {use} {kind} {given} 2>&1 | grep -q '^PlantedError\\|^__main__.PlantedError'
"""


class Done(NamedTuple):
    """What one of them made of one case."""

    size: int
    tries: int
    seconds: float
    finished: bool
    steps: tuple[tuple[int, int, float], ...] = ()  # tries, the size after them, seconds

    def to(self, size: int) -> tuple[int, float]:
        """How many tries and seconds it took to be as small as that."""
        found = ((tries, seconds) for tries, left, seconds in self.steps if left <= size)
        return next(found, (self.tries, self.seconds))


def install() -> dict[str, str]:
    """Install them beside our environments; what can't be is left out."""
    folder = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".cache")
    home = os.path.join(folder, "reducers")
    if not os.path.isdir(home):
        known = interpreters().items()
        fit = [path for version, path in known if version.startswith("3.12.")]  # for shrinkray
        python = fit[-1] if fit else os.path.realpath(sys.executable)
        subprocess.run([python, "-m", "venv", home], check=True)
    found = {}
    for package in PACKAGES:
        name = package.partition("<")[0].removesuffix("-reducer")
        program = os.path.join(home, "bin", name)
        if not os.path.exists(program):
            words = [os.path.join(home, "bin", "pip"), "-q", "install", ALSO, package]
            try:
                subprocess.run(words, check=False, timeout=300, capture_output=True)
            except subprocess.TimeoutExpired:
                continue
        if os.path.exists(program):
            found[name] = program
    return found | {name: path for name in ELSEWHERE if (path := shutil.which(name))}


def reduced(
    scene: Scene, case: Case, name: str, program: str, imports: str = "", limit: float = LIMIT
) -> Done:
    """What one of them makes of it; each by lines first, and then by characters."""
    work = scene.make(f"shrink-{case.kind}-{name}{imports}")
    payload = os.path.join(work, case.name)
    source = os.path.join(scene.make(f"shrink-{case.kind}"), case.name)
    shutil.copy(source, payload)
    count, script = os.path.join(work, "count"), os.path.join(work, "test.sh")
    given = case.name if name == "cvise" else '"$1"'
    python = libraries(scene).path if imports else os.path.realpath(scene.python)
    with open(script, "w", encoding="utf-8") as file:
        use = scene.program("shrink_use.py")
        told = SCRIPT.format(count=count, python=python, use=use, kind=case.kind, given=given)
        file.write(told.replace("2>&1", f"{imports} 2>&1"))
    os.chmod(script, stat.S_IRWXU)
    open(count, "w").close()
    started = time.monotonic()
    for words in _commands(name, program, work, payload, script):
        left = limit - (time.monotonic() - started)
        finished = _ends_within(left, words, work, scene.env)
        if not finished:
            break
    seconds = time.monotonic() - started
    result = os.path.join(work, "out", case.name) if name == "picire" else payload
    size = size_of(result) if os.path.exists(result) else size_of(source)
    return Done(size, os.path.getsize(count), seconds, finished)


def _commands(name: str, program: str, work: str, payload: str, script: str) -> list[list[str]]:
    if name == "lithium":
        asks = _lithium(work, script)
        return [[program, *how, "--testcase", payload, asks, payload] for how in ([], ["--char"])]
    out = os.path.join(work, "out")
    return {
        "picire": [[program, "-i", payload, "--atom=both", "--test", script, "-o", out]],
        "shrinkray": [[program, "--ui=basic", "--timeout=20", script, payload]],
        "cvise": [[program, "--n", "1", "--not-c", "./test.sh", os.path.basename(payload)]],
    }[name]


def _ends_within(limit: float, words: list[str], work: str, env: dict[str, str]) -> bool:
    """Whether it does; if not, it is ended with all that it has started."""
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    with subprocess.Popen(
        words, cwd=work, env=env, start_new_session=True, stderr=subprocess.DEVNULL, **quiet
    ) as running:
        try:
            running.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            return False
    return True


def _lithium(work: str, script: str) -> str:
    """Its question is a module."""
    path = os.path.join(work, "interesting.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(
            "import subprocess\n\n\ndef interesting(args, prefix):\n"
            f"    return subprocess.run([{script!r}, args[0]]).returncode == 0\n"
        )
    return path
