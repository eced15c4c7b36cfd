"""Packages made here, an index of them, and the real index with a cache that tests share."""

from __future__ import annotations

import base64
import functools
import hashlib
import os
import subprocess
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import support
from zeroin.axes.versions import pages
from zeroin.errors import ZeroinError
from zeroin.run.uv import Uv

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SETTINGS = ("SSL_", "UV_", "PIP_", "REQUESTS_", "CURL_", "HTTP_", "HTTPS_", "NO_PROXY", "ALL_PROXY")
SHARED = support.ROOT / ".cache" / "packages"
# Many proxies forbid to keep anything: then each call of uv would ask for every page again.
KEEP_PAGES = """\
[[index]]
url = "{url}"
default = true
cache-control = {{ api = "max-age=86400", files = "max-age=31536000, immutable" }}
"""


# --- made here ----------------------------------------------------------------------


def wheel(
    folder: Path,
    name: str,
    version: str,
    files: Mapping[str, str],
    *,
    requires: Sequence[str] = (),
    python: str = "",
    scripts: Mapping[str, str] | None = None,
    urls: Sequence[str] = (),
) -> Path:
    """Write a wheel as an index has it."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    metadata = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    metadata += [f"Requires-Python: {python}"] if python else []
    metadata += [f"Requires-Dist: {one}" for one in requires]
    metadata += [f"Project-URL: {one}" for one in urls]
    inside = {
        **files,
        f"{info}/METADATA": "\n".join(metadata) + "\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if scripts:
        lines = [f"{script} = {what}" for script, what in scripts.items()]
        inside[f"{info}/entry_points.txt"] = "\n".join(["[console_scripts]", *lines]) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        record = []
        for at, text in inside.items():
            file.writestr(at, text)
            sum_ = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
            record.append(f"{at},sha256={sum_.decode().rstrip('=')},{len(text.encode())}")
        file.writestr(f"{info}/RECORD", "\n".join([*record, f"{info}/RECORD,,"]) + "\n")
    return path


class Index:
    """A folder that uv and we take for an index: a page for each package."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._rows: dict[str, list[str]] = {}

    def add(self, name: str, version: str, files: Mapping[str, str], **how: object) -> None:
        """One more release; `yanked` and `python` are said on the page."""
        yanked = how.pop("yanked", None)
        python = str(how.get("python", ""))
        path = wheel(self.folder / "files", name, version, files, **how)
        marks = f' data-requires-python="{python.replace(">", "&gt;").replace("<", "&lt;")}"'
        marks = marks if python else ""
        marks += f' data-yanked="{yanked}"' if yanked is not None else ""
        row = f'<a href="../../files/{path.name}"{marks}>{path.name}</a><br/>'
        self._rows.setdefault(name, []).append(row)
        page = self.folder / "simple" / name / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"<!DOCTYPE html><html><body>\n{chr(10).join(self._rows[name])}\n</body>")

    @property
    def env(self) -> dict[str, str]:
        """What makes it the index."""
        return {"UV_DEFAULT_INDEX": f"file://{self.folder}/simple", "UV_OFFLINE": "1"}


# --- environments -------------------------------------------------------------------


def make_environment(
    folder: Path, env: Mapping[str, str], *wanted: str, python: str | None = None
) -> Path:
    """A real one, by uv; returns its folder."""
    uv = Uv(env, str(folder.parent))._program
    base = python or support.base_python()
    subprocess.run([uv, "venv", "-q", "-p", base, folder], env=env, check=True, timeout=60)
    if wanted:
        words = [uv, "pip", "install", "-q", "-p", folder / "bin" / "python", *wanted]
        subprocess.run(words, env=env, check=True, timeout=200, cwd=folder.parent)
    return folder


# --- the real index -----------------------------------------------------------------


def online() -> dict[str, str]:
    """How this machine reaches the index, and caches that outlive a test."""
    found = {name: os.environ[name] for name in os.environ if name.upper().startswith(SETTINGS)}
    home = Path.home()
    files = [home / ".config" / "pip" / "pip.conf", home / ".pip" / "pip.conf"]
    for file in files:
        if file.exists():
            found.setdefault("PIP_CONFIG_FILE", str(file))
    config = keep_pages()
    return {
        **({"UV_CONFIG_FILE": str(config)} if config else {}),
        **found,
        "UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR") or str(SHARED / "uv"),
        "XDG_CACHE_HOME": str(SHARED),
    }


@functools.cache
def keep_pages() -> Path | None:
    """Write the settings by which uv asks its index for the page of a package once a day."""

    def find_index() -> str:
        try:
            found = Uv(os.environ, "/").sources().indexes
        except ZeroinError:  # what needs the index says so itself
            return ""
        return next((url for url in found if url.startswith("https://")), "")

    url = support.find_once("index_page", find_index)
    if not url:
        return None
    SHARED.mkdir(parents=True, exist_ok=True)
    path = SHARED / "uv.toml"
    text = KEEP_PAGES.format(url=url)
    if not path.exists() or path.read_text() != text:
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(path)  # other workers read it
    return path


@functools.cache
def lack_of_index() -> str:
    """Why the real index can't be asked; "" if it can."""

    def find() -> str:
        env = {**os.environ, **online()}
        try:
            sources = Uv(env, "/").sources()
            found = pages.files("six", sources.indexes, (), env)
        except ZeroinError as error:
            return error.message
        return "" if found else "the index has no six"

    return support.find_once("index", find)


def needs_index() -> pytest.MarkDecorator:
    """For tests with real packages."""
    why = lack_of_index()
    return pytest.mark.skipif(bool(why) and not support.IN_CI, reason=why or "there is an index")
