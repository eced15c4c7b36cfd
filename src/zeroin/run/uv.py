"""Calling uv: what fits together, and installing it, with its cache and the user's settings."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess

from zeroin.errors import UntestableError
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LONGEST = 900.0  # seconds: what builds for longer is not waited for
# uv's own settings say where packages come from: then those of pip are of no interest.
_UV_INDEX = (
    "UV_DEFAULT_INDEX",
    "UV_INDEX",
    "UV_INDEX_URL",
    "UV_EXTRA_INDEX_URL",
    "UV_FIND_LINKS",
    "UV_NO_INDEX",
)
# Which environment, and what else must hold there: that is ours to say.
_NOT_OURS = (
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "UV_CONSTRAINT",
    "UV_OVERRIDE",
    "UV_PYTHON",
    "UV_REQUIRE_HASHES",
    "UV_SYSTEM_PYTHON",
    "UV_TARGET",
)
_UNREACHABLE = (
    "Failed to fetch",
    "error sending request",
    "network was disabled",
    "dns error",
    "client error (Connect)",
    "operation timed out",
)
_CHANGE = re.compile(r"^ ([+~-]) ([A-Za-z0-9][\w.-]*)==(\S+)", re.MULTILINE)
_SOURCE = re.compile(r"^--(index-url|extra-index-url|find-links) (\S+)", re.MULTILINE)


class UvError(UntestableError):
    """What uv said, in a line."""


class UnreachableError(UvError):
    """The index does not answer."""


class Sources(NamedTuple):
    """Where packages come from."""

    indexes: tuple[str, ...]
    links: tuple[str, ...] = ()  # folders and pages with files


class Uv:
    """The program, for one folder of the user's and one environment of variables."""

    def __init__(self, environ: Mapping[str, str], cwd: str) -> None:
        self._program = _find(environ)
        self._cwd = cwd
        self._given = environ
        kept = {name: value for name, value in environ.items() if name not in _NOT_OURS}
        self._env = {**kept, "NO_COLOR": "1", "UV_NO_PROGRESS": "1"}
        self._sources: Sources | None = None

    def _call(self, *words: str) -> tuple[str, str]:
        """What it prints on stdout and on stderr; a failure is an error with its cause."""
        try:
            done = subprocess.run(
                [self._program, *words],
                cwd=self._cwd,
                env=self._env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST,
                check=False,
                encoding="utf-8",
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise UvError(f"uv was not done after {LONGEST:.0f} s") from None
        if done.returncode:
            raise _error(done.stderr)
        return done.stdout, done.stderr

    def command(self, *words: str) -> tuple[list[str], dict[str, str]]:
        """For who starts it himself: words and variables."""
        self.sources()
        return [self._program, *words], {**self._env}

    # --- where packages come from -------------------------------------------------------------

    def sources(self) -> Sources:
        """As uv is set; where nobody has set uv, as pip is."""
        if self._sources is None:
            told = self._told()
            if not any(self._env.get(name) for name in _UV_INDEX) and told == self._default():
                more = _pips(self._given)
                if more:
                    self._env |= more
                    told = self._told()
            self._sources = told
        return self._sources

    def _told(self, *words: str) -> Sources:
        """As uv writes into a list of requirements where they come from."""
        listed, _ = self._call(
            "pip",
            "compile",
            os.devnull,
            "--quiet",
            "--no-header",
            "--emit-index-url",
            "--emit-find-links",
            *words,
        )
        found = _SOURCE.findall(listed)
        indexes = tuple(url for kind, url in found if kind != "find-links")
        if self._env.get("UV_NO_INDEX"):
            indexes = ()
        return Sources(indexes, tuple(url for kind, url in found if kind == "find-links"))

    def _default(self) -> Sources:
        return self._told("--no-config")

    # --- what fits, and installing it ---------------------------------------------------------

    def would_change(self, python: str, wanted: Sequence[str]) -> dict[str, str]:
        """What has to be put in, by name, if these are to be in an environment."""
        self.sources()
        _, told = self._call("pip", "install", "--dry-run", "--python", python, "--", *wanted)
        return {
            normal(name): version for sign, name, version in _CHANGE.findall(told) if sign == "+"
        }

    def install_alone(self, python: str, requirements: Sequence[str], folder: str) -> None:
        """Packages without what they need."""
        self.sources()
        self._call(
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--python",
            python,
            "--target",
            folder,
            "--",
            *requirements,
        )


def normal(name: str) -> str:
    """A package's name in its one spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _find(environ: Mapping[str, str]) -> str:
    """The one that came with us, else one on PATH."""
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        found = shutil.which("uv", path=environ.get("PATH"))
    if found is None:
        raise UntestableError("there is no uv here", hint="pip install uv")
    return found


# --- what went wrong ----------------------------------------------------------------------------


def _error(told: str) -> UvError:
    """The cause in a line, out of uv's own words."""
    lines = [line.strip() for line in told.partition("\nhint:")[0].splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Using ", "Resolved "))]
    causes = [line.removeprefix("cause: ") for line in lines if line.startswith("cause: ")]
    if any(word in told for word in _UNREACHABLE) and "[stderr]" not in told:
        why = causes[-1] if causes else lines[-1]
        return UnreachableError(
            f"the package index does not answer: {why}",
            hint="check the network, and UV_DEFAULT_INDEX or pip's index-url",
        )
    if "[stderr]" in told:
        return UvError(f"it does not build: {lines[-1]}")
    if causes:
        why = causes[0].removeprefix("Because ").partition(", we can conclude")[0]
        return UvError(why.partition(" and you require ")[0])
    return UvError(lines[0].removeprefix("error: ") if lines else "uv failed and did not say why")


# --- pip's settings -----------------------------------------------------------------------------


def _pips(environ: Mapping[str, str]) -> dict[str, str]:
    """What pip is told about indexes, in the variables of uv."""
    told = dict(_pip_settings(environ))
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "find-links": "UV_FIND_LINKS",
        "trusted-host": "UV_INSECURE_HOST",
    }
    found = {ours: " ".join(told[name].split()) for name, ours in names.items() if told.get(name)}
    if "UV_FIND_LINKS" in found:
        found["UV_FIND_LINKS"] = found["UV_FIND_LINKS"].replace(" ", ",")
    if "UV_INDEX" in found and not environ.get("UV_INDEX_STRATEGY"):
        found["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # pip looks at all indexes alike
    if told.get("no-index", "").lower() in ("1", "true", "yes", "on"):
        found["UV_NO_INDEX"] = "1"
    return found


def _pip_settings(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """In pip's order: what comes later wins."""
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = [
        "/etc/xdg/pip/pip.conf",
        "/etc/pip.conf",
        os.path.join(home, ".pip", "pip.conf"),
        os.path.join(config, "pip", "pip.conf"),
    ]
    if environ.get("VIRTUAL_ENV"):
        files.append(os.path.join(environ["VIRTUAL_ENV"], "pip.conf"))
    if environ.get("PIP_CONFIG_FILE"):
        files = [environ["PIP_CONFIG_FILE"]]
    parser = configparser.RawConfigParser()
    try:
        parser.read(files, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise UntestableError(f"pip's settings can't be read: {error}") from None
    for section in ("global", "install"):
        if parser.has_section(section):
            yield from parser.items(section)
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            yield name[4:].lower().replace("_", "-"), value
