"""Standby: what fork can't carry runs ahead in the background, up to where the edit is expected."""

import os
import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import support
from looping import several
from zeroin.run.warm import priority, standby

PREFIX = 0.2  # seconds of loading
# A standby is begun from half a second of it on, which most tests need not wait for.
WORTH_WHILE = 0.1
EAGER = f"import zeroin.tools.loop as own; own.WORTH_WHILE = {WORTH_WHILE}"
EAGER += "; from zeroin.fronts.cli import main; main()"
# Prints, starts a thread, loads for a while, marks that it has loaded, and fails in `tail`.
MAIN = """\
import queue, sys, threading, time

def worker(jobs, results):
    while True:
        job = jobs.get()
        results.put(treat(job))

def treat(job):
    return job * 2

def load():
    with open("settings") as file:
        number = int(file.read())
    for _ in range(2):
        time.sleep(0.1)
    return number

def tail(number):
    print("tail", number)
    return number / 0

def main():
    jobs, results = queue.Queue(), queue.Queue()
    threading.Thread(target=worker, args=(jobs, results), daemon=True).start()
    print("loading", flush=True)
    print("to stderr", file=sys.stderr)
    jobs.put(4)
    print("treated", results.get())
    number = load()
    with open("loaded", "a") as file:
        file.write(".")
    print("answer", tail(number))

main()
"""
STEPS = 12
# Loads for long enough to save a file meanwhile, and writes down how far it is.
STEPPING = MAIN.replace("range(2)", f"range({STEPS})").replace(
    "        time.sleep(0.1)\n",
    "        time.sleep(0.1)\n        with open('steps', 'a') as file:\n            file.write('.')\n",
)


@pytest.fixture
def program(project):
    """A script with a thread, and a file that it reads."""
    (project / "train.py").write_text(MAIN)
    (project / "settings").write_text("6")
    return project


@pytest.fixture
def patient(zeroin, program):
    """Start a loop that prints JSON, and begins a standby when it does for a user."""
    with several(zeroin, program) as start:
        yield start


@pytest.fixture
def eager(zeroin):
    """Give the words that run zeroin with standbys for what takes `WORTH_WHILE`."""
    zeroin.driver = [sys.executable, "-c", EAGER]
    return zeroin


@pytest.fixture
def looping(eager, program):
    """Start a loop that prints JSON."""
    with several(eager, program) as start:
        yield start


def ahead():
    """The processes that run ahead, of this test; not children that have not called exec yet."""
    mark = f"{support.TEST_ID}={os.environ[support.TEST_ID]}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in words and any(word.endswith(b"/ahead/order.first") for word in words):
            found.append(int(path.parent.name))
    return [pid for pid in found if support.parent_of(pid) not in found]


def until(true, timeout=60):
    """Wait for something to be so."""
    end = time.monotonic() + timeout
    while not (found := true()):
        assert time.monotonic() < end
        time.sleep(0.005)
    return found


def loaded(program, times):
    """Wait until so many processes have loaded: the last of them stands at its place, or will."""
    until(lambda: (program / "loaded").exists() and len((program / "loaded").read_text()) >= times)


def alive(pids):
    """Those that still run: how soon an init waits for one that has ended is its own affair."""
    return [pid for pid in pids if _is_running(pid)]


# --- what a user gets --------------------------------------------------------------------------


def test_the_edit_of_the_failing_function_costs_its_tail_only(looping, program, python):
    """Though a thread forbids snapshots; the outcome and all output are those of a cold run."""
    loop = looping("--verify", command=(python, "train.py"))
    first = loop.line()
    assert first["mode"] == "cold"
    assert "a thread" in first["gate"]
    loop.until_shown("standby: running ahead in the background up to train.py:20")
    loaded(program, 2)
    before = len(loop.shown)
    loop.edit("train.py", MAIN.replace("number / 0", "number / 2"))
    second = loop.line()
    assert (second["outcome"], second["mode"], second["verified"]) == ("passed", "standby", True)
    # Its first statement, or the one that failed: which of them depends on the time that it took.
    assert second["resumed_at"] in ("train.py:19", "train.py:20")
    assert second["saved_seconds"] > PREFIX
    assert second["seconds"] < first["seconds"]
    shown = loop.shown[before:]
    wanted = ["loading", "to stderr", "treated 8", "tail 6", "answer 3.0"]
    assert sorted(shown.splitlines()) == sorted(wanted)
    assert shown.index("loading") < shown.index("treated") < shown.index("answer")


