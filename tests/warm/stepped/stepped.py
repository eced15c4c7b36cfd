r"""Run a program plainly and stepped, and tell how the two differ.

A program is one file of data in `programs/<topic>/`. Comments at its top say how it is run:

    # needs: 3.10           the oldest Python that reads it; `until: 3.11` is the newest
    # args: a b             arguments of the script
    # run: -m pkg x         instead of `main.py args`; `options: -O` come before either
    # stdin: one\ntwo\n     what it can read; nothing without
    # env: NAME=value       added to its environment
    # cwd: below            folder that it is started in
    # ends: ValueError      it exits by 1 with this in stderr; `exit: 3` is another exit code
    # ignore: 0x[0-9a-f]+   masked in both outputs; nothing else is
    # bytes: crlf           how the file is written: crlf, latin-1, bom, nul, no-newline, empty
    # zip: app.zip          all files are packed, too; `link: a.py main.py` makes a link a.py

A line `# --- file: pkg/__init__.py` begins a further file; what comes first is `main.py`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import support
from zeroin.run.agent_order import AgentOrder, WarmOrder, hand_order

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
BOOT = support.SRC / "zeroin" / "agent" / "boot"
WORKERS = 2
PATIENCE = 60  # seconds that a program may take on a loaded machine

_SETTING = re.compile(
    r"# (needs|until|args|run|options|stdin|env|cwd|ends|exit|ignore|bytes|zip|link): ?(.*)"
)
_FILE = re.compile(r"^# --- file: (\S+)\n", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Result:
    """What a user sees of a run."""

    out: bytes
    err: bytes
    code: int | str

    def masked(self, patterns: Sequence[str]) -> Result:
        """Leave out what a program says of itself that differs from run to run."""
        out, err = self.out, self.err
        for pattern in patterns:
            out = re.sub(pattern.encode(), b"~", out)
            err = re.sub(pattern.encode(), b"~", err)
        return Result(out, err, self.code)


@dataclasses.dataclass(frozen=True)
class Program:
    """A program, and how it is to be run."""

    name: str
    files: dict[str, str]
    settings: dict[str, list[str]]

    def one(self, setting: str, default: str = "") -> str:
        """Give a setting that stands there once at most."""
        return self.settings.get(setting, [default])[-1]

    def fits(self, version: str) -> bool:
        """Tell whether a Python of that version reads it."""
        number = support.as_numbers
        return (
            number(self.one("needs", "3.9"))
            <= number(version)
            <= number(self.one("until", "3.999"))
        )

    def words(self) -> list[str]:
        """Give what comes after the interpreter's name."""
        start = self.one("run") or f"main.py {self.one('args')}"
        return shlex.split(self.one("options")) + shlex.split(start)

    def write(self, folder: Path) -> None:
        """Lay out its files."""
        for name, text in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_as_bytes(text, self.settings.get("bytes", [])))
        for link in self.settings.get("link", []):
            new, old = link.split()
            (folder / new).parent.mkdir(parents=True, exist_ok=True)
            (folder / new).symlink_to(folder / old)
        if packed := self.one("zip"):
            with zipfile.ZipFile(folder / packed, "w") as archive:
                for name in self.files:
                    archive.write(folder / name, name)
        (folder / self.one("cwd", ".")).mkdir(exist_ok=True)

    def complaint(self, result: Result) -> str | None:
        """Say if a plain run doesn't do what the program is there for."""
        ends = self.one("ends")
        code = int(self.one("exit", "1" if ends else "0"))
        if result.code != code:
            return f"exit code {result.code} instead of {code}"
        if ends.encode() not in result.err:
            return f"no {ends} in stderr"
        return None


def read(path: Path) -> Program:
    """Read a program from its file."""
    text = path.read_text()
    pieces = _FILE.split(text)
    files = {"main.py": pieces[0], **dict(zip(pieces[1::2], pieces[2::2], strict=True))}
    settings: dict[str, list[str]] = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if found := _SETTING.fullmatch(line):
            settings.setdefault(found[1], []).append(found[2])
    return Program(f"{path.parent.name}/{path.stem}", files, settings)


def programs(topic: str) -> list[Program]:
    """Read all programs of a topic."""
    return [read(path) for path in sorted((PROGRAMS / topic).glob("*.py"))]


def topics() -> list[str]:
    """Name the folders of programs."""
    return sorted(path.name for path in PROGRAMS.iterdir() if path.is_dir())


