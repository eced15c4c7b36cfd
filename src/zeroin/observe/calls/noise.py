"""What fails on every start of every program: interpreters and loaders looking around."""

from __future__ import annotations

import re

from zeroin.observe.calls.about import LOOKS
from zeroin.observe.calls.history import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.observe.calls.history import Process, Tried

_NOT_THERE = ("ENOENT", "ENOTDIR")
_NAMES = re.compile(
    r"""/(?:
        pyvenv\.cfg | pybuilddir\.txt | python\d*(?:\.\d+)?\._pth | python\d+\.zip
        | \.python-version
        | (?:site|user)customize(?:\.py|\.so|/.*)? | __editable__.* | [^/]*\.egg-link
        | __pycache__(?:/.*)? | [^/]+\.(?:pyc|opt-\d\.pyc|abi3\.so|cpython-[^/]+\.so)
        | ld\.so\.(?:preload|nohwcap|cache) | glibc-hwcaps/.* | tls/.* | gconv-modules.*
        | locale-archive | [^/]+\.mo | charset\.alias
        | nscd/socket | nsswitch\.conf | \.terminfo(?:/.*)? | terminfo/.*
        | Modules/Setup\.local | (?:site|dist)-packages | lib-dynload
        | tls | haswell | x86_64 | avx512_1
        | <[^/<>]+>  # the text of -c, of which a traceback would show lines
    )$""",
    re.VERBOSE,
)
_PLACES = re.compile(
    r"^(?:/usr/(?:local/)?(?:lib|share)/locale/|/etc/(?:selinux|terminfo)|/sys/fs/selinux|/selinux"
    r"|/proc/(?:self|\d+)/|/etc/(?:localtime|inputrc|host\.conf|gai\.conf)$|/dev/tty$"
    r"|/usr/(?:local/)?lib/(?:[^/]+/)?(?:haswell|x86_64)/)"
)


def is_noise(tried: Tried, last: float, process: Process, *, own: tuple[str, ...] = ()) -> bool:
    """Whether it says nothing about the program: a search that went on and found, or a habit."""
    path = tried.path
    if own and path.startswith(own):
        return True
    if "pyenv" in tried.program or "/pyenv.d" in path:
        return True  # what chooses the interpreter, not the program
    if tried.name.startswith("readlink") and tried.error == "EINVAL":
        return True  # "is it a link?": no
    if tried.error == "EEXIST" and tried.name.startswith("mkdir") and not process.ended:
        return True  # `mkdir -p`
    if "xattr" in tried.name and tried.error in ("ENODATA", "ENOTSUP", "EOPNOTSUPP"):
        return True
    # Python puts paths together for modules as files, as packages and as shared objects.
    was_found = process.found.get(stem(path), 0.0) > last
    if tried.error == "EACCES" and (tried.name.startswith("execve") or tried.name in LOOKS):
        return was_found  # a command, along folders of PATH that are another's
    if tried.error not in (*_NOT_THERE, "ENXIO"):
        return False
    if _NAMES.search(path) or _PLACES.search(path):
        return True
    return was_found


def is_look(tried: Tried) -> bool:
    """Only looked whether it is there: many programs live with the answer no."""
    is_made = tried.error == "EEXIST" and tried.name.startswith("mkdir")
    return is_made or (tried.name in LOOKS and tried.error in _NOT_THERE)
