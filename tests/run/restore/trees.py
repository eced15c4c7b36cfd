"""Trees of files to put back, what programs do to them, and all there is to say about one."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import traceback
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zeroin.run.restore import (
    put_back,
    save,
)

OLD = 1_500_000_000_123_456_789


def state(path: Path | str) -> dict[str, tuple[object, ...]]:
    """Describe a tree entirely: kinds, modes, times, contents, links, attributes, hard links."""
    found: dict[str, tuple[object, ...]] = {}
    groups: dict[int, str] = {}

    def look(each: str) -> None:
        info = os.lstat(each)
        kind = stat.S_IFMT(info.st_mode)
        mode = stat.S_IMODE(info.st_mode)
        if kind == stat.S_IFDIR:
            found[each] = ("folder", mode, info.st_mtime_ns, os.listxattr(each))
            for name in sorted(os.listdir(each)):
                look(os.path.join(each, name))
        elif kind == stat.S_IFLNK:
            found[each] = ("link", info.st_mtime_ns, os.readlink(each))
        elif kind == stat.S_IFREG:
            group = groups.setdefault(info.st_ino, each)
            marks = [(name, os.getxattr(each, name)) for name in os.listxattr(each)]
            owner = (info.st_uid, info.st_gid)
            content = Path(each).read_bytes() if os.access(each, os.R_OK) else None
            found[each] = (mode, info.st_mtime_ns, content, group, marks, owner)
        else:
            found[each] = ("special", kind)

    if os.path.lexists(path):
        look(str(path))
    return found


def put(path: Path, content: str | bytes = "x", mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    path.chmod(mode)
    os.utime(path, ns=(OLD, OLD))
    return path


names = st.sampled_from(["a", "b", "c", "d e", "é\n"])
modes = st.sampled_from([0o644, 0o600, 0o444, 0o755, 0o000])
files = st.tuples(st.just("file"), st.binary(max_size=40), modes)
links = st.tuples(st.just("link"), st.sampled_from(["a", "b/c", "missing"]), st.just(0))
nodes = st.recursive(
    files | links,
    lambda inner: st.tuples(
        st.just("folder"),
        st.dictionaries(names, inner, max_size=4),
        st.sampled_from([0o755, 0o555, 0o700, 0o500]),
    ),
    max_leaves=12,
)
verbs = st.sampled_from(
    [
        "write",
        "append",
        "replace",
        "delete",
        "chmod",
        "touch",
        "rename",
        "mkfile",
        "mkdir",
        "link",
        "hardlink",
        "steal",
        "leak",
        "swap",
        "fifo",
    ]
)
mutations = st.lists(st.tuples(verbs, st.integers(0, 30), st.integers(0, 30)), max_size=8)


def build(path: str, node) -> None:
    kind, inner, mode = node
    if kind == "link":
        os.symlink(inner, path)
    elif kind == "file":
        Path(path).write_bytes(inner)
    else:
        os.mkdir(path)
        for name, each in inner.items():
            build(os.path.join(path, name), each)
    if kind != "link":
        os.chmod(path, mode | 0o400 if kind == "file" else mode)
    os.utime(path, ns=(OLD, OLD + len(path)), follow_symlinks=False)


def everything(path: str) -> list[str]:
    found = [path]
    for base, folders, others in os.walk(path) if not os.path.islink(path) else ():
        found += [os.path.join(base, name) for name in sorted(folders + others)]
    return [each for each in found if os.path.lexists(each)]


def shared(path: str, outside: str) -> set[int]:
    """Give the inodes that have names on both sides."""
    inside, beyond = ({os.lstat(each).st_ino for each in everything(p)} for p in (path, outside))
    return inside & beyond


def mutate(path: str, outside: str, verb: str, at: int, other: int) -> None:
    """Do one of the things programs do, as far as it is possible there."""
    known = everything(path)
    if not known:
        Path(path).write_bytes(b"again")
        return
    victim, second = known[at % len(known)], known[other % len(known)]
    parent = os.path.dirname(victim)
    if verb == "write":
        with open(os.open(victim, os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "wb") as file:
            file.write(b"w" * other)
    elif verb == "append":
        with open(
            os.open(victim, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK), "wb"
        ) as file:
            file.write(b"+")
    elif verb == "replace":
        Path(parent, "tmp").write_bytes(b"replaced")
        os.replace(os.path.join(parent, "tmp"), victim)
    elif verb == "delete":
        shutil.rmtree(victim) if os.path.isdir(victim) else os.unlink(victim)
    elif verb == "chmod" and not os.path.islink(victim):
        os.chmod(victim, [0o777, 0o000, 0o500, 0o200][other % 4])
    elif verb == "touch":
        os.utime(victim, follow_symlinks=False)
    elif verb == "rename":
        os.rename(victim, second + "-renamed")
    elif verb == "mkfile":
        Path(victim, "new").write_bytes(b"new")
    elif verb == "mkdir":
        os.makedirs(os.path.join(victim, "new folder", "deeper"))
    elif verb == "link":
        os.symlink(outside, os.path.join(parent, f"out{other}"))
    elif verb == "hardlink":
        os.link(victim, second + "-linked", follow_symlinks=False)
    elif verb == "steal":
        os.unlink(victim)
        os.link(os.path.join(outside, "precious"), victim)
    elif verb == "leak":
        os.link(victim, os.path.join(outside, f"leak{other}"), follow_symlinks=False)
    elif verb == "swap":
        os.rename(victim, victim + "~")
        os.symlink(outside, victim)
    elif verb == "fifo":
        os.mkfifo(os.path.join(victim, "fifo"))


@settings(
    max_examples=250,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(node=nodes, rounds=st.lists(mutations, min_size=1, max_size=3))
def random_trees(node, rounds) -> None:
    """Build any tree, do anything to it, put it back: it is the first state, and only it."""
    base = os.path.realpath(tempfile.mkdtemp())
    try:
        path, outside = os.path.join(base, "p"), os.path.join(base, "outside")
        put(Path(outside, "precious"), "precious")
        build(path, node)
        before = state(path)
        save(path, os.path.join(base, "kept"))
        for steps in rounds:
            for step in steps:
                with contextlib.suppress(OSError, shutil.Error):
                    mutate(path, outside, *step)
            safe = state(outside)  # after what the program did there
            put_back(path, os.path.join(base, "kept"))
            assert state(path) == before
            assert state(outside) == safe
            assert not shared(path, outside)
    finally:
        for each in everything(base):
            if os.path.isdir(each) and not os.path.islink(each):
                os.chmod(each, 0o700)
        shutil.rmtree(base, ignore_errors=True)


def without_privileges(function) -> str:
    """Call a function of a folder as a user who isn't root; give what it returned or raised."""
    base = os.path.realpath(tempfile.mkdtemp())
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.chdir(base)
            tempfile.tempdir = base
            if os.getuid() == 0:
                os.chown(base, 65534, 65534)
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, f"{function(Path(base))}".encode())
        except BaseException as error:
            os.write(writer, "".join(traceback.format_exception(error)).encode()[-20_000:])
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as said:
        answer = said.read().decode()
    os.waitpid(child, 0)
    for each in everything(base):
        if os.path.isdir(each) and not os.path.islink(each):
            os.chmod(each, 0o700)
    shutil.rmtree(base)
    return answer
