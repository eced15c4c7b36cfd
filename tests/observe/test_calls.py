"""What strace writes is read as it was meant: names, threads, forks, signals."""

from __future__ import annotations

import os
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support import needs
from zeroin.observe.calls import History, Reader
from zeroin.observe.calls.about import about
from zeroin.observe.calls.parse import Call, Exit, Signal, unquoted
from zeroin.observe.calls.reason import reason
from zeroin.observe.calls.report import failures, used


def read(text: str, pieces: int = 10_000) -> list[Call | Signal | Exit]:
    reader, data = Reader(), text.encode("utf-8", "surrogateescape")
    cut = [data[at : at + pieces] for at in range(0, len(data), pieces)]
    return [record for piece in cut for record in reader.feed(piece)]


def history(text: str) -> History:
    found = History("sh go.sh", "/proj")
    for record in read(text):
        found.take(record)
    return found


def failed(text: str, **options) -> list[tuple[str, str]]:
    found, _ = failures(history(text), **options)
    return [(failure.path, failure.error) for failure in found]


NAMES = {
    "plain": "plain",
    "two words": "two words",
    r"quo\"te": 'quo"te',
    r"new\nline": "new\nline",
    r"caf\303\251": "café",
    r"\377\3761": "\udcff\udcfe1",
    r"\0331x": "\x1b1x",
    r"a\\b": "a\\b",
    "x) = 3<y": "x) = 3<y",
    ", O_RDONLY) = -1 ENOENT": ", O_RDONLY) = -1 ENOENT",
    r"\x41\t": "A\t",
}


@pytest.mark.parametrize("shown", NAMES)
def test_any_name_is_read(shown):
    """Spaces, quotes, newlines, UTF-8, other bytes, and names that look like strace's own text."""
    line = f'7 1.5 openat(AT_FDCWD</proj>, "{shown}", O_RDONLY) = -1 EACCES (Permission denied)\n'
    (call,) = read(line)
    assert (call.name, call.error) == ("openat", "EACCES")
    assert about(call, "/").paths == [os.path.normpath(f"/proj/{NAMES[shown]}")]


@pytest.mark.parametrize("shown", [name for name in NAMES if "<" not in name])
def test_any_name_behind_a_descriptor_is_read(shown):
    """`write(3</full/disk>, ...)`."""
    (call,) = read(f'7 1.5 write(3</w/{shown}>, "a"..., 10) = -1 ENOSPC (No space left)\n')
    assert about(call, "/").paths == [f"/w/{NAMES[shown]}"]


@needs("strace")
@given(st.binary(min_size=1, max_size=40))
def test_strace_and_we_agree_on_escapes(tmp_path_factory, name):
    """Any bytes of a name come back, as strace itself escapes them."""
    name = name.replace(b"\0", b"n").replace(b"/", b"s")
    folder = tmp_path_factory.getbasetemp()
    log = folder / "log"
    words = [
        "strace",
        "-ttt",
        "-f",
        "-y",
        "-o",
        log,
        "-e",
        "trace=rmdir",
        "rmdir",
        b"/nowhere/" + name,
    ]
    subprocess.run(words, check=False, capture_output=True)
    calls = [one for one in read(log.read_text(errors="surrogateescape")) if isinstance(one, Call)]
    assert [
        os.fsencode(call.args[0]) and os.fsencode(unquoted(call.args[0][1:-1])) for call in calls
    ] == [b"/nowhere/" + name]


def test_records_come_out_whole_whatever_the_pieces():
    """The log is read while it is being written."""
    text = "".join(
        f'7 {n}.5 openat(AT_FDCWD</proj>, "file{n}", O_RDONLY) = -1 ENOENT (No such file)\n'
        for n in range(20)
    )
    assert read(text, pieces=7) == read(text)
    assert len(read(text)) == 20


def test_halves_of_a_call_are_put_together():
    """Another thread's line comes between them; the time is that of the first half."""
    text = (
        '7 1.0 openat(AT_FDCWD</proj>, "a", O_RDONLY <unfinished ...>\n'
        '8 1.1 openat(AT_FDCWD</proj>, "b", O_RDONLY) = 3</proj/b>\n'
        "7 1.2 <... openat resumed>) = -1 ENOENT (No such file or directory)\n"
    )
    other, call = read(text)
    assert (other.pid, other.error) == (8, "")
    assert (call.pid, call.time, call.error) == (7, 1.0, "ENOENT")
    assert about(call, "/").paths == ["/proj/a"]


