"""How many snapshots are kept, and which."""

import pytest


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
