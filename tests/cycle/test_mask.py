"""What masking takes away, and what it must leave."""

import pytest

from zeroin.cycle.mask import Places, mask

SAME = [
    ("took 0.123s", "took 12 ms"),
    ("took 3 seconds", "took 4.5 seconds"),
    ("pid 4242 died", "pid 17 died"),
    ("<Foo object at 0x7f12ab>", "<Foo object at 0x55d0>"),
    ("('127.0.0.1', 45123)", "('127.0.0.1', 39001)"),
    ("localhost:45123 refused", "localhost:8080 refused"),
    ("on 2026-11-15 23:01:12.123", "on 2025-01-02 03:04:05"),
    ("at Sun Nov 15 23:01:12 2026", "at Mon Feb  2 03:04:05 2025"),
    ("no file '/home/a/proj/data/x.json'", "no file '/srv/other checkout 2/data/x.json'"),
    ("no file /tmp/tmpab12cd34/x.json", "no file /var/tmp/tmpzz99_xy1/x.json"),
    ("'/tmp/tmpq8s7d6f5'", "'/tmp/tmp0a1b2c3d'"),
    ("id 6fa459ea-ee8a-3ca4-894e-db77e160355e", "id 16fd2706-8baf-433b-82eb-8c7fada847da"),
    ("shapes (32,10) and (12,4)", "shapes (8,10) and (12,99)"),
    ("missing {'b', 'a', 'c'}", "missing {'c', 'a', 'b'}"),
    ("Unexpected token (13:45)", "Unexpected token (1:3)"),
    ("commit 57f44dc4e1", "commit 0a1b2c3d4e"),
    ("worker_12345.sock: '/run/worker_12345.sock'", "worker_12345.sock: '/run/worker_777.sock'"),
    (
        '  File "/a/x.py", line 3, in f\n    g()\nKeyError',
        '  File "/b/x.py", line 99, in f\n    g()\nKeyError',
    ),
]
DIFFERENT = [
    ("no attribute 'layer1'", "no attribute 'layer2'"),
    ("No module named 'a'", "No module named 'b'"),
    ("no file '/x/train.json'", "no file '/x/test.json'"),
    ("float32 expected", "float64 expected"),
    ("utf8 codec", "utf16 codec"),
    ("http://h:1/users", "http://h:1/orders"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_varies_from_run_to_run_is_masked(one, other):
    """Two runs of one failure give one text."""
    assert mask(one) == mask(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_names_are_left(one, other):
    """Names tell failures apart, also when they end in digits."""
    assert mask(one) != mask(other)


def test_a_missing_key_keeps_its_number():
    """Key 3 is not key 7; but a key of many digits is an id or an address."""
    assert mask("3", numbers=False) != mask("7", numbers=False)
    assert mask("140234567", numbers=False) == mask("139111222", numbers=False)


def test_roots_are_cut_off_wherever_they_stand():
    """A folder with blanks can't be told from text, unless it is known."""
    roots = Places(["/home/me/my check out"])
    text = "bad line in /home/me/my check out/data/x.csv today"
    assert mask(text, roots) == mask("bad line in /srv/p/data/x.csv today", Places(["/srv/p"]))


def test_masking_is_quick_on_huge_messages():
    """No pattern runs away on long lines of anything."""
    for text in (
        "/" * 20_000,
        "a/" * 20_000,
        "1" * 20_000,
        "'" * 20_000,
        "{'a', " * 5_000,
        " File" * 9_000,
    ):
        mask(text)