def test_threads_are_not_processes():
    """A thread's failure is its process's; a child that speaks first is known later."""
    text = (
        '7 1.0 execve("/bin/sh", ["sh", "go.sh"], 0x1 /* 3 vars */) = 0\n'
        "7 1.1 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} => {parent_tid=[8]}, 88) = 8\n"
        '9 1.2 openat(AT_FDCWD</proj>, "early", O_RDONLY) = -1 ENOENT (No such file)\n'
        "7 1.3 clone(child_stack=NULL, flags=SIGCHLD) = 9\n"
        '8 1.4 openat(AT_FDCWD</proj>, "threads", O_RDONLY) = -1 ENOENT (No such file)\n'
        "9 1.5 +++ exited with 3 +++\n"
        "8 1.6 +++ exited with 0 +++\n"
        "7 1.7 +++ killed by SIGKILL +++\n"
    )
    found = history(text)
    assert {one.path: one.pid for one in failures(found)[0]} == {
        "/proj/threads": 7,
        "/proj/early": 9,
    }
    assert (found.processes[7].ended, found.processes[9].ended) == ("SIGKILL", "exit 3")


def test_signals_are_no_calls():
    """Also one that a call was interrupted by."""
    text = (
        "7 1.0 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9} ---\n"
        '7 1.1 write(1</w/x>, "", 5 <unfinished ...>\n'
        "7 1.2 <... write resumed>) = ? ERESTARTSYS (To be restarted if SA_RESTART is set)\n"
        "7 1.3 --- stopped by SIGTSTP ---\n"
        "strace: a line of its own\n"
    )
    first, _ = read(text)
    assert isinstance(first, Signal)
    assert first.name == "SIGCHLD"
    assert failed(text) == []


def test_where_a_process_is_counts():
    """Relative names after chdir, where the call itself does not say."""
    text = '7 1.0 chdir("sub") = 0\n7 1.1 access("x", R_OK) = -1 EACCES (Permission denied)\n'
    assert failed(text) == [("/proj/sub/x", "EACCES")]


def test_a_connection_that_was_not_waited_for():
    """EINPROGRESS is no failure; what getsockopt tells later is."""
    text = (
        "7 1.0 connect(3<socket:[5]>, {sa_family=AF_INET, sin_port=htons(80), "
        'sin_addr=inet_addr("10.0.0.1")}, 16) = -1 EINPROGRESS (Operation now in progress)\n'
        "7 1.1 getsockopt(3<socket:[5]>, SOL_SOCKET, SO_ERROR, [ECONNREFUSED], [4]) = 0\n"
    )
    assert failed(text) == [("10.0.0.1:80", "ECONNREFUSED")]
    assert failed(text.replace("ECONNREFUSED", "0")) == []


def test_what_a_search_found_later_is_hidden():
    """A library or module that is looked for in several folders, unless all is asked for."""
    text = (
        '7 1.0 openat(AT_FDCWD</proj>, "/a/libz.so.1", O_RDONLY) = -1 ENOENT (No such file)\n'
        '7 1.1 openat(AT_FDCWD</proj>, "/b/libz.so.1", O_RDONLY) = 3</b/libz.so.1>\n'
        '7 1.2 openat(AT_FDCWD</proj>, "/a/liby.so.1", O_RDONLY) = -1 ENOENT (No such file)\n'
    )
    assert failed(text) == [("/a/liby.so.1", "ENOENT")]
    assert len(failed(text, everything=True)) == 2


