"""Running strangers' reprs: whatever they do, and wherever the program stands."""

from __future__ import annotations

import subprocess

import pytest
from summaries import AGENT, LIMIT, MEMORY, assert_cheap, run, texts


@pytest.mark.xdist_group("summary_reprs")  # they share a run on each Python
class TestReprs:
    """Objects whose repr does what no repr should."""

    @pytest.fixture
    def answer(self, python, tmp_path_factory):
        # The same path for all tests of an interpreter, so that the victim runs once.
        return run(python, "summary_reprs", str(tmp_path_factory.getbasetemp() / "inherited"))

    @pytest.mark.parametrize(
        ("name", "instead"),
        [
            ("key_error", "its repr raised KeyError"),
            ("keyboard_interrupt", "its repr raised KeyboardInterrupt"),
            ("system_exit", "its repr raised SystemExit"),
            ("generator_exit", "its repr raised GeneratorExit"),
            ("base_exception", "its repr raised Stop"),
            ("recursion", "its repr raised RecursionError"),
            ("is_no_text", "its repr raised TypeError"),
            ("writes", "its repr raised OSError"),
            ("talks", "its repr raised OSError"),
            ("sleeps", "its repr took too long"),
            ("spins", "its repr took too long"),
            ("swallows", "its repr took too long"),
            ("holds_the_gil", "its repr took too long"),
            ("waits_for_a_lock", "its repr took too long"),
            ("starts_a_process", "its repr took too long"),
            ("is_large", "repr too large"),
            ("eats_memory", "repr too large"),
            ("exits", "its repr ended the process"),
            ("dies", "its repr ended the process"),
        ],
    )
    def test_misbehaves(self, answer, name, instead):
        """What the repr did is said in its place."""
        assert texts(answer)[name] == f"<{name} object: {instead}>"

    def test_behaves(self, answer):
        """A repr that works is used, though it printed, or made an odd kind of text."""
        told = texts(answer)
        assert told["good"] == "good"
        assert told["prints"] == "printed"
        assert told["is_odd_text"] == "odd"

    def test_no_effects(self, answer):
        """What a repr changes, writes or starts is not seen outside, and no child is left."""
        assert texts(answer)["counts"] == "counted"
        assert answer["count"] == 0
        assert (answer["written"], answer["sent"]) == ("", "")
        assert answer["left"] is None

    def test_others_go_on(self, answer):
        """An object that hangs, dies or grows doesn't take the turn of those after it."""
        assert answer["results"]["mixed"]["told"] == [
            "<sleeps object: its repr took too long>",
            "<swallows object: its repr took too long>",
            "good",
            "<holds_the_gil object: its repr took too long>",
            "<exits object: its repr ended the process>",
            "good",
            "<dies object: its repr ended the process>",
            "<is_large object: repr too large>",
        ]

    def test_hanging_class(self, answer):
        """A class that hung once is not asked again, so that the others come to speak."""
        first, *others, last = answer["results"]["hanging"]["told"]
        assert first == "<swallows object: its repr took too long>"
        assert set(others) == {"<swallows object>"}
        assert last == "good"

    def test_many(self, answer):
        """Of very many objects the first are asked, the others told by their attributes."""
        told = answer["results"]["many"]["told"]
        assert told[:64] == ["good"] * 64
        assert set(told[64:]) == {"<good object>"}

    def test_inside(self, answer):
        """Objects inside a container are asked, too."""
        assert texts(answer)["inside"].endswith("…, good]}")

    def test_cheap(self, answer):
        """Whatever a repr does, a call is short, and the child stays small."""
        assert_cheap(answer)
        assert max(one["child_grown"] for one in answer["results"].values()) < 2 * MEMORY


