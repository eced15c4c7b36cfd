"""The user's settings, each layer over the one before: project, user, ZEROIN_*, flags.

What came with a project's files may need the user's consent: see `consent`.
"""

from __future__ import annotations

import os

from zeroin.errors import UsageError, ZeroinError
from zeroin.named import NamedTuple
from zeroin.regular import read_regular
from zeroin.tools.sizes import parse_size

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

MOST = 1 << 20  # bytes of a settings file
LONGEST = 60  # characters of a value that is named in a warning


class Config(NamedTuple):
    """What can be set once and for all. Sizes are read as people write them."""

    code: bool = True  # keep a shadow snapshot of the code
    code_max_file: int = 5_000_000
    include: tuple[str, ...] = ()  # ignored files to keep all the same, e.g. config.local.yaml
    output_max: int = 8 << 20
    store_max: int = 1 << 30
    cache_max: int = 5 << 30  # packages and environments of searches, for all projects
    secrets: tuple[str, ...] = ()  # further names of variables to mask


def load(root: str | None, environ: Mapping[str, str], warn: Callable[[str], object]) -> Config:
    """Read all layers. What can't be read, meant or heeded is told to `warn`, and left out."""
    config = Config()
    layers = read_project_settings(root, warn) if root is not None else []
    if root is not None and any(values for _, values in layers):
        from zeroin.tools.consent import withhold_settings

        layers = withhold_settings(layers, root, environ, warn)
    own = _own_file(environ)
    for path, values in (*layers, (own, _read(own, (), warn))):
        config = _merge(config, values, path, warn)
    variables = {
        name[7:].lower(): value
        for name, value in environ.items()
        if name.startswith("ZEROIN_") and name[7:].lower() in Config._fields
    }
    return _merge(config, variables, "the environment (ZEROIN_*)", warn)


def read_project_settings(
    root: str, warn: Callable[[str], object]
) -> list[tuple[str, dict[str, Any]]]:
    """What a project's files say, each as it stands there."""
    project = os.path.join(root, "pyproject.toml")
    found = [(project, _read(project, ("tool", "zeroin"), warn))]
    folder = os.path.join(root, ".zeroin")
    if not os.path.islink(folder):
        path = os.path.join(folder, "config.toml")
        found.append((path, _read(path, (), warn, os.O_NOFOLLOW)))
    return found


def _own_file(environ: Mapping[str, str]) -> str:
    home = environ.get("HOME") or os.path.expanduser("~")
    base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(base, "zeroin", "config.toml")


def _read(
    path: str, table: tuple[str, ...], warn: Callable[[str], object], flags: int = 0
) -> dict[str, Any]:
    try:
        data = read_regular(path, MOST, flags)
    except OSError:
        return {}
    if table and not all(name.encode() in data for name in table):
        return {}  # most projects: spares loading a parser
    import tomllib

    try:
        values: Any = tomllib.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        if not table:  # a broken pyproject.toml is not ours to complain about
            warn(f"{path} is not used: {_short(error)}")
        return {}
    for name in table:
        values = values.get(name, {}) if isinstance(values, dict) else values
    if not isinstance(values, dict):
        warn(f"{path}: {'.'.join(table)} is not used: it is no table of settings")
        return {}
    return values


def _short(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return str(error).partition(";")[0][: 2 * LONGEST]


def _merge(
    config: Config, values: Mapping[str, Any], source: str, warn: Callable[[str], object]
) -> Config:
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in Config._fields:
            from difflib import get_close_matches

            near = get_close_matches(name, Config._fields, 1)
            every = "settings: " + ", ".join(Config._fields)
            hint = f"did you mean {near[0]}?" if near else every
            warn(f"{source}: there is no setting {key!r} ({hint})")
            continue
        try:
            config = config._replace(**{name: _convert(name, value)})
        except (ZeroinError, ValueError) as error:
            default = getattr(Config(), name)
            shown = ",".join(default) if isinstance(default, tuple) else default
            warn(f"{source}: {name} stays {shown!r}: {_short(error)}")
    return config


def _convert(name: str, value: Any) -> Any:
    """The value as the setting has it; ZeroinError or ValueError if it can't be meant."""
    default = getattr(Config(), name)
    if isinstance(default, bool):
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("1", "true", "yes", "on", "0", "false", "no", "off"):
            return str(value).lower() in ("1", "true", "yes", "on")
        raise ValueError(f"it is true or false, not {_cut(value)}")
    if isinstance(default, int):
        if isinstance(value, (dict, list)):
            raise UsageError(f"{_cut(value)} is no size")
        return parse_size(str(value))
    if isinstance(value, str):
        return tuple(value.split(","))
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return tuple(value)
    raise ValueError(f"it is a list of texts, not {_cut(value)}")


def _cut(value: object) -> str:
    """A value, short enough for one line; also one that Python refuses to print."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return f"that {type(value).__name__}"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
