"""What the process that watches over limits tells the driver."""

from types import SimpleNamespace

from zeroin.run.limit_guard import _Guard


def _part(told):
    watch = SimpleNamespace(look=lambda _eyes, _now: 1 / 0, told=lambda: told)
    return SimpleNamespace(watch=lambda: watch)


def test_only_what_there_is_to_tell():
    """Nothing is sent where no watch has a word to say: to load what sends it takes time."""
    guard = _Guard(0, [_part({}), _part({"peak": 5}), _part({})])
    assert guard.told() == {"1": {"peak": 5}}
    assert _Guard(0, [_part({})]).told() == {}


def test_a_watch_that_fails_is_told_of():
    """Also one that has nothing else to say: that limit was not held."""
    guard = _Guard(0, [_part({})])
    guard._look("0", 0.0)
    assert guard.told() == {"0": {"error": "ZeroDivisionError: division by zero"}}
