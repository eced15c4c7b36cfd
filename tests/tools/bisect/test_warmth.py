"""When tries of a search go on from snapshots."""

import math
import os
import sys

import pytest

from repositories import BAD, GOOD
from zeroin.cycle import Cycle
from zeroin.run.apart import View
from zeroin.tools.bisect.viewed import Viewed
from zeroin.tools.bisect.warmth import BOUND, BRIEF, FEW, Pace, Warmth

LONG = 10 * BRIEF
PLAIN = Pace(LONG, LONG)
QUICKER = Pace(LONG / 10, LONG / 10, warm=True, resumed=True)
AS_SLOW = Pace(LONG, LONG, warm=True)
ENDED = Pace(LONG, LONG, warm=True, ended=True)


class Finder:
    """What decides in a search of which so many tries are left."""

    def __init__(self, *paces, left=10.0, **how):
        self._warmth = Warmth(**{"wanted": True, **how})
        self._left = left
        self.learn(*paces)

    def learn(self, *paces):
        for pace in paces:
            self._warmth.learn(pace)

    def bound(self, slot):
        return self._warmth.bound(slot, lambda: self._left)

    @property
    def pays(self):
        return self._warmth.pays


@pytest.fixture
def warmth():
    """After one whole run that took long."""
    return Finder(PLAIN)


def test_nothing_is_known_before_the_first():
    """The first try runs plainly."""
    assert Finder().bound(0) is None


@pytest.mark.parametrize(
    ("wanted", "plain", "left"),
    [
        (False, PLAIN, 10.0),
        (True, Pace(BRIEF / 2, BRIEF / 2), 10.0),
        (True, Pace(4 * BRIEF, 0.8 * BRIEF), 10.0),
        (True, PLAIN, FEW),
    ],
    ids=["cold", "brief", "brief on a busy machine", "soon over"],
)
def test_what_can_gain_nothing_runs_plainly(wanted, plain, left):
    """What is over at once leaves no snapshot, nor does the end of a search, nor a cold one."""
    finder = Finder(plain, plain, wanted=wanted, left=left)
    assert finder.bound(0) is None


def test_a_program_that_waits():
    """What it waits for can be saved, though it hardly uses a processor."""
    finder = Finder(Pace(LONG, 0.01))
    assert finder.bound(0) == BOUND * LONG
    finder.learn(Pace(LONG / 10, 0.02, warm=True, resumed=True))
    assert finder.pays


def test_one_worker_finds_out_for_all(warmth):
    """Only one has the cost of the first snapshot, within a bound; if it pays, all follow."""
    assert warmth.bound(1) == BOUND * LONG
    assert warmth.bound(0) is None
    warmth.learn(AS_SLOW)
    assert warmth.bound(1) == BOUND * LONG
    warmth.learn(QUICKER)
    assert warmth.pays
    assert warmth.bound(0) == warmth.bound(1) == BOUND * LONG


@pytest.mark.parametrize("before", [[], [AS_SLOW, QUICKER]], ids=["at first", "later"])
@pytest.mark.parametrize("seen", [[ENDED], [AS_SLOW] * 3], ids=["ended", "as slow"])
def test_what_does_not_pay_is_left(warmth, before, seen):
    """One that is over its bound is enough; those that are as slow have some chances."""
    warmth.bound(0)
    warmth.learn(*before)
    for pace in seen:
        assert warmth.bound(0) is not None
        warmth.learn(pace)
    assert warmth.bound(0) is None
    assert not warmth.pays


def test_a_moment_at_which_the_machine_was_idle(warmth):
    """A resumed try that was quicker on the clock alone, and used as much, does not pay."""
    warmth.bound(0)
    warmth.learn(AS_SLOW, Pace(LONG / 10, LONG, warm=True, resumed=True))
    assert not warmth.pays


def test_demanded():
    """With --warm the first one leaves a snapshot already."""
    assert Finder(demanded=True).bound(0) == math.inf


def test_a_warm_try_over_its_bound_is_made_plainly(tmp_path):
    """What a try took too long for counts for nothing: the whole run tells."""
    project, scratch = (tmp_path / name for name in ("project", "scratch"))
    project.mkdir()
    scratch.mkdir()
    (project / "prog.py").write_text(
        "import sys, time\nif '_zeroin_agent.warm.start' in sys.modules: time.sleep(600)\nexit(7)\n"
    )
    viewed = Viewed()
    try:
        cycle = Cycle((sys.executable, "prog.py"), str(project), timeout=60)
        view = View(str(project), str(scratch))
        outcome = viewed.run(cycle, os.environ, view, bound=2.0).outcome
    finally:
        viewed.close()
    assert (outcome.exit_code, viewed.pace.ended) == (7, True)


def test_brief_tries_are_whole_runs(bisect, repository):
    """Of a program that is over at once no snapshot is taken: each try runs all of it."""
    shas = repository.commits(*[f"{GOOD if n < 20 else BAD}# {n}\n" for n in range(30)])
    starts = repository.folder.parent / "starts"
    repository.write(
        "repro.py",
        f"open({str(starts)!r}, 'a').write('x')\nfrom pkg.core import add\nassert add(1) == 2\n",
    )
    done = bisect(
        "commits", "HEAD~29", "-j", "1", "--", "python", "repro.py", cwd=repository.folder
    )
    assert done.told["first_bad"] == shas[20]
    assert len(starts.read_text()) == done.told["tries"]