def test_it_is_begun_anew_after_each_run(looping, program):
    """Also when the run has passed: then up to the last edit. The user is told once."""
    loop = looping()
    loop.line()
    for times, divisor in ((2, 2), (3, 3), (4, 4)):
        loaded(program, times)
        loop.edit("train.py", MAIN.replace("number / 0", f"number / {divisor}"))
        line = loop.line()
        assert (line["outcome"], line["mode"]) == ("passed", "standby"), line
        assert line["saved_seconds"] > PREFIX
        assert f"answer {6 / divisor}" in loop.shown
    assert loop.shown.count("standby:") == 1


def test_the_line_says_so(zeroin, program, terminal):
    """On a terminal, where the program's output is that of a program on a terminal.

    Here the program takes as long as a standby is begun for.
    """
    source = MAIN.replace("range(2)", "range(6)")
    (program / "train.py").write_text(source)
    words = [*zeroin.driver, "loop", "--", "python", "train.py"]
    screen = terminal(words, cwd=program, env=zeroin.env, rows=30, cols=150)
    screen.expect("[1]")
    screen.expect("standby: running ahead")
    loaded(program, 2)
    (program / "train.py").write_text(source.replace("number / 0", "sys.stdout.isatty()"))
    screen.expect("loading\r\n")
    screen.expect("answer True\r\n")
    screen.expect(re.compile(r"went on from standby before train.py:\d+ · \d\.\d+ s saved"))
    screen.send("q")
    assert screen.wait() == 0


# --- when it can't be used ---------------------------------------------------------------------


def test_an_edit_of_what_has_run_is_cold(looping, program):
    """It says why; and the next standby runs the new code."""
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    changed = MAIN.replace('print("loading"', 'print("LOADING"')
    loop.edit("train.py", changed)
    second = loop.line()
    assert second["mode"] in ("cold", "resumed")
    assert re.search(r"train.py:\d+ was changed", second["reason"])
    assert "LOADING" in loop.shown
    loaded(program, 5 if second["verified"] is not None else 4)
    loop.edit("train.py", changed.replace("number / 0", "number / 2"))
    third = loop.line()
    assert (third["mode"], third["outcome"], third["verified"]) == ("standby", "passed", True)


def test_a_changed_file_that_was_read_is_cold(looping, program):
    """As for a snapshot."""
    loop = looping()
    loop.line()
    loaded(program, 2)
    (program / "settings").write_text("7")
    line = loop.line()
    assert line["mode"] in ("cold", "resumed")
    assert "settings was changed and had been read" in line["reason"]
    assert "tail 7" in loop.shown


def test_what_a_thread_is_in_the_midst_of_cant_be_changed(looping, program):
    """The worker waits for its next job, in the old code."""
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    loop.edit("train.py", MAIN.replace("results.put(treat(job))", "results.put(treat(job) + 1)"))
    line = loop.line()
    assert line["mode"] in ("cold", "resumed")
    assert line["verified"] is not False
    assert "treated 9" in loop.shown


