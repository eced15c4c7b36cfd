"""What was printed before a snapshot is shown again."""

import signal

from zeroin.run.warm.spool import Spool


def test_much_output_is_replayed_whole(scenario):
    """More than stays in memory, more than a pipe holds."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "much 5000000", "out b", "out c")
        warm = loop.run("out a", "much 5000000", "out b", "out C")
        loop.engine.close()
        shown = warm.pop("shown")
        report(came=warm["came"], same=shown == "a\\n" + "x" * 5000000 + "b\\nC\\n")
    """)
    assert seen["came"][0] == 3
    assert seen["same"]


def test_too_much_output_refuses_snapshots(scenario):
    """From there on; those before stay good. The command itself sees nothing of it."""
    seen = scenario("""
        loop = Loop()
        first = loop.run("out a", "much 70000000", "out b")
        warm = loop.run("out A", "out b")
        loop.engine.close()
        end = first.pop("shown")[-60:]
        report(ids=first["ids"], end=end, warm=warm)
    """)
    assert seen["ids"] == [0, 1]
    assert seen["end"].endswith("xrefused: more than 64 MB of output\nb\n")
    assert seen["warm"]["came"][0] == 0
    assert seen["warm"]["shown"] == "A\nb\n"


def test_a_slow_reader_gets_all_of_a_replay(scenario):
    """The replay waits for it, and the program's own output still comes after."""
    seen = scenario("""
        import threading
        loop = Loop()
        loop.run("much 3000000", "out a")
        source, target = os.pipe()
        got = []
        def read():
            while data := os.read(source, 4096):
                got.append(data)
        reader = threading.Thread(target=read)
        reader.start()
        warm = loop.run("much 3000000", "out b", targets=(target, target))
        loop.engine.close()
        os.close(target)
        reader.join()
        report(came=warm["came"], same=b"".join(got) == b"x" * 3000000 + b"b\\n")
    """)
    assert seen["came"][0] == 1
    assert seen["same"]


def test_an_interrupt_ends_a_replay_that_nobody_reads(scenario):
    """Ctrl-C reaches the program, and we do not wait for the reader."""
    seen = scenario("""
        import threading
        loop = Loop()
        loop.run("much 3000000", "out a")
        source, target = os.pipe()
        def press():
            os.read(source, 1)  # the replay has begun
            os.kill(os.getpid(), signal.SIGINT)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        threading.Thread(target=press).start()
        warm = loop.run("much 3000000", "wait", targets=(target, target))
        loop.engine.close()
        kept = sum(len(piece[1]) for piece in warm["kept"])
        report(interrupted=warm["interrupted"], code=warm["code"], kept=kept)
    """)
    assert seen["interrupted"]
    assert seen["code"] in {1, -signal.SIGINT}
    assert seen["kept"] >= 3000000


def test_background_processes_do_not_hold_the_lines(scenario):
    """What goes on passing output on for them is a copy of us: the snapshots still end with us."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b")
        keeper = Keeper("kept")
        inbox = Inbox()
        ended = Run(keeper, inbox, None).execute(
            ["sh", "-c", "sleep 600 & echo $!"], ".", os.environ,
            Stage((2, 2), loop.engine.aside))
        inbox.close()
        pids = [s.pid for s in loop.engine.snapshots]
        sleeper = int(keeper.recent("out"))
        copies = [p for p in children() if p not in pids and p not in loop.engine.aside.keep
                  and p != sleeper]
        loop.engine.table.remove_after(-1)
        loop.until(lambda: not alive(pids))
        was = alive(copies)
        kill(sleeper)
        loop.until(lambda: not alive(copies))
        loop.engine.close()
        report(survivors=ended.survivors, copies=len(was), left=children())
    """)
    assert seen["survivors"] == 1
    assert seen["copies"] == 1
    assert seen["left"] == []


def test_a_spool_cut_anywhere_gives_that_much_back(tmp_path):
    """In memory or on disk, across streams, and it goes on from there."""
    pieces = [("out" if i % 3 else "err", bytes([97 + i % 26]) * (i * 7 % 40)) for i in range(60)]
    whole = [(stream, byte) for stream, data in pieces for byte in data]
    for in_memory in (1 << 20, 100):
        for size in (0, 1, 99, 100, 101, 500, len(whole)):
            spool = Spool(in_memory=in_memory)
            for stream, data in pieces:
                assert spool.add(stream, data)
            spool.cut(size)
            assert spool.size == size
            assert spool.add("tty", b"on")
            found = [(stream, byte) for stream, data in spool.pieces() for byte in data]
            assert found == [*whole[:size], ("tty", 111), ("tty", 110)]
            spool.close()
