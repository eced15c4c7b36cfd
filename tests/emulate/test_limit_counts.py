"""Few files, processes and cores, a slow processor, no network."""

import os
import re
import signal

import pytest
from test_limit_disk import are_gone, guards

FILES = "x = [open('/etc/passwd') for _ in range(100)]"
THREADS = """\
import threading
waits = threading.Event()
threads = [threading.Thread(target=waits.wait) for _ in range(20)]
try:
    for thread in threads:
        thread.start()
finally:
    waits.set()
"""
BUSY = """\
import sys, time
began = time.monotonic()
while time.monotonic() - began < 2:
    pass
print(time.process_time() / (time.monotonic() - began))
"""


def test_few_files(someone):
    """The program sees EMFILE, and so do its children."""
    for command in (["python", "-c", FILES], ["sh", "-c", f'python -c "{FILES}"']):
        done = someone.json("run", "--limit", "files=20", "--", *command)
        assert done["outcome"] == "limit"
        assert "[Errno 24] Too many open files" in done["headline"]
        assert done["limits"][0]["backend"] == "RLIMIT_NOFILE"
    assert (
        someone.json("run", "--limit", "files=200", "--", "python", "-c", FILES)["outcome"]
        == "passed"
    )


def test_few_processes(someone):
    """The command counts as one; what others of the same user run does not."""
    script = "for n in 1 2 3; do sleep 0.2 & done; wait; echo all"
    enough = someone("run", "-q", "--limit", "processes=4", "--", "sh", "-c", script)
    assert (enough.returncode, enough.stdout) == (0, "all\n"), enough.stderr
    done = someone.json("run", "--limit", "processes=3", "--", "sh", "-c", script)
    assert done["outcome"] == "limit"
    assert done["limits"][0]["reached"]
    assert re.search("pids cgroup v[12]|RLIMIT_NPROC", done["limits"][0]["backend"])


def test_threads_are_processes(someone):
    """As the kernel counts."""
    done = someone.json("run", "--limit", "processes=6", "--", "python", "-c", THREADS)
    assert done["outcome"] == "limit"
    assert "can't start new thread" in done["headline"]


def test_few_cores(someone):
    """For the command and its children."""
    done = someone("run", "-q", "--limit", "cores=1", "--", "sh", "-c", "nproc")
    assert done.stdout == "1\n"


@pytest.mark.slow
def test_a_slow_processor(someone):
    """A fifth of one, on average; the program itself can measure it."""
    someone.write("busy.py", BUSY)
    done = someone("run", "--limit", "cpu=20%", "--", "python", "busy.py")
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.3
    assert re.search("back-end: (cpu cgroup v[12]|stop and go)", done.stderr)


def test_a_slow_processor_lets_go(nobody):
    """A tree that was stopped from time to time ends when it is told to."""
    nobody.write("busy.py", "print('ready', flush=True)\nwhile True:\n    pass\n")
    process = nobody.start("run", "--limit", "cpu=5%", "--", "python", "busy.py")
    with process:
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    are_gone(guards(nobody))


def test_no_network(someone):
    """Nobody can be reached but the command's own processes."""
    program = "import socket; socket.create_connection(('192.0.2.1', 80), 5)"
    done = someone.json("run", "--limit", "network=off", "--", "python", "-c", program)
    assert done["outcome"] == "limit"
    assert "[Errno 101] Network is unreachable" in done["headline"]


LOCAL = """\
import socket, threading, time
server = socket.create_server(("127.0.0.1", 0))
def serve():
    line, _ = server.accept()
    while line.recv(65536):
        pass
thread = threading.Thread(target=serve)
thread.start()
began = time.monotonic()
with socket.create_connection(server.getsockname()) as line:
    line.sendall(bytes(400_000))
thread.join()
print(time.monotonic() - began)
"""


@pytest.mark.slow
def test_a_slow_network(someone):
    """The loopback passes so many bytes a second; the report says that it is all there is."""
    someone.write("local.py", LOCAL)
    quick = someone("run", "-q", "--limit", "network=off", "--", "python", "local.py")
    slow = someone("run", "--limit", "network=1600kbit", "--", "python", "local.py")
    assert float(quick.stdout) < 0.5
    assert 1.2 < float(slow.stdout) < 10  # 400 KB at 200 KB/s, but for a first burst
    assert "nothing outside of the command can be reached" in slow.stderr


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("files=3", "3 files are open before a program starts"),
        ("files=99999999999", "so it is less already"),
        ("files=0", "'0' is no number from 1 on"),
        ("processes=few", "'few' is no number from 1 on"),
        ("cores=9999", "so it is less already"),
        ("cpu=0%", "'0%' is no share"),
        ("cpu=2", "'2' is no share"),
        ("network=slow", "'slow' is no rate"),
        ("network=0", "that is no network at all"),
    ],
)
def test_what_can_not_be(me, limit, words):
    """In words, with exit code 2, before the command is started."""
    done = me("limit", limit, "--", "touch", "started")
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert not (me.project / "started").exists()


def test_all_at_once(someone):
    """Limits of different kinds go together, each with its back-end."""
    someone.folder("out")
    limits = [
        "disk=out:1M",
        "readonly=/etc",
        "memory=1G",
        "files=64",
        "processes=50",
        "cores=1",
        "cpu=90%",
        "network=off",
        "shm=1M",
    ]
    done = someone.json(
        "limit", *limits, "--", "python", "-c", "print(open('out/x', 'w').write('x'))"
    )
    assert done["outcome"] == "passed", done
    assert [one["limit"] for one in done["limits"]] == limits
    assert all(one["backend"] for one in done["limits"])
    assert os.listdir(someone.project / "out") == []
