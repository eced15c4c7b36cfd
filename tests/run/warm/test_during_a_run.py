"""What the engine does while the program runs, and what else agents tell."""

import signal

import pytest


def test_stop_ends_the_whole_tree_but_no_snapshot(scenario):
    """The program has its say first; its children go too; the next run resumes."""
    seen = scenario("""
        loop = Loop()
        loop.on_output("waiting", lambda: loop.engine.aside.run.stop())
        run = loop.run("polite", "child", "wait")
        child = int(run["shown"].split()[1])
        snapshots = [s.pid for s in loop.engine.snapshots]
        report(run=run, child=alive([child]), good=alive(snapshots) == snapshots,
               warm=loop.run("polite", "child", "exit 0"))
        loop.engine.close()
    """)
    assert seen["run"]["stopped"]
    assert seen["run"]["code"] == 3
    assert seen["run"]["shown"].endswith("waiting\nbye\n")
    assert seen["child"] == []
    assert seen["good"]
    assert seen["warm"]["came"][0] == 2
    assert not seen["warm"]["stopped"]


def test_stop_is_not_refused(scenario):
    """A program deaf to SIGTERM is killed after its grace."""
    seen = scenario("""
        loop = Loop()
        loop.on_output("waiting", lambda: loop.engine.aside.run.stop())
        run = loop.run("deaf", "wait")
        report(run=run)
        loop.engine.close()
    """)
    assert seen["run"]["stopped"]
    assert seen["run"]["code"] == -signal.SIGKILL
    assert seen["run"]["took"] >= 1.0


def test_a_time_out_ends_the_program_but_no_snapshot(scenario):
    """So the next edit still goes on from there."""
    seen = scenario("""
        loop = Loop()
        run = loop.run("out a", "wait", timeout=2)
        warm = loop.run("out a", "out b", timeout=20)
        loop.engine.close()
        report(run=run, warm=warm)
    """)
    assert seen["run"]["timed_out"]
    assert seen["warm"]["came"][0] == 1
    assert seen["warm"]["shown"] == "a\nb\n"


@pytest.mark.parametrize(("to", "resumed"), [("1", 1), ("none", None)])
def test_a_retreat_ends_the_run_and_goes_further_back(scenario, to, resumed):
    """It runs none of its own code any more, not even a handler."""
    seen = scenario(f"""
        loop = Loop()
        loop.run("polite", "out a", "out b", "out c")
        run = loop.run("polite", "out a", "out b", "retreat {to} a global was changed")
        retreated = loop.engine.retreated
        ids = [s.id for s in loop.engine.snapshots]
        after = loop.run("polite", "out a", "out b", "out d")
        report(run=run, retreated=retreated, ids=ids, after=after, now=loop.engine.retreated)
        loop.engine.close()
    """)
    assert seen["run"]["came"][0] == 3
    assert seen["run"]["stopped"]
    assert seen["run"]["code"] == -signal.SIGKILL
    assert seen["run"]["shown"] == "a\nb\n"
    assert seen["retreated"] == [resumed, "a global was changed"]
    assert seen["ids"] == ([0, 1] if resumed else [])
    assert seen["after"]["came"][0] == resumed
    assert seen["after"]["came"][3] == "a global was changed"
    assert seen["after"]["shown"] == "a\nb\nd\n"
    assert seen["now"] is None


def test_a_computing_program_is_told_to_look_at_the_clock(scenario):
    """In a cold and in a resumed run; one without a handler is not hurt."""
    seen = scenario("""
        loop = Loop()
        cold = loop.run("clock 3", "unhandled", "out a")
        warm = loop.run("clock 3", "clock 9")
        loop.engine.close()
        report(cold=cold, warm=warm)
    """)
    assert seen["cold"]["shown"] == "ticked\na\n"
    assert seen["cold"]["code"] == 0
    assert seen["warm"]["came"][0] == 1
    assert seen["warm"]["shown"] == "ticked\nticked\n"


def test_descriptors_aside_come_and_go_during_a_run(scenario):
    """One is added by another's callback, and each is called when it is its turn."""
    seen = scenario("""
        loop = Loop()
        aside = loop.engine.aside
        a, b = os.pipe(), os.pipe()
        calls = []
        def first():
            calls.append(os.read(a[0], 9).decode())
            aside.remove(a[0])
            aside.add(b[0], second)
            os.write(b[1], b"second")
        def second():
            calls.append(os.read(b[0], 9).decode())
            aside.remove(b[0])
            aside.later(0.03, third)
        def third():
            calls.append("third")
            aside.run.stop()
        aside.add(a[0], first)
        loop.on_output("waiting", lambda: os.write(a[1], b"first"))
        run = loop.run("wait")
        report(calls=calls, stopped=run["stopped"])
        loop.engine.close()
    """)
    assert seen["calls"] == ["first", "second", "third"]
    assert seen["stopped"]


def test_gate_and_used_files(scenario):
    """Kept until they are taken back, or a new program has others."""
    seen = scenario("""
        loop = Loop()
        engine = loop.engine
        loop.run("gate a thread", "used /a /b", "used /c")
        first = [engine.gate, sorted(engine.used)]
        loop.run("gate a thread", "gate", "cold", "used /d")
        second = [engine.gate, sorted(engine.used)]
        engine.begin_cold()
        report(first=first, second=second, third=sorted(engine.used))
        engine.close()
    """)
    assert seen["first"] == [["story:1", "a thread"], ["/a", "/b", "/c"]]
    assert seen["second"] == [None, ["/d"]]
    assert seen["third"] == ["/d"]


def test_a_failure_is_held_for_a_debugger(scenario):
    """It gets the terminal's descriptors and is waited for; the next run drops it."""
    seen = scenario("""
        loop = Loop()
        engine = loop.engine
        run = loop.run("out a", "fail")
        loop.until(lambda: engine.failure is not None)
        (ours, typed), (shown, theirs) = os.pipe(), os.pipe()
        os.write(typed, b"p x")
        pid = engine.failure.pid
        debugged = engine.failure.debug(ours, theirs, theirs)
        said = os.read(shown, 100).decode()
        after = engine.failure is None
        loop.run("out b", "fail")
        loop.until(lambda: engine.failure is not None)
        second = engine.failure.pid
        loop.run("out c")
        dropped = engine.failure is None
        engine.close()
        report(run=run, debugged=debugged, said=said, after=after, dropped=dropped,
               left=alive([pid, second]))
    """)
    assert seen["run"]["code"] == 1
    assert seen["run"]["survivors"] == 0
    assert seen["debugged"]
    assert seen["said"] == "debugged p x"
    assert seen["after"]
    assert seen["dropped"]
    assert seen["left"] == []


def test_nonsense_on_a_line_is_the_end_of_that_line(scenario):
    """It neither stops the engine nor costs a snapshot."""
    seen = scenario("""
        import select
        import socket
        def hung_up(line):
            return select.select([line], [], [], 0)[0] and not line.recv(1)
        loop = Loop()
        loop.run("out a", "out b")
        for data in (b"\\xff" * 10, b"\\0\\0\\0\\2xx", b"\\0\\0\\0\\2[]", b'\\0\\0\\0\\x11{"kind":"frozen"}'):
            line = socket.socket(socket.AF_UNIX)
            line.connect(loop.engine.folder + "/warm")
            line.sendall(data)
            line.shutdown(socket.SHUT_WR)
            loop.until(lambda: hung_up(line))
            line.close()
        warm = loop.run("out a", "out B")
        loop.engine.close()
        report(warm=warm)
    """)
    assert seen["warm"]["came"][0] == 1
