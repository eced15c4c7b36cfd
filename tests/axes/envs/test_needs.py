"""What can be put back only together."""

from zeroin.axes.envs.needs import Change, asked, implied, ranks

HERE = {"python_version": "3.11", "sys_platform": "linux"}


def test_conditions_and_extras_are_left_out():
    """Only what holds here is asked for."""
    lines = ["a>=1", 'b ; python_version < "3"', 'c ; extra == "dev"', "not a requirement !"]
    assert [name for name, _ in asked(lines, HERE)] == ["a"]


def told(changes, old=None, new=None):
    sides = [{k: asked(v, HERE) for k, v in (one or {}).items()} for one in (old, new)]
    names = [change.name for change in changes]
    return {(names[a], names[b]) for a, b in implied(changes, *sides)}


def test_an_old_one_that_needs_an_old_one():
    """The old app does not take the new base."""
    changes = [Change("app", "1", "2"), Change("base", "1", "2")]
    assert told(changes, old={"app": ["base<2"]}) == {("app", "base")}


def test_a_new_one_that_needs_a_new_one():
    """The new app does not take the old base: who puts base back puts app back."""
    changes = [Change("app", "1", "2"), Change("base", "1", "2")]
    assert told(changes, new={"app": ["base>=2"]}) == {("base", "app")}


def test_what_came_and_what_went():
    """What is not there satisfies nobody."""
    changes = [Change("app", "1", "2"), Change("came", "", "1"), Change("went", "1", "")]
    found = told(changes, old={"app": ["went"]}, new={"app": ["came"]})
    assert found == {("app", "went"), ("came", "app")}


def test_what_is_not_kept_anyway():
    """An environment that does not keep to what its packages ask for binds nobody."""
    changes = [Change("app", "1", "2"), Change("base", "1", "2")]
    assert told(changes, old={"app": ["base>=3"]}, new={"app": ["base>=3"]}) == set()


def test_needs_first():
    """What needs nothing comes first, also where some need one another."""
    changes = [Change(name, "1", "2") for name in ("app", "base", "mid", "x", "y")]
    needs = {
        "app": asked(["mid"], HERE),
        "mid": asked(["base"], HERE),
        "x": asked(["y"], HERE),
        "y": asked(["x"], HERE),
    }
    app, base, mid, *_ = ranks(changes, needs)
    assert base < mid < app
