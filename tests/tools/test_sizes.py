"""Sizes and times as people write them."""

import pytest

from zeroin.errors import UsageError
from zeroin.fronts import words
from zeroin.tools.sizes import parse_seconds, parse_size


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("500M", 500_000_000),
        ("2GiB", 2 << 30),
        ("1.5 gb", 1_500_000_000),
        ("4096", 4096),
        ("10kb", 10_000),
        ("1 KiB", 1024),
        ("0", 0),
    ],
)
def test_sizes(text, wanted):
    """Decimal and binary units, with and without blanks."""
    assert parse_size(text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("30s", 30), ("5m", 300), ("1.5h", 5400), ("250ms", 0.25), ("10", 10), ("2d", 172_800)],
)
def test_times(text, wanted):
    """From milliseconds to days."""
    assert parse_seconds(text) == wanted


@pytest.mark.parametrize("text", ["", "M", "-1", "1e3", "5 parsecs", "١", "1iB", "10 MBs"])
def test_nonsense_is_refused(text):
    """With what would have worked."""
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert "500M" in caught.value.hint


@pytest.mark.parametrize(
    ("count", "wanted"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (14_600_000, "14.6 MB"),
        (2_100_000_000, "2.1 GB"),
        (310e6, "310 MB"),
    ],
)
def test_sizes_as_we_say_them(count, wanted):
    """Two or three digits, no more."""
    assert words.size(count) == wanted


@pytest.mark.parametrize(
    ("value", "wanted"), [(0.04, "0.04 s"), (41.23, "41.2 s"), (200, "3:20 min"), (7500, "2:05 h")]
)
def test_times_as_we_say_them(value, wanted):
    """Readable at every scale."""
    assert words.seconds(value) == wanted


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([9, 10, 11, 12], "9-12"),
        ([3, 9, 10], "3, 9-10"),
        ([1, 3, 5, 7, 9], "…, 3, 5, 7, 9"),
        ([], ""),
    ],
)
def test_ranges_of_attempts(values, wanted):
    """Many attempts in few words."""
    assert words.numbers(values) == wanted
