"""The masker against real spellings: what must be masked, and what must stay readable."""

import re

import pytest
from spellings import OPEN, OPEN_WORDS, SECRET, SECRET_WORDS

from zeroin.common import secrets

MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)


def plain(marked: str) -> str:
    return MARKED.sub(r"\1", marked)


def hidden(marked: str) -> str:
    return MARKED.sub("<secret>", marked)


def test_the_tables_are_long_enough():
    """Each has 150 spellings at least, none twice."""
    for table in (SECRET, OPEN):
        assert len(table) == len(set(table)) >= 150
    assert all("⟦" in one for one in SECRET)


@pytest.mark.parametrize("marked", SECRET)
def test_secrets_are_masked_and_nothing_else(marked):
    """The secret goes, what stands around it stays; a masked text stays as it is."""
    masked = secrets.mask_found(plain(marked))
    assert masked == hidden(marked)
    assert secrets.mask_found(masked) == masked


@pytest.mark.parametrize("marked", SECRET)
def test_secrets_in_a_long_output(marked):
    """Likewise in a line of many thousand, where only some lines are looked at closely."""
    around = "step 12 of 100: loss 0.25\n" * 1000
    text = around + plain(marked) + "\n" + around
    masked = secrets.mask_found(text)
    assert masked.startswith(around)
    if "cut here" not in marked:
        assert masked == around + hidden(marked) + "\n" + around


@pytest.mark.parametrize("text", OPEN)
def test_what_is_no_secret_stays_readable(text):
    """Words that only look like it, values that are code or stand for one, flags of other tools."""
    assert secrets.mask_found(text) == text


@pytest.mark.parametrize("marked", SECRET_WORDS, ids=" ".join)
def test_secrets_among_the_words_of_a_command(marked):
    """By flag, by tool, and inside of a word."""
    assert secrets.mask_words([*map(plain, marked)]) == [*map(hidden, marked)]


@pytest.mark.parametrize("words", OPEN_WORDS, ids=" ".join)
def test_words_that_are_no_secrets(words):
    """A port is no password, whatever its flag is called elsewhere."""
    assert secrets.mask_words(words) == words