class TestCircumstances:
    """Programs in which running a repr is not simple."""

    @pytest.mark.parametrize(
        "name",
        [
            "plain",
            "other_child",
            "signals_kept",
            "in_a_thread",
            "forks_warned_of",
            "no_standard_streams",
            "traced",
        ],
    )
    def test_works(self, python, name):
        """The repr is run, and the program's own children and signals are left as they were."""
        result = run(python, "summary_circumstances", name)["results"]["value"]
        assert result["told"] == ["told"]
        assert result.get("status", 7) == 7
        assert result.get("kept", [True]) == [True] * len(result.get("kept", [True]))

    def test_nothing_to_wait_for(self, python):
        """A child that was taken off the process table by others is no reason to stop."""
        result = run(python, "summary_circumstances", "children_ignored")["results"]["value"]
        assert result["told"] == ["<Exits object: its repr ended the process>", "told"]

    def test_a_program_that_hears_of_its_children(self, python):
        """Its handler is not called for one of ours: no repr is run."""
        result = run(python, "summary_circumstances", "children_reaped")["results"]["value"]
        assert result["told"] == ["<Exits object>", "Told(a=1)"]

    def test_what_runs_at_forks(self, python):
        """Nothing of the program's does at ours, whoever's code it is; all of it at its own.

        What we count has a child's own file, so ours runs.
        """
        program = f"""
import concurrent.futures.thread, gc, logging, os, queue, random, sys, threading
package = type(sys)("_zeroin_agent")
package.__path__ = [{str(AGENT)!r}]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent import summary
class Told:
    def __repr__(self):
        with logging._lock, concurrent.futures.thread._global_shutdown_lock:
            return f"told {{len(ran)}} {{len(own)}}"
own, ran, lock, other = [], [], threading.Lock(), threading.Event()
def note(): ran.append(os.getpid())
def later(): ran.append("later")
def ours(): own.append(1)
ours.__module__ = "_zeroin_agent.tally"
os.register_at_fork(after_in_child=ours)
os.register_at_fork(before=note, after_in_parent=note, after_in_child=note)
os.register_at_fork(before=lock.acquire, after_in_parent=lock.release)
os.register_at_fork(after_in_child=other.set, before=other.clear, after_in_parent=random.seed)
random.seed(3); state = random.getstate(); other.set()
thread = threading.Thread(target=queue.Queue().get, daemon=True); thread.start()
with lock:
    print(summary.summarise(Told()), len(ran), other.is_set(), random.getstate() == state)
os.register_at_fork(before=later)
print(summary.summarise(Told()), len(ran))
if not os.fork():
    os._exit(len(ran))
print(os.waitstatus_to_exitcode(os.wait()[1]), len(ran), other.is_set(), ran[0])
gc.freeze()
print(summary.summarise(Told()))
"""
        command = [python, "-W", "ignore", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.stderr == ""
        assert done.stdout.splitlines() == [
            "told 0 1 0 True True",
            "told 0 1 0",
            "3 3 False later",
            "told 3 1",
        ]

    def test_where_what_runs_at_forks_is_not_found(self, python):
        """As after `gc.freeze()`: no repr is run, and nothing else is."""
        program = f"""
import gc, os, sys
ran = []
os.register_at_fork(before=lambda: ran.append(1))
gc.freeze()
package = type(sys)("_zeroin_agent")
package.__path__ = [{str(AGENT)!r}]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent import summary
class Told:
    def __init__(self): self.a = 1
    def __repr__(self): return "told"
print(summary.summarise(Told()), ran)
"""
        command = [python, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (done.stdout, done.stderr) == ("Told(a=1) []\n", "")

    @pytest.mark.parametrize("name", ["no_fork", "fork_fails", "huge", "no_descriptors"])
    def test_without_a_child(self, python, name):
        """Where no child can be had, the object is told by its attributes."""
        assert texts(run(python, "summary_circumstances", name)) == {"value": "Told(a=1)"}

    @pytest.mark.parametrize("name", ["alarm_blocked", "frozen_clock"])
    def test_time_passes(self, python, name):
        """A hanging repr ends though signals are blocked, or the clock stands still."""
        result = run(python, "summary_circumstances", name)["results"]["value"]
        assert result["told"] == ["<Sleeps object: its repr took too long>", "told"]
        assert result["seconds"] < LIMIT
        assert result.get("forks", 1) == 1  # the child has interrupted itself

    def test_at_exit(self, python):
        """While Python shuts down a child may be refused; then attributes have to do."""
        told = texts(run(python, "summary_circumstances", "at_exit"))
        assert told["value"] in ("told", "Told(a=1)")

    def test_at_the_end_of_the_stack(self, python):
        """Deep in a recursion, a value that can't be looked at is told by its type."""
        told = texts(run(python, "summary_circumstances", "deep"))
        assert told["value"] in ("<list object>", "[<Told object>]", "[told]")

    def test_interrupted(self, python):
        """The user's own Ctrl-C is obeyed while a repr hangs, and the child is gone."""
        told = texts(run(python, "summary_circumstances", "interrupted"))
        assert told == {"value": "interrupted"}

    def test_names_of_the_users_files(self, python, tmp_path):
        """Files of the user's that are called like modules of Python are not imported."""
        names = "dataclasses enum inspect re resource select signal struct types typing"
        for name in names.split():
            (tmp_path / f"{name}.py").write_text("raise SystemExit('imported ' + __name__)")
        program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
package = type(sys)("_zeroin_agent")
package.__path__ = [{str(AGENT)!r}]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent import summary
class Told:
    def __repr__(self):
        return "told"
print(summary.summarise([Told(), 1, {{"a": 2}}]))
"""
        command = [python, "-I", "-S", "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("[told, 1, {'a': 2}]\n", "")

    def test_imports_little(self, python):
        """Importing the summariser costs no more than a few modules written in C."""
        program = f"""
import os, sys
before = set(sys.modules)
package = type(sys)("_zeroin_agent")
package.__path__ = [{str(AGENT)!r}]
sys.modules["_zeroin_agent"] = package
import _zeroin_agent.summary
print(*[name for name in set(sys.modules) - before if not name.startswith("_zeroin_agent")])
"""
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=True)
        allowed = {"__future__", "faulthandler", "gc", "itertools", "resource", "select", "time"}
        assert set(done.stdout.split()) <= allowed