def test_a_command_that_was_found_elsewhere_is_hidden():
    """Along folders of PATH that are another's; a file that may not be read is not."""
    text = (
        '7 1.0 execve("/root/bin/cat", ["cat"], 0x1 /* 3 vars */) = -1 EACCES (Permission denied)\n'
        '7 1.1 access("/root/lib/cat", X_OK) = -1 EACCES (Permission denied)\n'
        '7 1.2 openat(AT_FDCWD</proj>, "/root/cat", O_RDONLY) = -1 EACCES (Permission denied)\n'
        '7 1.3 execve("/bin/cat", ["cat"], 0x1 /* 3 vars */) = 0\n'
        '7 1.4 execve("/root/bin/dog", ["dog"], 0x1 /* 3 vars */) = -1 EACCES (Permission denied)\n'
    )
    assert sorted(failed(text)) == [("/root/bin/dog", "EACCES"), ("/root/cat", "EACCES")]


def test_a_search_in_vain_is_one_failure():
    """`command not found` is one name, not ten paths."""
    text = "".join(
        f'7 1.{n} execve("/p{n}/tool", ["tool"], 0x1 /* 3 vars */) = -1 ENOENT (No such file)\n'
        for n in range(5)
    )
    (failure,) = failures(history(text))[0]
    assert (failure.path, failure.operation) == ("tool", "execute")
    assert "/p0, /p1, /p2, /p3, /p4" in failure.reason


def test_the_likeliest_comes_first():
    """What the output names; then the last of who ended badly; looking around comes last."""
    text = (
        '7 1.0 openat(AT_FDCWD</proj>, "named.txt", O_RDONLY) = -1 ENOENT (No such file)\n'
        '7 1.1 openat(AT_FDCWD</proj>, "other.txt", O_RDONLY) = -1 ENOENT (No such file)\n'
        '7 1.2 openat(AT_FDCWD</proj>, "later.txt", O_RDONLY) = -1 EACCES (Permission denied)\n'
        '7 1.3 newfstatat(AT_FDCWD</proj>, "looked", 0x1, 0) = -1 ENOENT (No such file)\n'
        "7 1.4 +++ exited with 1 +++\n"
    )
    names = [os.path.basename(path) for path, _ in failed(text, output="can't read named.txt")]
    assert names == ["named.txt", "later.txt", "other.txt", "looked"]


def test_opened_and_written_are_told_apart():
    """Read, written, renamed and removed; `write` itself is not counted."""
    text = (
        '7 1.0 openat(AT_FDCWD</proj>, "in", O_RDONLY) = 3</proj/in>\n'
        '7 1.1 openat(AT_FDCWD</proj>, "out", O_WRONLY|O_CREAT, 0666) = 4</proj/out>\n'
        '7 1.2 write(4</proj/out>, "x", 1) = 1\n'
        '7 1.3 rename("out", "final") = 0\n'
        '7 1.4 unlink("old") = 0\n'
    )
    found = history(text)
    assert [(one.path, one.operation) for one in used(found.opened)] == [
        ("/proj/out", "open to write"),
        ("/proj/in", "open to read"),
    ]
    assert [(one.path, one.operation) for one in used(found.written)] == [
        ("/proj/old", "remove"),
        ("/proj/final", "rename"),
        ("/proj/out", "open to write"),
    ]


def test_memory_is_bounded():
    """A million different names in vain: the last ones are kept, the rest is counted."""
    found = History("sh", "/")
    for number in range(25_000):
        found.take(Call(7, number, "access", [f'"/x{number}"'], "-1 ENOENT", "ENOENT"))
    assert (len(found.failed), found.lost) == (20_000, 5_000)


def test_reasons_name_what_is_in_the_way(tmp_path):
    """The missing folder, the near name, the dead link, the interpreter, the file in between."""
    (tmp_path / "table.csv").write_text("")
    (tmp_path / "dead").symlink_to("nowhere")
    script = tmp_path / "script"
    script.write_text("#!/no/such/sh\n")

    def why(name: str, error: str = "ENOENT", operation: str = "open to read") -> str:
        return reason(str(tmp_path / name), error, operation).replace(str(tmp_path), "")

    assert why("a/b/c") == "the folder /a is not there either"
    assert why("tabel.csv") == "there is table.csv"
    assert why("dead") == "it is a link to nowhere, which is not there"
    assert "/no/such/sh" in why("script", operation="execute")
    assert why("table.csv/x", "ENOTDIR") == "/table.csv is a file, not a folder"
    assert "255" in why("n" * 300, "ENAMETOOLONG")
    assert "MB free now" in why("x", "ENOSPC")
