"""The engine's side of snapshots: with real processes, and a stand-in for the agent."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import textwrap

import pytest

import support
from zeroin.run.warm.spool import Spool

PRELUDE = "from warm_driver import *\n"


@pytest.fixture
def env(tmp_path):
    """Of a driver: it finds the stand-in, and has a place for its sockets of its own."""
    python_path = os.pathsep.join([str(support.SRC), str(support.ROOT / "tests" / "programs")])
    with tempfile.TemporaryDirectory(prefix="z") as short:  # a socket's path must be
        yield {**os.environ, "PYTHONPATH": python_path, "XDG_RUNTIME_DIR": short}


@pytest.fixture
def scenario(tmp_path, env):
    """Run some lines in a driver process of their own; what they report."""

    def start(source, **options):
        command = [sys.executable, "-c", PRELUDE + textwrap.dedent(source)]
        return subprocess.Popen(
            command, cwd=tmp_path, env=env, text=True, stdout=subprocess.PIPE, **options
        )

    def run(source):
        with start(source, stderr=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    run.start = start
    return run


# --- resuming ---------------------------------------------------------------------------------


def test_the_first_run_is_cold_and_leaves_snapshots(scenario):
    """One before each statement, and the program behaves as alone."""
    seen = scenario("""
        loop = Loop()
        with loop.engine as engine:
            first = loop.run("out a", "err b", "exit 3")
            pids = [s.pid for s in engine.snapshots]
            was = alive(pids)
            places = [s.at for s in engine.snapshots]
        report(first=first, all_alive=was == pids, places=places, after=alive(pids))
    """)
    first = seen["first"]
    assert first["shown"] == "a\nb\n"
    assert first["code"] == 3
    assert first["came"] == [None, "", 0.0, "there is no snapshot"]
    assert first["ids"] == [0, 1, 2]
    assert seen["places"] == ["story:1", "story:2", "story:3"]
    assert seen["all_alive"]
    assert seen["after"] == []
    assert first["survivors"] == 0


def test_goes_on_from_the_newest_valid_one(scenario):
    """An edit behind it: only the tail runs, and the output is that of a cold run."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "seconds 7", "err b", "out c")
        warm = loop.run("out a", "seconds 7", "err b", "out C", "exit 5")
        again = loop.run()
        loop.engine.close()
        report(warm=warm, again=again)
    """)
    warm = seen["warm"]
    assert warm["came"] == [3, "story:4", 7.0, ""]
    assert warm["shown"] == "a\nb\nC\n"
    assert warm["kept"] == [["out", "a\n"], ["err", "b\n"], ["out", "C\n"]]
    assert warm["code"] == 5
    assert warm["ids"] == [0, 1, 2, 3, 4]
    assert seen["again"]["came"][0] == 4
    assert seen["again"]["shown"] == "a\nb\nC\n"


def test_what_is_saved_after_a_look_counts(scenario):
    """A spare that has looked at an edit is not gone on with when there is another by then."""
    seen = scenario("""
        text = "import time\\ntime.sleep(0.2)\\nprint('edit', {})\\n"

        def save(number):
            Path("main.py").write_text(text.format(number))

        loop = Loop()
        loop.use_real_agent("main.py")
        save(1)
        first = loop.run()
        spare = loop.spare(loop.engine.snapshots[-1].id)
        save(2)
        loop.engine.look()
        wait_for_rest(spare.pid)
        save(3)
        other = loop.run()
        spare = loop.spare(loop.engine.snapshots[-1].id)
        save(4)
        loop.engine.look()
        wait_for_rest(spare.pid)
        same = loop.run()
        loop.engine.close()
        report(first=first, other=other, same=same)
    """)
    assert seen["first"]["shown"] == "edit 1\n"
    assert seen["other"]["shown"] == "edit 3\n"
    assert seen["same"]["shown"] == "edit 4\n"
    assert None not in [seen["other"]["came"][0], seen["same"]["came"][0]]


def test_a_spare_has_memory_of_its_own_where_runs_copy_much(scenario):
    """Ahead of the run, and only there."""
    seen = scenario("""
        text = "import time\\nall = [float(n) for n in range(2_000_000)]\\ntime.sleep(0.2)\\nprint({})\\n"

        def own(number):
            Path("main.py").write_text(text.format(number))
            loop.run()
            spare = loop.spare(loop.engine.snapshots[-1].id)
            wait_for_rest(spare.pid)
            with open(f"/proc/{spare.pid}/smaps_rollup") as file:
                rows = dict(line.split(":") for line in file if line.count(":") == 1)
            return int(rows["Private_Dirty"].split()[0]) * 1024

        loop = Loop()
        loop.use_real_agent("main.py")
        few = [own(1), own(2)]
        loop.engine.faults = 20_000
        many = own(3)
        loop.engine.close()
        report(few=few, many=many)
    """)
    assert max(seen["few"]) < 32_000_000
    assert seen["many"] > 48_000_000


def test_back_to_an_older_one(scenario):
    """The newest says how far; what is newer than that is dropped, and its output forgotten."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b", "out c", "out d", "out e")
        old = {s.id: s.pid for s in loop.engine.snapshots}
        back = loop.run("out a", "out B", "out c", "out d", "exit 4")
        new = {s.id: s.pid for s in loop.engine.snapshots}
        loop.engine.close()
        report(back=back, kept=[i for i in old if new.get(i) == old[i]],
               left=alive(old.values()))
    """)
    back = seen["back"]
    assert back["came"] == [1, "story:2", 0.0, "line 2 was changed and had run"]
    assert back["shown"] == "a\nB\nc\nd\n"
    assert back["code"] == 4
    assert seen["kept"] == [0, 1]
    assert back["ids"] == [0, 1, 2, 3, 4]
    assert seen["left"] == []


def test_what_a_shorter_program_never_reaches_is_gone(scenario):
    """A snapshot of the program as it was before the edit is not one of the new program."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b", "out c", "out d")
        short = loop.run("out a", "out B")
        long = loop.run("out a", "out B", "out c", "out d")
        loop.engine.close()
        report(short=short, long=long)
    """)
    assert seen["short"]["ids"] == [0, 1]
    assert seen["long"]["came"][0] == 1
    assert seen["long"]["shown"] == "a\nB\nc\nd\n"


def test_cold_when_none_is_valid(scenario):
    """All old ones are gone before the new program starts, and nothing is shown twice."""
    seen = scenario("""
        loop = Loop()
        loop.run("out a", "out b")
        old = [s.pid for s in loop.engine.snapshots]
        cold = loop.run("out x", "cold")
        new = [s.pid for s in loop.engine.snapshots]
        loop.engine.close()
        report(cold=cold, both=[p for p in old if p in new])
    """)
    assert seen["cold"]["came"] == [None, "", 0.0, "line 1 was changed and had run"]
    assert seen["cold"]["shown"] == "x\n"
    assert seen["both"] == []


def test_the_program_is_our_child_in_our_group(scenario):
    """Resumed as well as cold: so Ctrl-C, job control and wait work."""
    seen = scenario("""
        loop = Loop()
        cold = loop.run("whose", "out a")
        warm = loop.run("whose", "whose")
        loop.engine.close()
        report(cold=cold, warm=warm, ours=f"{os.getpid()} {os.getpgrp()}")
    """)
    assert seen["cold"]["shown"].splitlines()[0] == seen["ours"]
    assert seen["warm"]["came"][0] == 1
    assert seen["warm"]["shown"].splitlines() == [seen["ours"]] * 2


def test_the_cut_is_exact(scenario):
    """What stood in the pipes when a snapshot was asked for comes back, neither more nor less."""
    seen = scenario("""
        loop = Loop()
        body = [f"{'out' if i % 3 else 'err'} {i}" for i in range(23)]
        first = loop.run(*body, "out end")
        same = []
        for i in range(22, 0, -1):
            body[i] += "!"
            warm = loop.run(*body, "out end")
            want = "".join(line.split()[1] + "\\n" for line in [*body, "out end"])
            same.append(warm["came"][0] == i and warm["shown"] == want)
        loop.engine.close()
        report(same=same)
    """)
    assert seen["same"] == [True] * 22


def test_on_a_terminal_the_cut_is_exact_too(terminal, env, tmp_path):
    """A pseudo-terminal hands output on a moment after it was written."""
    source = """
        loop = Loop()
        body = [f"out line{i}" for i in range(12)]
        loop.run(*body, targets=(1, 2))
        for i in range(11, 5, -1):
            body[i] += "!"
            print("=" * 8, flush=True)
            loop.run(*body, targets=(1, 2))
        loop.engine.close()
        print("the end", flush=True)
    """
    shown = terminal(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(source)], cwd=tmp_path, env=env
    )
    shown.expect("the end")
    runs = shown.text.replace("\r", "").split("========\n")
    assert len(runs) == 7
    for number, run in enumerate(runs):
        want = [f"line{i}" + "!" * (i >= 12 - number) for i in range(12)]
        assert run.splitlines()[:12] == want, number


# --- spares -----------------------------------------------------------------------------------


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


# --- what is lost -----------------------------------------------------------------------------


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


# --- budget -----------------------------------------------------------------------------------


def test_thinning_by_number_keeps_the_ends_and_the_wide_gaps(scenario):
    """The one that loses the fewest seconds goes first; never the newest or the oldest."""
    seen = scenario("""
        loop = Loop(most=4)
        run = loop.run("seconds 5", "seconds 0.1", "seconds 9", "seconds 0.2", "seconds 7", "out a")
        warm = loop.run("seconds 5", "seconds 0.1", "seconds 9", "seconds 0.2", "seconds 8", "out a")
        loop.engine.close()
        report(run=run, warm=warm)
    """)
    assert seen["run"]["ids"] == [0, 1, 3, 5]
    assert seen["warm"]["came"][0] == 3
    assert seen["warm"]["came"][2] == pytest.approx(14.1)


def test_thinning_by_memory(scenario):
    """Each snapshot holds what the program wrote over since; most of them must go."""
    seen = scenario("""
        story = ["memory 20", *["seconds 1", "rewrite"] * 6, "out a"]
        plain = Loop(budget_bytes=1 << 40)
        without = plain.run(*story)
        held = plain.engine.held_bytes()
        plain.engine.close()
        loop = Loop(budget_bytes=70 << 20)
        loop.run(*story)
        loop.until(lambda: loop.engine.held_bytes() < 70 << 20)
        ids = [s.id for s in loop.engine.snapshots]
        warm = loop.run(*story[:-1], "out b")
        loop.engine.close()
        report(without=without["ids"], held=held, ids=ids, warm=warm)
    """)
    assert len(seen["without"]) == 14
    assert seen["held"] > 100 << 20
    assert {0, 13} <= set(seen["ids"])
    assert 2 < len(seen["ids"]) < 10
    assert seen["warm"]["shown"] == "b\n"


def test_an_idle_snapshot_costs_little(scenario):
    """What it shares with the program or with others is not counted twice."""
    seen = scenario("""
        loop = Loop(budget_bytes=1 << 40)
        run = loop.run("memory 100", "out a", "out b", "out c", "out d")
        loop.spare(4)
        costs = [s.memory.own for s in loop.engine.snapshots if loop.engine.held_bytes()]
        held = loop.engine.held_bytes()
        loop.engine.close()
        report(costs=costs, held=held, peak=run["peak"])
    """)
    assert max(seen["costs"]) < 8 << 20
    assert 100 << 20 < seen["held"] < 150 << 20
    assert seen["peak"] < 150 << 20  # snapshots are not the program's memory


# --- output -----------------------------------------------------------------------------------


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
        ended = Run(keeper, None, None).execute(
            ["sh", "-c", "sleep 600 & echo $!"], ".", os.environ, targets=(2, 2),
            aside=loop.engine.aside)
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


# --- during a run -----------------------------------------------------------------------------


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
        run = loop.run("out a", "wait", timeout=3)
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


# --- what else agents tell --------------------------------------------------------------------


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
