"""Series that grow, fill up, or only look so."""

from __future__ import annotations

import random

import pytest

from zeroin.observe.trend import theil_sen, trend

LEAST = 64 << 10


def series(function, count=60, noise=0.0, seed=0):
    drawn = random.Random(seed)
    return [(n, function(n) + drawn.uniform(-noise, noise)) for n in range(1, count + 1)]


def verdict(points) -> str:
    return trend(points, LEAST).verdict


def test_the_slope_is_the_growth_each_time():
    """Whatever a few outliers do, and it lies within its bounds."""
    points = series(lambda n: 1000 * n, noise=200)
    points[40] = (41, 10**9)
    slope, low, high = theil_sen(points)
    assert low <= slope <= high
    assert 950 < slope < 1050


@pytest.mark.parametrize("power", [1, 2])
def test_the_total_is_that_of_its_repetitions(power):
    """Also where samples become rarer, as they do in a long run."""
    counts = [n**power for n in range(1, 61)]
    found = trend([(n, 1000 * n) for n in counts], LEAST)
    assert found.total == pytest.approx(1000 * found.repetitions, rel=0.01)
    assert found.repetitions > (counts[-1] - counts[0]) // 2


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_leak(seed):
    """Not once in twenty."""
    assert verdict(series(lambda n: 10**7, noise=10**6, seed=seed)) == "steady"


@pytest.mark.parametrize("seed", range(20))
def test_growth_under_noise_is_found(seed):
    """Also when the noise of one sample is that of ten repetitions."""
    assert verdict(series(lambda n: 10**5 * n, noise=5 * 10**5, seed=seed)) == "grows"


def test_warm_up_is_left_out():
    """Caches that are full after the first repetitions."""
    assert verdict(series(lambda n: min(n, 5) * 10**6)) == "steady"


def test_a_cache_that_has_an_end():
    """It grew for most of the time, and then no more."""
    assert verdict(series(lambda n: min(n, 40) * 10**5)) == "fills"


def test_steps_are_growth():
    """A buffer that is enlarged at every tenth time."""
    assert verdict(series(lambda n: n // 10 * 10**6, count=200)) == "grows"


def test_a_saw_is_none():
    """What the collector frees at every twentieth time."""
    assert verdict(series(lambda n: n % 20 * 10**5, count=200)) == "steady"


def test_little_is_nothing():
    """A few bytes each time are the interpreter's own."""
    assert verdict(series(lambda n: 100 * n)) == "steady"


def test_few_samples_tell_nothing():
    """And that is said."""
    assert verdict(series(lambda n: 10**6 * n, count=5)) == "few"
    assert verdict([]) == "few"


@pytest.mark.parametrize("tooth", range(8, 20))
def test_growth_below_a_saw_is_found(tooth):
    """A list grows, and the collector frees at every tooth what has come together beside it."""
    for phase in range(tooth):
        saw = series(lambda n, phase=phase: 50_000 * n + (n + phase) % tooth * 60_000)
        assert verdict(saw) == "grows"
