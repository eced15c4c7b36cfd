"""The two environments of `bisect envs`, however they are given: files, folders, attempts."""

from __future__ import annotations

import os

from zeroin.axes.envs import locks, needs
from zeroin.errors import UsageError
from zeroin.named import NamedTuple
from zeroin.run import interpreter
from zeroin.run.dists import installed
from zeroin.run.pins import Pin, pin_of
from zeroin.tools.reading import open_record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zeroin.run.dists import Dist
    from zeroin.tools.bisect.setting import Setting

HERE = (".", "this")
ATTEMPT = "attempt:"


class Described(NamedTuple):
    """Packages by name."""

    label: str  # as the user calls it
    packages: dict[str, Pin]
    notes: tuple[str, ...] = ()


def is_environment(text: str, cwd: str) -> bool:
    """Whether it is the folder of one."""
    return text not in HERE and os.path.isdir(os.path.join(cwd, text))


def python_for(old: str, new: str, cwd: str) -> str:
    """Where the Python to search with is: that of an environment that is given.

    "" for the one that the command would start, which is what `this` means.
    """
    if old in HERE or new in HERE:
        return ""
    return next((one for one in (new, old) if is_environment(one, cwd)), "")


def described(text: str, setting: Setting, env: Mapping[str, str]) -> Described:
    """What is meant by a word."""
    if text in HERE:
        return Described(text, _taken(setting.installed))
    if text.startswith(ATTEMPT):
        return _recorded(text, setting)
    full = os.path.join(setting.cycle.cwd, text)
    if os.path.isdir(full):
        return _folder(text, setting, env)
    lock = locks.read(full, setting.python.markers)
    pins = {name: Pin(name, one.version, one.source) for name, one in lock.packages.items()}
    return Described(text, pins, lock.notes)


def _taken(dists: Mapping[str, Dist]) -> dict[str, Pin]:
    """From where they are: they need no index."""
    return {name: Pin(name, one.version, folder=one.site) for name, one in dists.items()}


def _folder(text: str, setting: Setting, env: Mapping[str, str]) -> Described:
    python = interpreter.at(text, setting.cycle.cwd, env)
    dists = installed(python.sites)
    if not dists:
        raise UsageError(f"{text}: there are no packages in this environment")
    if python.tag == setting.python.tag:
        return Described(text, _taken(dists))
    note = f"{text} is for Python {python.version}: its packages were installed for ours"
    pins = {name: pin_of(name, one.version) for name, one in dists.items() if not one.is_local}
    return Described(text, pins, (note,))


def _recorded(text: str, setting: Setting) -> Described:
    with open_record(setting.cycle.cwd, setting.environ) as reading:
        attempt = reading.store.resolve(text.removeprefix(ATTEMPT))
        told: dict[str, str] = reading.store.get(attempt.packages) or {}
    if not told:
        raise UsageError(
            f"nothing is known about the packages of attempt {attempt.id}",
            hint=f"they are recorded with runs of Python; see: zeroin show {attempt.id}",
        )
    return of_attempt(text, told, setting)


def of_attempt(label: str, told: Mapping[str, str], setting: Setting) -> Described:
    """Names and versions; what is still installed as it was then is taken from there."""
    here = setting.installed
    pins = {}
    for name, version in told.items():
        same = name in here and here[name].version == version
        pins[name] = Pin(name, version, folder=here[name].site) if same else Pin(name, version)
    return Described(label, pins)


def with_own(old: Described, new: Described, setting: Setting) -> tuple[Described, Described]:
    """What no list has and the command needs: the project itself, and the command's own package.

    Both have it then, as it is installed where the command would run.
    """
    here = setting.installed
    wanted = [name for name, one in here.items() if one.is_local]
    first = os.path.basename(setting.cycle.command[0])
    wanted += [name for name, one in here.items() if _has_script(one, first)]
    more: dict[str, Pin] = {}
    left = list(wanted)
    while left:
        name = left.pop()
        listed = [name in one.packages for one in (old, new)]
        if name not in here or name in more or all(listed):
            continue
        if here[name].is_local:  # what it needs is what the lists are about
            more[name] = Pin(name, here[name].version, folder=here[name].site)
        elif not any(listed):
            more[name] = Pin(name, here[name].version, folder=here[name].site)
            lines = here[name].headers("Requires-Dist")
            left += [other for other, _ in needs.asked(lines, setting.python.markers)]
    if not more:
        return old, new
    note = f"in no list, and in each try as it is installed here: {', '.join(sorted(more))}"
    return (
        old._replace(packages={**more, **old.packages}),
        new._replace(packages={**more, **new.packages}, notes=(*new.notes, note)),
    )


def _has_script(one: Dist, name: str) -> bool:
    return any(path.endswith(f"bin/{name}") for path in one.files() if path.startswith("../"))


def check_different(old: Described, new: Described, changes: Sequence[object]) -> None:
    """Say so if they are the same."""
    if not changes:
        raise UsageError(
            f"{old.label} and {new.label} have the same {len(new.packages)} packages",
            hint="if only one of them fails, it is not for its packages",
        )
