"""Secrets stay out of the store; that one changed can still be told."""

import pytest

from zeroin.tools.masking import Mask, is_masked

ENV = {
    "API_TOKEN": "abc-def-123",
    "HOME": "/home/me",
    "SSH_AUTH_SOCK": "/tmp/agent.1",
    "SHORT_KEY": "abc",
}


def test_environment_keeps_names_and_hides_values():
    """Equal secrets of one store look equal, those of two stores do not."""
    kept = Mask("salt", ENV).environment(ENV)
    assert kept["HOME"] == "/home/me"
    assert is_masked(kept["API_TOKEN"])
    assert kept["API_TOKEN"] == Mask("salt", ENV).environment(ENV)["API_TOKEN"]
    assert kept["API_TOKEN"] != Mask("other", ENV).environment(ENV)["API_TOKEN"]
    assert kept["API_TOKEN"] != Mask("salt", ENV).environment({"API_TOKEN": "new"})["API_TOKEN"]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--token", "abc-def-123"],
        ["run", "--api-key=abc-def-123"],
        ["run", "x=abc-def-123"],
        ["run", "--password", "other-secret-1"],
        ["curl", "https://me:other-secret-1@host/x"],
    ],
)
def test_commands(words):
    """By flag, by value, and in addresses."""
    kept = " ".join(Mask("salt", ENV).command(words))
    assert "abc-def-123" not in kept
    assert "other-secret-1" not in kept
    assert is_masked(kept)


@pytest.mark.parametrize(
    "words",
    [["train", "--tokenizer", "bert"], ["train", "--max-tokens", "5"], ["a", "--keys", "x"]],
)
def test_innocent_flags(words):
    """Words that merely contain a suspicious one, where nothing secret can be meant."""
    assert not is_masked(" ".join(Mask("salt", {}).command([*words[:2], "-v", *words[2:]])))


def test_what_was_learnt_from_the_command_is_masked_everywhere():
    """The output and the locals may repeat it."""
    mask = Mask("salt", {})
    mask.command(["run", "--password", "other-secret-1"])
    assert "other-secret-1" not in mask.deep({"a": ["got other-secret-1"]})["a"][0]


def test_reveal_needs_the_same_secret():
    """`again` puts a secret back only if the environment has that very one."""
    mask = Mask("salt", ENV)
    (kept,) = mask.command(["abc-def-123"])
    assert mask.reveal(kept) == "abc-def-123"
    assert Mask("salt", {"API_TOKEN": "changed-since"}).reveal(kept) == kept
