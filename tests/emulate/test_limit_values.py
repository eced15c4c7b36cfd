"""Limits as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.emulate import registry
from zeroin.errors import UsageError
from zeroin.sizes import format_size, parse_size
from zeroin.tools.limits import with_value


@pytest.mark.parametrize(
    ("text", "name", "target", "amount"),
    [
        ("disk=/data:50M", "disk", "/data", 50_000_000),
        ("disk=a:b:2GiB", "disk", "a:b", 2 << 30),
        ("inodes=out:100", "inodes", "out", 100),
        ("readonly=/data", "readonly", "/data", 0),
        ("shm=64MiB", "shm", "", 64 << 20),
        ("disk=out:90%", "disk", "out", 0.9),
    ],
)
def test_they_are_read(text, name, target, amount):
    """The name, what it is about, how much."""
    limit = registry.parse(text)
    assert (limit.name, limit.text, limit.target, limit.amount) == (name, text, target, amount)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("dsk=/data:50M", "there is no such limit", "did you mean disk?"),
        ("xyz=1", "there is no such limit", "there are: disk, inodes"),
        ("disk", "how much?", "disk=PATH:SIZE"),
        ("disk=", "how much?", "disk=PATH:SIZE"),
        ("disk=/data", "a folder and a limit for it", "disk=FOLDER:SIZE"),
        ("disk=/data:lots", "'lots' is no size", "500M"),
        ("disk=/data:0", "nothing works with nothing", "500M"),
        ("disk=/data:-5M", "'-5M' is no size", "500M"),
        ("inodes=/data:many", "'many' is no number", ""),
        ("inodes=/data:0", "'0' is no number", ""),
    ],
)
def test_what_can_not_be_meant(text, message, hint):
    """Says what is wrong, and how to write it."""
    with pytest.raises(UsageError) as caught:
        registry.parse(text)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_the_same_twice():
    """Is a mistake; two folders are not."""
    with pytest.raises(UsageError, match="take one of them"):
        registry.parse_all(["disk=out:5M", "disk=out:6M"])
    assert len(registry.parse_all(["disk=out:5M", "disk=in:6M", "inodes=out:3"])) == 3


def test_every_limit_can_be_found():
    """By its name, in the module that is said to have it, and with a usage for the help."""
    assert set(registry.WHERE) == set(registry.USAGES)
    for name, usage in registry.USAGES.items():
        assert registry.kind(name).name == name
        assert usage.startswith(f"{name}=")


@given(st.integers(1, 1 << 50))
def test_a_size_survives_being_written(count):
    """What a search over sizes tries can be told, and typed again."""
    assert parse_size(format_size(count)) == count


def test_another_value_of_the_same_limit():
    """For a search over values."""
    assert with_value("shm=1G", 1536 * 1024) == "shm=1536KiB"
    assert with_value("disk=/data:50M", 25_000_000) == "disk=/data:25M"
