"""Drawing: whatever there is to show, in whatever window, no line is too long or too short."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zeroin.fronts.watch import cells, layout, summary
from zeroin.fronts.watch.look import Look
from zeroin.fronts.words import Paint
from zeroin.tools.watch import Peaks, Summary
from zeroin.tools.watch.things import Line, Panel, Thing

STYLE = re.compile(r"\x1b\[[0-9;]*m")
numbers = st.none() | st.integers(0, 10**15)
rates = st.none() | st.floats(0, 1e13)
texts = st.text(st.characters(codec="utf-8"), max_size=80)
curves = st.lists(st.floats(0, 1e12), max_size=60)
things = st.builds(
    Thing,
    texts,
    pid=st.none() | st.integers(1, 4194304),
    rank=st.none() | st.integers(0, 99),
    user=st.none() | st.sampled_from(["ada", "somebody-with-a-long-name"]),
    state=st.none() | st.sampled_from(["running", "disk wait", "61 °C, 250 W"]),
    age=rates,
    cpu=rates,
    memory=numbers,
    pss=numbers,
    peak=numbers,
    gpu=numbers,
    threads=numbers,
    files=numbers,
    read=rates,
    write=rates,
    used=numbers,
    free=numbers,
    total=numbers,
    rate=st.none() | st.floats(-1e12, 1e12),
    full_in=rates,
    exit_code=st.none() | st.integers(-15, 255),
    depth=st.integers(0, 20),
    curve=curves,
    cpu_curve=curves,
)
lines = st.builds(lambda text, new: Line(text, [new] * len(text)), texts, st.booleans())
panels = st.builds(
    Panel,
    texts,
    st.sampled_from(["processes", "disk", "gpu", "memory", "cpu", "net", "command", "file"]),
    st.lists(things, max_size=6),
    st.none() | things,
    st.integers(0, 6000),
    st.lists(things, max_size=4),
    st.integers(0, 9),
    texts,
    st.lists(lines, max_size=8),
)


def look(*, fine=True):
    paint = Paint(io.StringIO())
    paint.on = True
    return Look(paint, fine, marks=True)


def wide(line):
    return cells.wide(STYLE.sub("", line))


@settings(max_examples=60)
@given(
    st.lists(panels, min_size=1, max_size=5), st.integers(1, 200), st.integers(1, 60), st.booleans()
)
def test_lines_fit_the_window(shown, width, height, fine):
    """In cells, not in characters; and no control character gets through."""
    drawn = layout.drawn(shown, width, height, look(fine=fine))
    assert len(drawn) <= height
    for line in drawn:
        assert wide(line) <= width
        assert STYLE.sub("", line).isprintable()
        assert fine or line.isascii()


@pytest.mark.parametrize("height", [2, 3, 4])
def test_a_process_is_shown_however_small_the_window(height):
    """How many more there are comes after it."""
    two = [Thing("python first.py", pid=4711), Thing("python second.py", pid=4712)]
    panel = Panel("python", "processes", two, None, 2)
    drawn = layout.drawn([panel], 30, height, look())
    assert any("4711" in line for line in drawn), drawn


def test_once_is_said_in_the_singular():
    """In the summary of a command."""
    peaks = Peaks("date", "command", 0.0, 0.0, [], 1, 1, 0)
    assert summary.lines(Summary(1.0, 1, [peaks]))[1] == "date: 1 run, changed 1 time"


@settings(max_examples=30)
@given(st.lists(panels, min_size=2, max_size=3))
def test_panels_side_by_side_stay_in_their_columns(shown):
    """Every line is filled up to its panel's width, so that what is right of it stands still."""
    drawn = layout.drawn(shown, 400, 40, look())
    assert {wide(line) for line in drawn if line} == {400}


@given(texts, st.integers(0, 60))
def test_command_lines_are_cut_to_measure(text, width):
    """Whatever they hold."""
    assert cells.wide(cells.command(text, width)) == width


@pytest.mark.parametrize(
    ("line", "width", "shown"),
    [
        ("/usr/bin/python train.py --lr 0.1", 24, "python train.py --lr 0.1"),
        ("/opt/venv/bin/python /home/ada/shop/train.py --lr 1", 22, "python train.py --lr 1"),
        ("python train.py --first-option 1 --last-option 2", 30, "python train.py -…ast-option 2"),
    ],
)
def test_what_a_short_command_line_keeps(line, width, shown):
    """Program and script without their folders, the beginning and the end of the rest."""
    assert cells.command(line, width).rstrip() == shown


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([], "     "),
        ([5, 5, 5], "  ▁▁▁"),
        ([100, 101, 99], "  ▂▂▁"),
        ([1, 2, 3, 4, 5], "▁▃▅▆█"),
        ([1, 9] * 30, "█████"),
    ],
)
def test_curves(values, shown):
    """Growth is seen, noise is small, and a peak is not lost when there are more samples."""
    assert cells.spark(values, 5, cells.BLOCKS) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (4096, "4 KB"),
        (3.1e7, "31.0 MB"),
        (3.1e8, "0.31 GB"),
        (1.24e9, "1.24 GB"),
        (2.7e11, "270 GB"),
        (None, "–"),
    ],
)
def test_memory_that_counts_is_in_gb(count, shown):
    """From 0.1 GB on."""
    assert cells.amount(count) == shown
