"""The command that fixes a lack, as it has to be typed on this machine."""

from __future__ import annotations

import os
import shlex
import shutil
import sys

# In the order in which they are looked for: the command, and how it installs.
MANAGERS = {
    "apt-get": "apt-get install -y",
    "dnf": "dnf install -y",
    "yum": "yum install -y",
    "zypper": "zypper install -y",
    "pacman": "pacman -S --noconfirm",
    "apk": "apk add",
    "brew": "brew install",
}
# Packages that are not called the same everywhere.
NAMES = {
    ("slurm", "apt-get"): "slurm-client",
    ("slurm", "zypper"): "slurm",
    ("nvidia", "apt-get"): "nvidia-driver",
    ("nvidia", "dnf"): "akmod-nvidia xorg-x11-drv-nvidia-cuda",
    ("nvidia", "pacman"): "nvidia nvidia-utils",
}


def as_root(command: str) -> str:
    """Put before a command what makes it root's."""
    if os.geteuid() == 0:
        return command
    if shutil.which("sudo"):
        return f"sudo {command}"
    return f"su -c {shlex.quote(command)}"


def system_package(name: str) -> str:
    """Say how this machine's package manager installs something; "" if it has none."""
    manager = next((one for one in MANAGERS if shutil.which(one)), None)
    if manager is None:
        return ""
    install = f"{MANAGERS[manager]} {NAMES.get((name, manager), name)}"
    if manager == "brew":
        return install
    if manager == "apt-get" and not _has_package_lists():
        return f"{as_root('apt-get update')} && {as_root(install)}"
    return as_root(install)


def _has_package_lists() -> bool:
    try:
        names = os.listdir("/var/lib/apt/lists")
    except OSError:
        return True
    return any("_Packages" in name for name in names)


def beside_driver(package: str) -> str:
    """Say how a package gets into the environment that zeroin itself runs in."""
    python = shlex.quote(sys.executable)
    if os.path.exists(os.path.join(sys.prefix, "uv-receipt.toml")):
        return f"uv tool install --force --with {package} zeroin"
    if os.path.exists(os.path.join(sys.prefix, "pipx_metadata.json")):
        return f"pipx inject zeroin {package}"
    if not _has_pip():
        return f"uv pip install --python {python} {package}"
    if _is_managed_by_the_system():
        return f"pipx install {package}"
    return f"{python} -m pip install {package}"


def _has_pip() -> bool:
    from importlib.util import find_spec

    return find_spec("pip") is not None


def _is_managed_by_the_system() -> bool:
    """Debian's and others' own Python, into which pip refuses to install."""
    from sysconfig import get_path

    in_venv = sys.prefix != sys.base_prefix
    return not in_venv and os.path.exists(os.path.join(get_path("stdlib"), "EXTERNALLY-MANAGED"))


def sysctl(setting: str) -> str:
    """Change a kernel setting until the next start; `setting` is "name=value"."""
    return as_root(f"sysctl -w {setting}")


def container() -> str:
    """Name the tool whose container we are in, as far as it can be told; "" outside."""
    if os.path.exists("/run/.containerenv"):
        return "podman"
    if os.path.exists("/.dockerenv"):
        return "docker"
    return ""


def restart_container(options: str) -> str:
    """Say how our container has to be started instead; "" outside of one."""
    tool = container()
    return f"{tool} run {options} IMAGE" if tool else ""
