"""Where else a copy may lie: projects here, what a build left, other environments nearby."""

from __future__ import annotations

import glob
import os

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")
BUILT = ("pyproject.toml", "setup.py", "setup.cfg")
LAYOUTS = ("src", "", "lib", "python")
MOST = 400  # folders that are looked at below a project
SKIPPED = ("node_modules", "build", "dist", "__pycache__")


class Base(NamedTuple):
    """A folder in which modules may lie, and what it is."""

    folder: str
    kind: str  # "checkout", "worktree", "build" or "environment"
    of: str  # the project, or the environment


def project_of(folder: str, home: str) -> str:
    """The project around a folder; the folder itself if there is none."""
    at = folder
    while at not in ("/", home):
        if any(os.path.exists(os.path.join(at, mark)) for mark in MARKS):
            return at
        at = os.path.dirname(at)
    return folder


def installable(folder: str) -> bool:
    """Whether `pip install -e` would take it."""
    return any(os.path.exists(os.path.join(folder, mark)) for mark in BUILT)


def checkouts(cwd: str, root: str) -> list[Base]:
    """The projects here, with their usual layouts, and what `build` left."""
    projects = list(dict.fromkeys([cwd, root, *_projects(root)]))
    found = []
    for project in projects:
        for layout in LAYOUTS:
            base = os.path.join(project, layout) if layout else project
            found.append(Base(base, "checkout", project))
        built = glob.glob(os.path.join(glob.escape(project), "build", "lib*"))
        found += [Base(base, "build", project) for base in sorted(built)]
    for other in _worktrees(root):
        found += [Base(os.path.join(other, layout), "worktree", other) for layout in LAYOUTS]
    return [one for one in found if os.path.isdir(one.folder)]


def _projects(root: str) -> Iterator[str]:
    """Below the root, two folders deep: a repository may hold several."""
    seen = 0
    level = [root]
    for _ in range(2):
        below: list[str] = []
        for folder in level:
            for one in _folders(folder):
                seen += 1
                if seen > MOST:
                    return
                if installable(one):
                    yield one
                below.append(one)
        level = below


def _folders(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [
                one.path
                for one in entries
                if one.is_dir(follow_symlinks=False)
                and not one.name.startswith(".")
                and one.name not in SKIPPED
            ]
    except OSError:  # closed to us
        return []
    return sorted(one for one in found if not is_environment(one))


def _worktrees(root: str) -> Iterator[str]:
    """Other checkouts of the same repository, as git notes them."""
    git = os.path.join(root, ".git")
    if os.path.isfile(git):  # this one is itself such a checkout
        text = _first_line(git).removeprefix("gitdir:").strip()
        main = os.path.dirname(os.path.dirname(os.path.join(root, text)))
        yield os.path.dirname(main)
        git = main
    for path in sorted(glob.glob(os.path.join(glob.escape(git), "worktrees", "*", "gitdir"))):
        other = os.path.dirname(_first_line(path))
        if other and os.path.realpath(other) != os.path.realpath(root):
            yield other


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


# --- environments ------------------------------------------------------------------------------


def is_environment(folder: str) -> bool:
    """A virtual environment or one of conda's."""
    return os.path.exists(os.path.join(folder, "pyvenv.cfg")) or os.path.isdir(
        os.path.join(folder, "conda-meta")
    )


def environments(cwd: str, root: str, env: Mapping[str, str]) -> list[Base]:
    """The folders of packages of all environments near the project and the user's tools."""
    found = []
    for place in dict.fromkeys(_environments(cwd, root, env)):
        for name in ("site-packages", "dist-packages"):
            sites = glob.glob(os.path.join(glob.escape(place), "lib", "python3*", name))
            found += [Base(site, "environment", place) for site in sorted(sites)]
    return found


def _environments(cwd: str, root: str, env: Mapping[str, str]) -> Iterator[str]:
    home = env.get("HOME") or os.path.expanduser("~")
    data = env.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share")
    for folder in dict.fromkeys([cwd, root, os.path.dirname(root)]):
        yield from (one for one in _all_folders(folder) if is_environment(one))
    yield from (env[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if env.get(name))
    for folder in (
        os.path.join(env.get("PIPX_HOME") or os.path.join(data, "pipx"), "venvs"),
        os.path.join(home, ".local", "pipx", "venvs"),
        env.get("UV_TOOL_DIR") or os.path.join(data, "uv", "tools"),
        env.get("WORKON_HOME") or os.path.join(home, ".virtualenvs"),
        os.path.join(home, ".cache", "pypoetry", "virtualenvs"),
        os.path.join(env.get("PYENV_ROOT") or os.path.join(home, ".pyenv"), "versions"),
        *(os.path.join(home, one, "envs") for one in ("miniconda3", "anaconda3", "miniforge3")),
        *(os.path.join(one, "envs") for one in [env.get("CONDA_PREFIX", "")] if one),
    ):
        yield from _all_folders(folder)
    yield os.path.join(home, ".local")


def _all_folders(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))[:MOST]
    except OSError:
        return []
    found = (os.path.join(folder, name) for name in names)
    return [one for one in found if os.path.isdir(one)]


def copies(module: str, base: str) -> list[str]:
    """The files that a module would have in a folder."""
    below = os.path.join(base, *module.split("."))
    candidates = (below + ".py", os.path.join(below, "__init__.py"))
    return [one for one in candidates if os.path.isfile(one)]
