"""`tiny data` in this process, on a file that a test has made."""

from __future__ import annotations

import pytest

from zeroin.tiny.opening import open_rows
from zeroin.tools.tiny import Ask, data


@pytest.fixture
def rows_of():
    """What the rows of a file say."""

    def read(path):
        with open_rows(str(path), None) as opened:
            return [row.value for row in opened.rows]

    return read


@pytest.fixture
def tiny():
    """`tiny(path, 6)` writes six rows that cover, and gives the report."""

    def make(path, count, how="covering", **options):
        return data(str(path), Ask(count, how), **options)

    return make
