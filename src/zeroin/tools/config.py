"""The user's settings, each layer over the one before: project, user, ZEROIN_*, flags."""

from __future__ import annotations

import os

from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.tools.sizes import parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Config(NamedTuple):
    """What can be set once and for all. Sizes are read as people write them."""

    code: bool = True  # keep a shadow snapshot of the code
    code_max_file: int = 5_000_000
    include: tuple[str, ...] = ()  # ignored files to keep all the same, e.g. config.local.yaml
    output_max: int = 8 << 20
    store_max: int = 1 << 30
    secrets: tuple[str, ...] = ()  # further names of variables to mask


def load(root: str | None, environ: Mapping[str, str]) -> Config:
    """Read all layers."""
    config = Config()
    for path, table in _files(root, environ):
        config = _merge(config, _read(path, table), path)
    variables = {
        name[7:].lower(): value
        for name, value in environ.items()
        if name.startswith("ZEROIN_") and name[7:].lower() in Config._fields
    }
    return _merge(config, variables, "the environment (ZEROIN_*)")


def _files(root: str | None, environ: Mapping[str, str]) -> list[tuple[str, tuple[str, ...]]]:
    found: list[tuple[str, tuple[str, ...]]] = []
    if root is not None:
        found.append((os.path.join(root, "pyproject.toml"), ("tool", "zeroin")))
        found.append((os.path.join(root, ".zeroin", "config.toml"), ()))
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    found.append((os.path.join(base, "zeroin", "config.toml"), ()))
    return found


def _read(path: str, table: tuple[str, ...]) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return {}
    if table and b"tool.zeroin" not in data:  # most projects: spares loading a parser
        return {}
    import tomllib

    try:
        values: dict[str, Any] = tomllib.loads(data.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        if table:  # a broken pyproject.toml is not ours to complain about
            return {}
        raise UsageError(f"{path}: {error}") from None
    for name in table:
        values = values.get(name, {})
    return values


def _merge(config: Config, values: Mapping[str, Any], source: str) -> Config:
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in Config._fields:
            raise UsageError(
                f"{source}: there is no setting {key!r}",
                hint="settings: " + ", ".join(Config._fields),
            )
        config = config._replace(**{name: _convert(name, value, source)})
    return config


def _convert(name: str, value: Any, source: str) -> Any:
    default = getattr(Config(), name)
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return str(value).lower() in ("1", "true", "yes", "on")
        raise UsageError(f"{source}: {name} is true or false, not {value!r}")
    if isinstance(default, int):
        return parse_size(str(value))
    return tuple(value.split(",")) if isinstance(value, str) else tuple(map(str, value))
