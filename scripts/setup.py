"""Make the environments that `make` needs; say nothing, quickly, when they are there.

    setup.py packages    the Debian packages of debian-packages.txt
    setup.py dev         .venv: the project, editable, and the dev group
    setup.py libs        .venvs/libs: the real libraries of libs.txt; with FULL=1 or CI=true
                         .venvs/heavy: those of heavy-libs.txt, too
    setup.py demo        .venvs/demo: the product alone, as a user gets it

An environment is made anew when what it was made from has changed (its stamp
says from what) or when it doesn't work. With CI=true every lack is a failure;
otherwise what can't be had is named and the tests that need it are skipped.
What is installed is named, with the megabytes that were downloaded for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCRIPTS = ROOT / "scripts"
IN_CI = os.environ.get("CI") == "true"
FULL = IN_CI or "1" in (os.environ.get("FULL"), os.environ.get("ACCEPTANCE"))
STAMP = "zeroin-ready"


class SetUpError(Exception):
    """Something is lacking; the message says what, and the command that gets it."""


def say(text: str) -> None:
    """Print a line of progress, apart from what the commands themselves print."""
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def call(*command: str | Path, quiet: bool = False) -> None:
    """Run a command in the project's root, showing what it is."""
    words = [str(word) for word in command]
    if not quiet:
        say(shlex.join(word.replace(f"{ROOT}/", "") for word in words))
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SetUpError(f"exit code {done.returncode} from: {shlex.join(words)}")


def megabytes(text: str) -> float:
    """Add up the sizes that pip names of the files it took, from an index or from its cache."""
    units = {"kB": 1e-3, "MB": 1, "GB": 1e3}
    taken = re.findall(
        r"^ *(?:Downloading|Using cached) \S+ \(([\d.]+) (kB|MB|GB)\)", text, re.MULTILINE
    )
    return sum(float(size) * units[unit] for size, unit in taken)


# --- Debian packages -----------------------------------------------------------


def is_there(sign: str) -> bool:
    """Tell whether a command is on PATH, or a file where it should be."""
    return os.path.exists(sign) if sign.startswith("/") else shutil.which(sign) is not None


def missing_packages() -> list[str]:
    """Name the packages of the list whose command or file is not there."""
    lines = (SCRIPTS / "debian-packages.txt").read_text().splitlines()
    rows = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    return [package for package, sign in rows if not is_there(sign)]


def root_prefix() -> list[str] | None:
    """Say what to put before a command that needs root; None if we can't be root."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") is None:
        return None
    asked = subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return None if asked.returncode else ["sudo", "-n"]


def apt_install(packages: list[str]) -> None:
    """Install Debian packages, or say which command the user has to run."""
    prefix = root_prefix()
    if shutil.which("apt-get") is None:
        raise SetUpError(f"missing, and there is no apt-get here: {' '.join(packages)}")
    if prefix is None:
        raise SetUpError(
            f"missing: {' '.join(packages)}; get them by: "
            f"sudo apt-get update && sudo apt-get install -y {' '.join(packages)}"
        )
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]
    wait = ["-o", "DPkg::Lock::Timeout=300"]
    install = ["install", "-y", "--no-install-recommends", *packages]
    call(*apt, *wait, "update")
    uris = subprocess.run(
        [*apt, *install, "--print-uris"], capture_output=True, text=True, check=False
    ).stdout
    sizes = [int(line.split()[2]) for line in uris.splitlines() if line.startswith("'")]
    say(f"installing by apt-get: {' '.join(packages)} ({sum(sizes) / 1e6:.0f} MB to download)")
    call(*apt, *wait, *install)


def packages() -> None:
    """Install what is missing of the Debian packages; go on without outside of CI."""
    missing = missing_packages()
    if not missing:
        return
    try:
        apt_install(missing)
    except SetUpError as lack:
        if IN_CI:
            raise
        say(f"{lack}\nset-up: going on; the tests that need these are skipped")


# --- environments --------------------------------------------------------------


def works(home: Path, wanted: str) -> bool:
    """Tell whether an environment was made from `wanted` and its interpreter still starts."""
    try:
        if (home / STAMP).read_text() != wanted:
            return False
        start = [home / "bin" / "python", "-I", "-S", "-c", ""]
        return subprocess.run(start, check=False).returncode == 0
    except OSError:
        return False


def make_environment(home: Path, python: str, wanted: str, *installs: list[str]) -> None:
    """Make the virtual environment and install into it; the stamp comes last."""
    if works(home, wanted):
        return
    say(f"making {home.relative_to(ROOT)} with {python}")
    require_venv(python)
    shutil.rmtree(home, ignore_errors=True)
    call(python, "-m", "venv", home, quiet=True)
    for install in installs:
        pip_install(home, install)
    (home / STAMP).write_text(wanted)


def pip_install(home: Path, what: list[str]) -> None:
    """Install into an environment; name what it got, and how much was downloaded."""
    pip = [home / "bin" / "python", "-m", "pip", "--disable-pip-version-check", "install"]
    words = [str(word) for word in (*pip, "--progress-bar=off", *what)]
    say(shlex.join(word.replace(f"{ROOT}/", "") for word in words))
    done = subprocess.run(
        words,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout, file=sys.stderr)
        raise SetUpError(f"exit code {done.returncode} from: {shlex.join(words)}")
    got = re.findall(r"^Successfully installed (.*)", done.stdout, re.MULTILINE)
    say(f"{home.relative_to(ROOT)} got {', '.join(got)} ({megabytes(done.stdout):.0f} MB)")


def require_venv(python: str) -> None:
    """Install Debian's python3-venv where it has been split off the interpreter."""
    can = "import ensurepip, venv"
    if subprocess.run([python, "-c", can], capture_output=True, check=False).returncode:
        version = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout
        apt_install([f"python{'.'.join(version.split()[1].split('.')[:2])}-venv"])


