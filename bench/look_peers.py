"""The same nasty objects, shown by `peek` and by other tools: time, output, who survives.

Each in a process of its own, with ten seconds for the look itself; `hung` is whoever was not
done by then. The tools are called as their users call them: `ic(x)`, `snoop.pp(x)`, a function
under TorchSnooper, stackprinter in a frame that holds it, rich's pretty printer, and for
tensors lovely-tensors. Peers are installed with `--peers`, into .cache, beside the torch of
ZEROIN_TEST_LIBS.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, NamedTuple

from bench.look import SRC
from bench.report import Goal, Row, mb, ms

if TYPE_CHECKING:
    from bench.scene import Scene

PEERS = {
    "icecream": ["icecream"],
    "snoop": ["snoop"],
    "TorchSnooper": ["torchsnooper", "pysnooper"],
    "stackprinter": ["stackprinter"],
    "rich": ["rich"],
    "lovely-tensors": ["lovely-tensors", "lovely-numpy", "matplotlib", "ipython", "fastcore"],
}
KINDS = {
    "list": "a list of 10^7",
    "dict": "a dict of 10^6",
    "raises": "a repr that raises",
    "interrupts": "a repr that raises KeyboardInterrupt",
    "slow": "a repr that takes 8 s",
    "huge": "a repr of 100 MB",
    "itself": "a list that holds itself",
    "nan": "a tensor with 3 NaN",
    "tensor": "a tensor of {}",
}
TENSORS = ("nan", "tensor")
BESIDE_TORCH = ("TorchSnooper", "lovely-tensors")  # installed without it: that of the libraries
LIMIT = 10.0  # seconds for the look
LOADING = 120.0  # seconds until the object is there
CACHE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), ".cache")


class Shown(NamedTuple):
    """What became of one look."""

    fate: str  # "" if it survived
    seconds: float = 0.0
    length: int = 0
    grown: int = 0
    text: str = ""

    def __str__(self) -> str:
        if self.fate:
            return self.fate
        return f"{ms(self.seconds)}, {self.length:,} B, +{mb(self.grown)}"


def measure(scene: Scene) -> list[Row]:
    """Every object, by every tool."""
    tools, missing = _tools(scene)
    libs = os.environ.get("ZEROIN_TEST_LIBS", "")
    size = _size_of_tensor(scene)
    rows = []
    for kind, words in KINDS.items():
        what = words.format(mb(size))
        if kind in TENSORS and not libs:
            missing.append(f"{what}: skipped, ZEROIN_TEST_LIBS names no Python with torch")
            continue
        for tool, python in tools.items():
            if tool == "lovely-tensors" and kind not in TENSORS:
                continue
            used = libs if kind in TENSORS and python is None else python
            rows.append(_row(tool, what, _look(scene, used, tool, kind, size, libs)))
    return rows + [Row(line) for line in missing]


def _row(tool: str, what: str, shown: Shown) -> Row:
    goals = (Goal("target survives, < 1 s", not shown.fate and shown.seconds < 1),)
    return Row(
        f"{what}: {tool}",
        str(shown),
        shown.text if not shown.fate else "",
        goals if tool == "peek" else (),
        shown._asdict(),
    )


def _look(scene: Scene, python: str | None, tool: str, kind: str, size: int, libs: str) -> Shown:
    words = [python or os.path.realpath(scene.python), scene.program("look_nasty.py")]
    path = [SRC] if tool == "peek" else []
    needs_torch = kind in TENSORS or tool in BESIDE_TORCH
    if libs and needs_torch and python and python != libs:
        path.append(_packages(libs))  # the same torch for all
    env = scene.env | {"PYTHONPATH": os.pathsep.join(path), "NO_COLOR": "1"}
    with tempfile.TemporaryFile(dir=scene.folder) as errors:
        process = subprocess.Popen(
            [*words, tool, kind, str(size)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=scene.folder,
        )
        fate, told = _wait(process)
        errors.seek(0)
        text = errors.read(2000).decode("utf-8", "replace")
        length = os.fstat(errors.fileno()).st_size
        errors.seek(max(0, length - 2000))
        last = (errors.read().decode("utf-8", "replace").strip().splitlines() or [""])[-1]
    if fate or not told:
        return Shown(fate if fate[:4] == "hung" else f"{fate or 'crashed'}: {last[:60]}")
    return Shown("", told["seconds"], length, told["grown"], _first_line(text))


def _wait(process: subprocess.Popen[str]) -> tuple[str, dict[str, float]]:
    """Wait for the object, then for the look."""
    killed = threading.Event()

    def kill() -> None:
        killed.set()
        process.kill()

    clock = threading.Timer(LOADING, kill)
    clock.start()
    assert process.stdout is not None
    with process.stdout as out:
        ready = out.readline()
        clock.cancel()
        if killed.is_set() or not ready:
            process.wait()
            return "could not be loaded", {}
        clock = threading.Timer(LIMIT, kill)
        clock.start()
        line = out.readline()
        process.wait()
        clock.cancel()
    if killed.is_set():
        return f"hung: not done after {LIMIT:g} s", {}
    return "", json.loads(line) if line.strip() else {}


def _first_line(text: str) -> str:
    text = re.sub(r"\x1b\[[\d;]*m", "", text)  # some colour a file as well
    lines = [line.strip() for line in text.splitlines() if "NaN" in line or "nan" in line]
    found = (lines or text.strip().splitlines() or [""])[0]
    return found if len(found) <= 90 else found[:89] + "…"


def _size_of_tensor(scene: Scene) -> int:
    """Two gigabytes, less where memory is short or time is."""
    with open("/proc/meminfo", encoding="ascii") as file:
        free = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvail"))
    return 200_000_000 if scene.quick or free < 9e9 else 2_000_000_000


def _packages(python: str) -> str:
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return subprocess.run(
        [python, "-c", ask], check=True, capture_output=True, text=True
    ).stdout.strip()


def _tools(scene: Scene) -> tuple[dict[str, str | None], list[str]]:
    found: dict[str, str | None] = {"peek": None, "print": None}
    if not scene.peers:
        return found, [f"{', '.join(PEERS)}: not measured without --peers"]
    missing = []
    for name, packages in PEERS.items():
        try:
            found[name] = _install(name, packages)
        except (OSError, subprocess.SubprocessError) as error:
            missing.append(f"{name}: can't be installed here ({type(error).__name__})")
    return found, missing


def _install(name: str, packages: list[str]) -> str:
    """An environment of its own, kept for the next time; torch comes from elsewhere."""
    base = os.path.realpath(os.environ.get("ZEROIN_TEST_LIBS") or sys.executable)
    folder = os.path.join(CACHE, "bench-peers", f"look-{name.lower()}")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        pip = [python, "-m", "pip", "-q", "install"]
        alone = packages[: 2 * (name in BESIDE_TORCH)]
        rest = packages[len(alone) :]
        for words in (
            [base, "-m", "venv", "--clear", folder],
            *([[*pip, "--no-deps", *alone]] if alone else []),
            *([[*pip, *rest]] if rest else []),
        ):
            subprocess.run(
                words, check=True, timeout=600, stdin=subprocess.DEVNULL, capture_output=True
            )
        with open(os.path.join(folder, "ready"), "w", encoding="ascii"):
            pass
    return python
