"""From what was seen of an ending to what failed."""

from zeroin.cycle import Kind, Strength
from zeroin.cycle.crash import Crash, Frame, Link
from zeroin.cycle.explain import Ending, explain


def crash(type_="KeyError", message="'x'", where="f", pid=10, **more):
    frames = (Frame("/p/main.py", 9, "<module>"), Frame("/p/main.py", 3, where))
    return Crash((Link(type_, message, frames),), pid=pid, **more)


def sig(ending):
    found = explain(ending).signature
    assert found is not None
    return found


def test_a_pass_has_no_signature():
    """Exit code 0 is a pass, whatever a worker thread did."""
    found = explain(Ending(0, crashes=[crash(fatal=False)]))
    assert (found.kind, found.signature) == (Kind.PASSED, None)


def test_exception_names_type_function_and_message():
    """The one line has all that tells failures apart, and no line numbers."""
    found = explain(Ending(1, pid=10, crashes=[crash()]))
    assert str(found.signature) == "KeyError at f(): 'x'"
    assert found.headline == "KeyError at main.py f(): 'x'"
    assert found.kind is Kind.FAILED


def test_child_failure_is_explained_by_the_child():
    """`CalledProcessError` only says that a child failed: the child says what."""
    parent = crash("CalledProcessError", "exit status 1", "main", time=2.0)
    one = Ending(1, pid=10, crashes=[parent, crash(pid=11, time=1.0)])
    other = Ending(1, pid=10, crashes=[parent, crash(message="'y'", pid=12, time=1.0)])
    assert str(sig(one)) == "KeyError at f(): 'x' → CalledProcessError"
    assert not sig(one).same(sig(other))


def test_own_exception_goes_before_a_childs():
    """A child that failed and was handled is not why the command failed."""
    own = crash("ValueError", "bad", "main", time=2.0)
    assert str(sig(Ending(1, pid=10, crashes=[crash(pid=11, time=1.0), own]))).startswith(
        "ValueError"
    )


def test_a_script_that_decides_itself_is_not_said_to_have_failed_of_its_child():
    """Its own exit code is told first; the signature is the child's, which tells most."""
    found = explain(Ending(3, pid=9, crashes=[crash(pid=11)]))
    assert found.headline == "exit 3, after a child failed: KeyError at main.py f(): 'x'"
    assert str(found.signature) == "KeyError at f(): 'x'"
    for passed_on in (
        Ending(1, pid=9, crashes=[crash(pid=11)]),
        Ending(3, pid=11, crashes=[crash(pid=11)]),
    ):
        assert explain(passed_on).headline == "KeyError at main.py f(): 'x'"


def test_a_test_goes_before_its_subprocess():
    """A failing test tells more than the process it started on purpose."""
    test = crash(
        "AssertionError", "assert 1 == 2", "test_a", fatal=False, test="t.py::test_a", time=2.0
    )
    assert str(sig(Ending(1, pid=10, crashes=[crash(pid=11, time=1.0), test]))).startswith(
        "AssertionError"
    )


def test_comprehensions_are_no_functions():
    """They had frames of their own until 3.12: the failure is the same on both."""
    frames = (Frame("/p/a.py", 1, "f"), Frame("/p/a.py", 1, "<listcomp>"))
    old = Crash((Link("KeyError", "'x'", frames),), pid=10)
    new = Crash((Link("KeyError", "'x'", frames[:1]),), pid=10)
    assert sig(Ending(1, pid=10, crashes=[old])).same(sig(Ending(1, pid=10, crashes=[new])))


def test_libraries_inside_do_not_count():
    """The user's innermost function counts, not the line of the library that raised."""
    user = Frame("/p/a.py", 1, "load")
    lib = Frame("/v/lib/python3.11/site-packages/pandas/x.py", 1, "merge", "package")
    deeper = lib._replace(name="get_loc")
    one = Crash((Link("KeyError", "'x'", (user, lib)),), pid=10)
    other = Crash((Link("KeyError", "'x'", (user, lib, deeper)),), pid=10)
    assert sig(Ending(1, pid=10, crashes=[one])).same(sig(Ending(1, pid=10, crashes=[other])))


def test_strengths():
    """Loose: the type. Normal: masked. Strict: the message and all functions as they are."""
    one, other = (sig(Ending(1, pid=10, crashes=[crash("ValueError", f"got {n}")])) for n in (1, 2))
    assert one.same(other)
    assert one.same(other, Strength.LOOSE)
    assert not one.same(other, Strength.STRICT)


