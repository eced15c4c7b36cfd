"""The engine resumes snapshots of real processes."""


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
        loop.engine.note_faults(20_000)
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


def test_on_a_terminal_the_cut_is_exact_too(terminal, scenario, env, tmp_path):
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
    shown = terminal(scenario.words(source), cwd=tmp_path, env=env)
    shown.expect("the end")
    runs = shown.text.replace("\r", "").split("========\n")
    assert len(runs) == 7
    for number, run in enumerate(runs):
        want = [f"line{i}" + "!" * (i >= 12 - number) for i in range(12)]
        assert run.splitlines()[:12] == want, number
