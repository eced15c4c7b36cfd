"""Spares that wait for the next edit, and snapshots that are lost."""

import json
import os
import select

import pytest


def test_a_spare_is_used(scenario):
    """Forked after the run, at the newest; it becomes the program, and a new one comes."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b")
        spare = loop.spare(1).pid
        warm = loop.run("out a", "whose", "exit 0")
        loop.spare(2)
        used = spare not in alive(children())
        loop.engine.close()
        report(used=used, warm=warm, left=children())
    """)
    assert seen["used"]
    assert seen["warm"]["came"][0] == 1
    assert seen["left"] == []


def test_the_spare_itself_becomes_the_program(scenario):
    """No second fork is waited for: the resumed program has the spare's pid."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b")
        spare = loop.spare(1).pid
        loop.on_output("waiting", lambda: (pids.append(loop.engine.aside.run.pid),
                                           loop.engine.aside.run.stop()))
        pids = []
        loop.run("out a", "wait")
        loop.engine.close()
        report(same=pids == [spare])
    """)
    assert seen["same"]


def test_a_dead_spare_is_replaced(scenario):
    """Also when nobody had noticed its death."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b")
        first = loop.spare(1).pid
        kill(first)
        loop.until(lambda: loop.spare(1).pid != first)
        kill(loop.spare(1).pid)
        warm = loop.run("out a", "out B")
        loop.engine.close()
        report(warm=warm)
    """)
    assert seen["warm"]["came"][0] == 1
    assert seen["warm"]["shown"] == "a\nB\n"


def test_a_spare_waits_where_the_edit_is_expected(scenario):
    """`prefer` keeps one there and one at the newest, which says how far back to go."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b", "out c", "out d")
        loop.engine.prefer(1)
        loop.spare(3)
        preferred = loop.spare(1).pid
        pids = []
        loop.on_output("waiting", lambda: (pids.append(loop.engine.aside.run.pid),
                                           loop.engine.aside.run.stop()))
        loop.run("out a", "wait")
        loop.engine.close()
        report(same=pids == [preferred])
    """)
    assert seen["same"]


def test_a_killed_snapshot_gives_way_to_an_older_one(scenario):
    """Whether its death was noticed or not; with all of them dead, the run is cold."""
    seen = scenario("""
        loop = Loop()
        story = ["out a", "out b", "out c", "out d"]
        loop.run(*story)
        spare = loop.spare(3).pid
        kill(loop.engine.table.get(3).pid)
        kill(spare)
        warm = loop.run(*story[:3], "out D")
        spare = loop.spare(3).pid
        for pid in [*(s.pid for s in loop.engine.snapshots), spare]:
            kill(pid)
        cold = loop.run(*story[:3], "out E")
        loop.engine.close()
        report(warm=warm, cold=cold)
    """)
    assert seen["warm"]["came"] == [2, "story:3", 0.0, ""]
    assert seen["warm"]["shown"] == "a\nb\nc\nD\n"
    assert seen["cold"]["came"][0] is None
    assert seen["cold"]["shown"] == "a\nb\nc\nE\n"


@pytest.mark.parametrize("fault", ["stuck", "mute"])
def test_snapshots_that_do_not_answer_are_given_up(scenario, fault):
    """Those that never fork, and those whose fork says nothing: the run is cold, in time."""
    seen = scenario(f"""
        from zeroin.run.warm import engine as module
        module.FORK_LIMIT = module.JUDGE_LIMIT = 0.2
        loop = Loop()
        Path("{fault}").touch()
        loop.run("out a", "out b")
        old = [s.pid for s in loop.engine.snapshots]
        cold = loop.run("out a", "out B")
        report(cold=cold, left=alive(old))
        loop.engine.close()
    """)
    assert seen["cold"]["came"][0] is None
    assert "is gone" in seen["cold"]["came"][3]
    assert seen["cold"]["shown"] == "a\nB\n"
    assert seen["left"] == []


def test_nothing_survives_a_killed_driver(scenario, env):
    """By kill -9: the lines end, so the snapshots, the spare and the holder do; the folder is swept."""
    process = scenario.start("""
        loop = Loop()
        loop.run("out a", "out b", "fail")
        loop.until(lambda: loop.engine.failure is not None)
        spare = loop.spare(2).pid
        print(json.dumps([spare, loop.engine.failure.pid, *(s.pid for s in loop.engine.snapshots)]),
              flush=True)
        signal.pause()
    """)
    with process:
        pids = json.loads(process.stdout.readline())
        fds = [os.pidfd_open(pid) for pid in pids]
        process.kill()
    assert len(pids) == 5
    for fd in fds:
        assert _ends(fd)
        os.close(fd)
    assert os.listdir(env["XDG_RUNTIME_DIR"])
    scenario("""
        Loop().engine.close()
        report()
    """)
    assert not os.listdir(env["XDG_RUNTIME_DIR"])


def _ends(pidfd):
    return select.select([pidfd], [], [], 20)[0]


def test_a_spare_that_has_not_called_yet_is_waited_for(scenario):
    """What a snapshot is about to fork when the engine is closed is gone with it."""
    seen = scenario("""
        left = []
        for _ in range(5):
            loop = Loop()
            loop.run("out a", "out b")  # at its end spares are asked for
            loop.engine.close()
            left += children()
        report(left=left)
    """)
    assert seen["left"] == []


def test_nothing_is_left_after_many_resumes(scenario):
    """Neither processes, nor zombies, nor descriptors; also with stops and cold runs between."""
    seen = scenario("""
        loop = Loop(most=5)
        counts = []
        _, shown = os.pipe()
        for number in range(56):
            story = ["out a", f"out {number // 7}", f"out {number}"]
            if number % 9 == 8:
                story.append("wait")
                loop.on_output("waiting", lambda: loop.engine.aside.run.stop())
            loop.run(*story, targets=(shown, shown))
            loop.spare(loop.engine.snapshots[-1].id)
            ours = len(loop.engine.snapshots) + 1
            loop.until(lambda: (loop.engine._leaving.tidy(), len(children()))[1] == ours)
            if not counts:
                loop.until(lambda: not loop.engine.aside.serve(0.2))
                base = descriptors() - ours
            loop.until(lambda: descriptors() - ours == base)
            counts.append(ours)
        loop.engine.close()
        report(counts=counts, left=children(), keep=list(loop.engine.aside.keep))
    """)
    assert len(seen["counts"]) == 56
    assert seen["left"] == []
    assert seen["keep"] == []