def made_from(python: str, *parts: object) -> str:
    """Fingerprint what an environment is made from; ROOT, since a moved one is broken."""
    known = json.dumps([str(ROOT), os.path.realpath(python), *parts], sort_keys=True, default=str)
    return hashlib.sha256(known.encode()).hexdigest() + "\n"


def project_tables() -> list[object]:
    """Read the parts of pyproject.toml that decide what gets installed."""
    tables = tomllib.loads((ROOT / "pyproject.toml").read_text())
    hatch = tables.get("tool", {}).get("hatch")
    return [tables["build-system"], tables["project"], tables.get("dependency-groups"), hatch]


def dev() -> None:
    """Make .venv; `--group` needs pip 25.1, so pip comes first."""
    install = ["-e", ".", "--group", "dev"]
    wanted = made_from(sys.executable, project_tables())
    make_environment(ROOT / ".venv", sys.executable, wanted, ["--upgrade", "pip"], install)


def libs() -> None:
    """Make the environment with libraries, on Python 3.11 where there is one.

    A lack matters in CI only.
    """
    if os.environ.get("LIBS") == "0":
        return
    lists = [SCRIPTS / name for name in ("libs.txt", *(["heavy-libs.txt"] if FULL else []))]
    python = sys.executable
    if sys.version_info[:2] != (3, 11):
        find = ["sh", str(SCRIPTS / "find-python"), "3.11"]
        other = subprocess.run(find, capture_output=True, text=True, check=False).stdout.strip()
        python = other or python
    home = ROOT / ".venvs" / ("heavy" if FULL else "libs")
    try:
        install = [word for listed in lists for word in ("-r", str(listed))]
        wanted = made_from(python, [listed.read_text() for listed in lists])
        make_environment(home, python, wanted, install)
    except SetUpError as lack:
        if IN_CI:
            raise
        say(f"{lack}\nset-up: going on; the tests that need these libraries are skipped")


def demo() -> None:
    """Make .venvs/demo with nothing but the product, anew when its source has changed."""
    seen = [(str(p), p.stat().st_mtime_ns) for p in sorted((ROOT / "src").rglob("*.py"))]
    wanted = made_from(sys.executable, project_tables(), seen)
    make_environment(ROOT / ".venvs" / "demo", sys.executable, wanted, ["."])


STEPS = {"packages": packages, "dev": dev, "libs": libs, "demo": demo}


def main(names: list[str]) -> int:
    """Do the named steps in order, one set-up at a time in this tree."""
    (ROOT / ".venvs").mkdir(exist_ok=True)
    with (ROOT / ".venvs" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for name in names:
                STEPS[name]()
        except SetUpError as lack:
            say(f"failed: {lack}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
