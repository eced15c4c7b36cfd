"""Output that comes in pieces: a secret that lies across two of them is masked as well."""

import itertools
import os
import re
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spellings import SECRET

import support
from zeroin.common.stream import LONGEST_LINE, KnownSecrets, StreamMasker
from zeroin.run.keep import Keeper, pieces, text

MARKED = re.compile("⟦(.*?)⟧", re.DOTALL)


def masked(parts, known=()):
    masker = StreamMasker(KnownSecrets(known))
    return b"".join([*(masker.feed(part) for part in parts), masker.flush()])


@pytest.mark.parametrize("marked", SECRET)
def test_wherever_it_is_cut(marked):
    """Each spelling, cut in two at every byte."""
    whole = MARKED.sub(r"\1", marked).encode() + b"\nmore\n"
    expected = MARKED.sub("<secret>", marked).encode() + b"\nmore\n"
    if "cut here" in marked:  # a private key without an end: all that follows may be of it
        expected = expected.removesuffix(b"\nmore\n")
    for cut in range(len(whole)):
        assert masked([whole[:cut], whole[cut:]]) == expected, cut
    assert masked([bytes([code]) for code in whole]) == expected


def test_a_line_without_an_end_does_not_wait_for_ever():
    """A progress bar of a megabyte is written, and what comes at its end is masked."""
    masker = StreamMasker(KnownSecrets())
    line = b"12 % " * 100_000
    assert len(masker.feed(line)) >= len(line) - LONGEST_LINE
    assert masker.feed(b"token=abc123\n").endswith(b"token=<secret>\n")


@given(data=st.binary(max_size=400), cuts=st.lists(st.integers(0, 400), max_size=6))
def test_output_without_secrets_stays_as_it_is(data, cuts):
    """Whatever the bytes are, and however they come: what is not masked is kept to the byte."""
    edges = [0, *sorted(cut for cut in cuts if cut < len(data)), len(data)]
    parts = [data[a:b] for a, b in itertools.pairwise(edges)]
    once = masked([data])
    assert masked(parts) == once
    if b"<secret>" not in once:
        assert once == data


def test_what_was_given_away_is_masked_from_then_on():
    """`password='…'` says what a later line may hold without a name; words are not learned."""
    out = masked([b"password='hunter2'\n", b"assert 'hunter2' == 'x'\n"])
    assert out == b"password='<secret>'\nassert '<secret>' == 'x'\n"
    out = masked([b"password='correct'\n", b"the answer is correct\n"])
    assert out == b"password='<secret>'\nthe answer is correct\n"


def test_a_huge_output(tmp_path):
    """Of what is kept of it all is masked, the gap is named, and what is not kept is not looked at."""
    keeper = Keeper(str(tmp_path / "a"), head=10_000, tail=20_000)
    line = b"%06d GET /v1?token=abc%06dx&page=2\n"
    for number in range(10_000):
        keeper.feed("out", line % (number, number), number)
    keeper.close(10_000)
    kept = text(keeper.folder)
    assert b"token=abc" not in kept
    assert kept.count(b"token=<secret>&page=2\n") > 500
    assert kept.endswith(b"009999 GET /v1?token=<secret>&page=2\n")
    assert [piece.stream for piece in pieces(keeper.folder)].count("gap") == 1


TABLE = """
import sys
sys.path[:0] = sys.argv[1:3]
import spellings
from zeroin.common import secrets
for marked in spellings.SECRET:
    plain = marked.replace("\\u27e6", "").replace("\\u27e7", "")
    assert secrets.mask_found(plain) != plain, marked
for text in spellings.OPEN:
    assert secrets.mask_found(text) == text, text
print(len(spellings.SECRET))
"""


@pytest.mark.parametrize("version", support.chosen_versions())
def test_on_every_python(version):
    """The masker is the agent's as well: the table holds on each interpreter."""
    here = os.path.dirname(os.path.abspath(__file__))
    python = support.interpreters()[version]
    done = subprocess.run(
        [python, "-c", TABLE, str(support.SRC), here], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == str(len(SECRET)), done.stderr