def _as_bytes(text: str, ways: Sequence[str]) -> bytes:
    """Write a file as an editor on another system would."""
    data = text.encode("latin-1" if "latin-1" in ways else "utf-8")
    for way in ways:
        if way == "crlf":
            data = data.replace(b"\n", b"\r\n")
        elif way == "bom":
            data = b"\xef\xbb\xbf" + data
        elif way == "nul":
            data = data.replace(b"<NUL>", b"\0")
        elif way == "no-newline":
            data = data.rstrip(b"\n")
        elif way == "form-feed":
            data = data.replace(b"<FF>", b"\f")
        elif way == "empty":
            data = b""
    return data


# --- running ------------------------------------------------------------------------------


def environment(folder: Path, *, stepped: bool) -> dict[str, str]:
    """Make the environment of a run; plain and stepped differ in three variables."""
    env = {name: os.environ[name] for name in support.INHERITED if name in os.environ}
    env.update(
        HOME=str(folder), PATH=support.plain_path(), LANG="C.UTF-8", PYTHONHASHSEED="0", TERM="dumb"
    )
    if support.TEST_ID in os.environ:
        env[support.TEST_ID] = os.environ[support.TEST_ID]
    if stepped:
        inbox = folder / "inbox"
        inbox.mkdir(exist_ok=True)
        env = hand_order(AgentOrder(warm=WarmOrder("-")), str(inbox), env)
        env["PYTHONPATH"] = str(BOOT)
    return env


def execute(
    command: Sequence[str | Path],
    *,
    cwd: Path,
    env: dict[str, str],
    stdin: bytes = b"",
    patience: float = PATIENCE,
) -> Result:
    """Run a command to its end, in a process group that doesn't outlive it."""
    # Files and not pipes: grandchildren that live on must not keep us waiting.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with tempfile.TemporaryFile() as source:
            source.write(stdin)
            source.seek(0)
            process = subprocess.Popen(
                [str(word) for word in command],
                cwd=cwd,
                env=env,
                stdin=source,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        code: int | str
        try:
            code = support.wait_for_end(process, patience)
        except subprocess.TimeoutExpired:
            code = f"still running after {patience} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out.seek(0)
        err.seek(0)
        return Result(out.read(), err.read(), code)


def run(program: Program, python: str, base: Path, *, stepped: bool) -> Result:
    """Run a program in a folder that has the same name, and the same content, each time."""
    folder = base / program.name
    shutil.rmtree(folder, ignore_errors=True)
    private = base / "private" / program.name
    shutil.rmtree(private, ignore_errors=True)
    folder.mkdir(parents=True)
    private.mkdir(parents=True)
    program.write(folder)
    env = environment(private, stepped=stepped)
    for extra in program.settings.get("env", []):
        name, _, value = extra.partition("=")
        env[name] = value
    words = [word.replace("{folder}", str(folder)) for word in program.words()]
    stdin = program.one("stdin").encode().decode("unicode_escape").encode()
    cwd = folder / program.one("cwd", ".")
    return execute([python, *words], cwd=cwd, env=env, stdin=stdin)


def compare(program: Program, python: str, base: Path) -> str | None:
    """Run it both ways; say how they differ, None if they don't."""
    plain = run(program, python, base, stepped=False)
    if complaint := program.complaint(plain):
        return f"{program.name}: run plainly: {complaint}\n{_text(plain)}"
    stepped = run(program, python, base, stepped=True)
    ignore = program.settings.get("ignore", [])
    return difference(program.name, plain.masked(ignore), stepped.masked(ignore))


def difference(name: str, plain: Result, stepped: Result) -> str | None:
    """Show two results side by side as far as they differ; None if they are equal."""
    if plain == stepped:
        return None
    lines = difflib.unified_diff(
        _text(plain).splitlines(), _text(stepped).splitlines(), "plain", "stepped", "", "", 3, ""
    )
    shown = list(lines)[:60]
    return "\n".join([f"{name}:", *(f"    {line}" for line in shown)])


def _text(result: Result) -> str:
    parts = [("out", result.out), ("err", result.err)]
    texts = [f"[{name}]\n{data.decode('utf-8', 'backslashreplace')}" for name, data in parts]
    return "\n".join([*texts, f"[exit code]\n{result.code}"])


def map_some(work: Callable[[Any], Any], jobs: Sequence[Any]) -> list[Any]:
    """Do a piece of work for each, a few at a time."""
    with ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(work, jobs))


def all_differences(jobs: Sequence[Callable[[], str | None]]) -> list[str]:
    """Do the jobs, a few at a time; give what they have to complain of."""
    return [complaint for complaint in map_some(lambda job: job(), jobs) if complaint]
