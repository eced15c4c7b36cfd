"""Keeping output: bounded, in order, with times, without secrets."""

import os

from hypothesis import given
from hypothesis import strategies as st

from zeroin.run.keep import Keeper, pieces, text


def test_small_output_is_kept_whole_and_in_order(tmp_path):
    """Both streams, each piece with its time."""
    keeper = Keeper(str(tmp_path / "a"))
    keeper.feed("out", b"one\n", 0)
    keeper.feed("err", b"two\n", 5)
    keeper.feed("out", b"three\n", 1500)
    keeper.close(1500)
    assert [(p.seconds, p.stream, p.data) for p in pieces(keeper.folder)] == [
        (0.0, "out", b"one\n"),
        (0.005, "err", b"two\n"),
        (1.5, "out", b"three\n"),
    ]
    assert text(keeper.folder, ["err"]) == b"two\n"


def test_of_a_huge_output_the_first_and_the_last_part_are_kept(tmp_path):
    """And the gap is named, with its size."""
    keeper = Keeper(str(tmp_path / "a"), head=1000, tail=2000)
    whole = b"".join(b"line %06d\n" % n for n in range(10_000))
    for at in range(0, len(whole), 700):
        keeper.feed("out", whole[at : at + 700], at)
    keeper.close(0)
    kept = list(pieces(keeper.folder))
    assert kept[-1].data.endswith(b"line 009999\n")
    gap = next(int(p.data) for p in kept if p.stream == "gap")
    data = b"".join(p.data for p in kept if p.stream != "gap")
    assert data[:1000] == whole[:1000]
    assert whole.endswith(data[1000:])
    assert 1000 <= len(data) - 1000 <= 2000
    assert gap + len(data) == len(whole)
    assert sum(os.stat(tmp_path / "a" / n).st_size for n in os.listdir(tmp_path / "a")) < 10_000


@given(
    secret=st.binary(min_size=6, max_size=12).filter(lambda s: s not in b"<secret>"),
    parts=st.lists(st.binary(max_size=30), max_size=8),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_no_secret_reaches_the_disk_however_it_is_cut(tmp_path_factory, secret, parts, cuts):
    """A secret may lie across two pieces of output."""
    whole = secret.join(parts)
    clean = whole.replace(secret, b"<secret>")
    folder = tmp_path_factory.mktemp("keep")
    keeper = Keeper(str(folder / "a"), [secret.decode("utf-8", "surrogateescape")])
    at = 0
    for cut in [*sorted(cuts), len(whole)]:
        keeper.feed("out", whole[at:cut], 0)
        at = max(at, cut)
    keeper.close(0)
    assert text(keeper.folder) == clean


def test_a_full_disk_ends_the_keeping_only(tmp_path):
    """What was kept stays readable; the end of the output is still known for the explanation."""
    keeper = Keeper("/dev/full/impossible")
    assert keeper.error is not None
    keeper.feed("err", b"KeyError: 'x'\n", 0)
    keeper.close(0)
    assert keeper.recent("err") == "KeyError: 'x'\n"


def test_the_beginning_is_kept_where_the_end_lacks_it(tmp_path):
    """The first error of a compiler stands there."""
    keeper = Keeper(str(tmp_path / "a"))
    keeper.feed("err", b"first\n", 0)
    assert (keeper.beginning("err"), keeper.beginning("out")) == ("", "")
    for _ in range(3000):
        keeper.feed("err", b"x" * 99 + b"\n", 0)
    assert keeper.beginning("err").startswith("first\nxxx")
    assert len(keeper.beginning("err")) == 65536
    keeper.close(0)


def test_recent_is_bounded(tmp_path):
    """Memory does not grow with the output."""
    keeper = Keeper(str(tmp_path / "a"))
    for _ in range(3000):
        keeper.feed("out", b"x" * 1000, 0)
    assert keeper._recent["out"].size <= 4 * 65536 + 1000
    assert keeper._waiting_size < 8_000_000
    assert len(keeper.recent("out")) == 65536
    keeper.close(0)