def test_a_place_that_a_thread_reaches_first_is_given_up(looping, program):
    """A thread can't be made to wait there; it is not tried again."""
    source = MAIN.replace(
        'print("answer", tail(number))',
        "helper = threading.Thread(target=tail, args=(number,))\n"
        "    helper.start()\n    helper.join()\n    tail(number)",
    )
    (program / "train.py").write_text(source)
    loop = looping()
    assert loop.line()["outcome"] == "failed"
    loaded(program, 2)
    until(lambda: not alive(ahead()))
    loop.edit("train.py", source.replace("number / 0", "number / 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    assert loop.says_nothing()
    assert not alive(ahead())


def _is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_save_before_it_has_come_there(looping, program):
    """It goes on from where it is, at its usual pace, if what it has run is as it was."""
    (program / "train.py").write_text(STEPPING)
    loop = looping("--verify")
    loop.line()
    until(lambda: len((program / "steps").read_text()) > STEPS + 2)
    loop.edit("train.py", STEPPING.replace("number / 0", "number / 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"], line["verified"]) == ("standby", "passed", True)
    assert 0.2 < line["saved_seconds"] < STEPS * 0.1
    assert line["seconds"] > 0.1
    assert "answer 3.0" in loop.shown


def test_a_save_before_it_has_come_there_that_makes_it_useless(looping, program):
    """What it has run was changed: it says so at its next step, and is not waited for longer."""
    (program / "train.py").write_text(STEPPING)
    loop = looping("--verify")
    loop.line()
    until(lambda: len((program / "steps").read_text()) > STEPS + 2)
    loop.edit("train.py", STEPPING.replace('"treated"', '"TREATED"'))
    line = loop.line()
    assert line["mode"] in ("cold", "resumed")
    assert line["verified"] is not False
    assert re.search(r"train.py:\d+ was changed", line["reason"])
    assert "TREATED 8" in loop.shown


@pytest.mark.parametrize(
    "reason",
    [
        "sqlite has db open",
        "a file lock is held on x",
        "an alarm is set",
        "shared memory is mapped",
    ],
)
def test_not_where_it_would_stand_in_the_way(reason):
    """Only where a process that has run up to there harms nobody."""
    assert not standby.fits(reason)


@pytest.mark.parametrize(
    "reason",
    ["a thread (worker) is running", "a child process (pid 3, cat) is running", "a socket is open"],
)
def test_where_it_fits(reason):
    """A thread, a child, a socket."""
    assert standby.fits(reason)


def test_no_standby(looping, program):
    """`--no-standby`: nothing runs that nobody asked for."""
    loop = looping("--no-standby")
    loop.line()
    assert loop.says_nothing()
    assert ahead() == []
    assert "standby:" not in loop.shown


def test_not_for_a_short_way(patient, program):
    """Where the last snapshot is near the end, it is good enough."""
    (program / "train.py").write_text(MAIN.replace("range(2)", "range(0)"))
    loop = patient()
    first = loop.line()
    assert "a thread" in first["gate"]
    loop.edit("train.py", MAIN.replace("range(2)", "range(0)").replace("/ 0", "/ 2"))
    assert loop.line()["outcome"] == "passed"
    assert ahead() == []


# --- its life ----------------------------------------------------------------------------------


def test_never_more_than_one(looping, program):
    """And none while the program runs otherwise: two could get in each other's way."""
    source = "import socket\n" + MAIN.replace(
        "    jobs, results =",
        "    server = socket.socket()\n"
        "    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)\n"
        "    server.bind(('127.0.0.1', int(open('port').read())))\n"
        "    server.listen()\n"
        "    jobs, results =",
    )
    (program / "port").write_text(str(free_port()))
    (program / "train.py").write_text(source)
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    assert len(ahead()) == 1
    loop.edit("train.py", source.replace("number / 0", "number / 2"))
    line = loop.line()
    assert (line["mode"], line["verified"], line["outcome"]) == ("standby", True, "passed")
    loaded(program, 4)  # the first, the standby, the cold run to compare with, the next standby
    assert len(alive(ahead())) == 1
    loop.say("cold")
    assert loop.line()["mode"] == "cold"


def free_port():
    """One that nobody has now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.mark.parametrize("parked", [True, False])
@pytest.mark.parametrize("how", ["quit", "term", "kill"])
def test_it_ends_with_the_loop(looping, program, parked, how):
    """In whatever way that ends; with the children it has started."""
    source = MAIN.replace(
        "    number = load()",
        "    import subprocess\n    subprocess.Popen(['sleep', '1000'])\n    number = load()",
    )
    (program / "train.py").write_text(source + "\n")
    loop = looping()
    loop.line()
    (pid,) = until(ahead)
    if parked:
        loaded(program, 2)
    else:
        until(lambda: Path(f"/proc/{pid}/task/{pid}/children").read_text().strip())
    family = [pid, *_below(pid)]
    assert len(family) > 1
    if how == "quit":
        loop.quit()
    else:
        loop.process.send_signal(signal.SIGTERM if how == "term" else signal.SIGKILL)
        loop.wait()
    until(lambda: not alive(family), 5)
    for left in _sleeping():  # the first run's own, which outlives it as in a plain run
        os.kill(left, signal.SIGKILL)


def _below(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _sleeping():
    mark = os.environ[support.TEST_ID]
    found = support.marked(mark)
    return [pid for pid in found if b"sleep\0" in Path(f"/proc/{pid}/cmdline").read_bytes()]


def test_it_ends_with_the_terminal(eager, program, terminal):
    """Which hangs up while it is on its way; the fixture looks for what is left."""
    words = [*eager.driver, "loop", "--", "python", "train.py"]
    screen = terminal(words, cwd=program, env=eager.env, rows=30, cols=150)
    screen.expect("standby: running ahead")
    (pid,) = until(ahead)
    os.kill(screen.process.pid, signal.SIGHUP)
    assert screen.wait() == -signal.SIGHUP
    assert not alive([pid])


def test_output_of_its_children_comes_through(looping, program):
    """What a child prints that was started before, and prints after."""
    source = MAIN.replace(
        "    number = load()",
        "    import subprocess\n"
        "    child = subprocess.Popen(['cat'], stdin=subprocess.PIPE)\n"
        "    number = load()",
    ).replace(
        'print("answer", tail(number))',
        'tail(number)\n    child.communicate(b"from the child\\n")\n    print("over")',
    )
    (program / "train.py").write_text(source)
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    before = len(loop.shown)
    loop.edit("train.py", source.replace("number / 0", "number / 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"], line["verified"]) == ("standby", "passed", True)
    assert "from the child" in loop.shown[before:]


def test_a_failure_after_it_is_told_as_any(looping, zeroin, program):
    """With its traceback and locals: its agent speaks to the new run."""
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    loop.edit("train.py", MAIN.replace("number / 0", "{}[number]"))
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("standby", True)
    assert line["headline"] == "KeyError at train.py tail(): 6"
    loop.quit()
    shown = zeroin("show", str(line["id"]), cwd=program).stdout
    assert "number" in shown
    assert "train.py" in shown


def test_one_that_reads_the_terminal_is_given_up(eager, program, terminal):
    """It is stopped by the kernel, so it steals no key; the next run is an ordinary one."""
    source = MAIN.replace(
        "    number = load()",
        '    name = input("name? ")\n    print("hello", name)\n    number = load()',
    )
    (program / "train.py").write_text(source)
    words = [*eager.driver, "loop", "--", "python", "train.py"]
    screen = terminal(words, cwd=program, env=eager.env, rows=30, cols=150)
    screen.expect("name? ")
    screen.line("Ann")
    screen.expect("hello Ann")
    screen.expect("standby: running ahead")
    (pid,) = until(ahead)
    until(lambda: _state(pid) == "T")
    (program / "train.py").write_text(source.replace("number / 0", "number / 2"))
    screen.expect("name? ")
    screen.line("Bob")
    screen.expect("hello Bob")
    screen.expect("answer 3.0")
    screen.expect("[2]")
    screen.send("q")
    assert screen.wait() == 0


def _state(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def test_it_gives_way_and_takes_that_back(looping, program):
    """In the background at the lowest priority that can be undone; as any program after."""
    tail = textwrap.dedent("""\
        import os
            print("class", os.sched_getscheduler(0), "nice", os.nice(0))
            return number / 2""")
    loop = looping("--verify")
    loop.line()
    loaded(program, 2)
    (pid,) = ahead()
    wanted = os.SCHED_IDLE if priority.can_undo() else os.SCHED_BATCH
    assert os.sched_getscheduler(pid) == wanted
    loop.edit("train.py", MAIN.replace("return number / 0", tail))
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("standby", True)
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    assert f"class {os.SCHED_OTHER} nice {nice}" in loop.shown


def test_only_where_there_is_room(tmp_path):
    """Twice the program's peak must be free. In a process of its own, since an engine adopts."""
    source = """\
        import os
        from zeroin.run.agent_order import AgentOrder
        from zeroin.run.warm import Engine, standby
        with Engine() as engine:
            command = standby.Command(["true"], os.getcwd(), dict(os.environ), (1, 2), AgentOrder())
            place = standby.Place("/nowhere/train.py", 1, 1.0)
            assert not engine.stand_by(command, place, 1 << 60)
            assert engine.standby is None
            assert engine.stand_by(command, place, 1 << 20)
            assert engine.standby is not None
        assert engine.standby is None
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