def test_hang_is_told_by_the_users_functions():
    """All threads that wait in code of the user's own, in any order."""
    stack = [
        Frame("/p/a.py", 1, "main"),
        Frame("/usr/lib/python3.11/threading.py", 1, "wait", "stdlib"),
    ]
    other = [Frame("/p/a.py", 1, "reader")]
    one, two = (
        sig(Ending(None, timed_out=True, stacks=s)) for s in ([stack, other], [other, stack])
    )
    assert str(one) == "hang at main(), reader()"
    assert one.same(two)


def test_what_the_user_interrupted_is_no_failure():
    """Ctrl-C says nothing about the program."""
    for ending in (Ending(None, "SIGINT", interrupted=True), Ending(130, interrupted=True)):
        found = explain(ending)
        assert (found.kind, found.signature) == (Kind.KILLED, None)
    assert explain(Ending(1, interrupted=True)).signature is not None


def test_tests_side_by_side_are_told_by_name():
    """Xdist's workers fail in any order; the signature must not depend on it."""
    one = crash("KeyError", "'a'", "test_a", pid=11, fatal=False, test="t.py::test_a", time=2.0)
    two = crash("KeyError", "'b'", "test_b", pid=12, fatal=False, test="t.py::test_b", time=1.0)
    late = one._replace(time=0.5)
    assert sig(Ending(1, pid=10, crashes=[one, two])).same(
        sig(Ending(1, pid=10, crashes=[two, late]))
    )


def test_out_of_memory_is_not_any_kill():
    """The kernel's kill for memory differs from `kill -9`."""
    killed = Ending(None, "SIGKILL")
    assert not sig(killed).same(sig(killed._replace(out_of_memory=True)))


def test_exit_code_with_last_error_line():
    """Not the very last line, which is often a hint or an address."""
    output = "working\nerror: no rule for target 'x'\nsee\nhttps://example.invalid/help\n"
    assert str(sig(Ending(2, output=output))) == "exit 2: error: no rule for target 'x'"


def test_segfault_with_python_stack():
    """What faulthandler wrote tells where."""
    faults = (
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n"
        '  File "/p/a.py", line 3 in crash\n  File "/p/a.py", line 9 in <module>\n'
    )
    found = explain(Ending(None, "SIGSEGV", faults=faults))
    assert str(found.signature) == "SIGSEGV at crash()"
    assert found.kind is Kind.KILLED


def test_long_messages_stay_apart():
    """A signature is bounded, and two long ones that differ at the end still differ."""
    one, other = (sig(Ending(1, pid=10, crashes=[crash("E", "x" * 5000 + tail)])) for tail in "ab")
    assert len(str(one)) < 700
    assert not one.same(other)


def test_the_first_error_of_a_long_output():
    """It stands in the beginning, of which the end that is kept has nothing."""
    first, last = "t.c:1:2: error: no x\n", "t.c:99:2: error: no y\n"
    found = explain(Ending(1, output=last, beginnings=(first, "")))
    assert str(found.signature) == "exit 1: error: no x"
    found = explain(Ending(1, output="done\n", answer=last, beginnings=("", first)))
    assert str(found.signature) == "exit 1: error: no x"


def test_what_a_program_says_when_it_aborts_itself():
    """Two assertions are two failures, and two exceptions in C++; their lines don't matter."""
    told = "shop: shop.c:{}: sell: Assertion `{}' failed.\n"
    one, moved, other = (
        sig(Ending(None, "SIGABRT", output=told.format(*values)))
        for values in ((7, "count > 0"), (9, "count > 0"), (7, "price > 0"))
    )
    assert str(one) == "SIGABRT: shop: shop.c:#: sell: Assertion `count > #' failed."
    assert one.same(moved)
    assert not one.same(other)
    thrown = "terminate called after throwing an instance of 'std::{}'\n  what():  no stock\n"
    found = explain(Ending(None, "SIGABRT", output=thrown.format("range_error")))
    assert found.headline.endswith("instance of 'std::range_error' what():  no stock")


def test_what_only_points_or_counts_says_nothing():
    """The line above a caret tells, and so does what comes before a count of errors."""
    for end in ("  ^^^^\n", "1 parse error\n", "  ^^^^\n2 parse errors\n"):
        assert str(sig(Ending(1, output=f"shop: odd word\n{end}"))) == "exit 1: shop: odd word"
