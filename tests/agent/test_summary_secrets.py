"""What must not be shown: which names are secret, and what is masked."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.agent import summary
from zeroin.agent.common import secrets


class TestNames:
    """Which names say that their text is a secret."""

    @pytest.mark.parametrize(
        "name",
        [
            *("token", "hf_token", "HF_TOKEN", "accessToken", "token2", "GITHUB_TOKEN_PROD"),
            *("password", "db_password", "Passwd", "pwd", "passphrase", "passwords"),
            *("secret", "client_secret", "SECRET_KEY", "secrets"),
            *("api_key", "apikey", "apiKey", "APIKey", "X-Api-Key", "openai_api_key_2"),
            *("access_key", "aws_access_key_id", "private_key", "credential", "credentials"),
            *("auth", "proxy_auth", "Authorization", "cookie", "Set-Cookie", "session_id"),
        ],
    )
    def test_secret(self, name):
        """A name with a word for a credential is secret, however it is spelled."""
        assert secrets.is_secret_name(name)

    @pytest.mark.parametrize(
        "name",
        [
            *("tokens", "tokenizer", "token_ids", "token_type_ids", "n_tokens", "max_tokens"),
            *("max_token", "num_token", "eos_token", "pad_token", "token_count"),
            *("key", "keys", "keyword", "monkey", "public_key", "cache_key", "keyboard"),
            *("author", "authority", "session", "id", "passed", "bypass", "x", ""),
            "password" * 100,  # a text, and no name
        ],
    )
    def test_not_secret(self, name):
        """Words that only look like it are not, nor are the tokens of a text."""
        assert not secrets.is_secret_name(name)

    def test_key(self):
        """What is called a key is secret if it looks like a credential."""
        assert secrets.is_secret("key", "a1b2c3d4e5f6g7h8")
        assert secrets.is_secret("openai_key", "sk-a1b2c3d4e5f6g7h8")
        assert not secrets.is_secret("key", "a1b2c3d4")
        assert not secrets.is_secret("key", "learning rate of step 12")
        assert not secrets.is_secret("key", "learningrateschedule")
        assert not secrets.is_secret("keys", "a1b2c3d4e5f6g7h8")

    def test_variables(self):
        """In the environment every KEY is secret, and PWD is a folder."""
        names = ["WANDB_KEY", "KEY", "my_key_2", "HF_TOKEN", "PWD", "KEYBOARD", "HOME"]
        secret = [name for name in names if secrets.is_secret_variable(name)]
        assert secret == ["WANDB_KEY", "KEY", "my_key_2", "HF_TOKEN"]

    def test_environment(self, tmp_path):
        """The secrets of an environment are the values that are no files and no short words."""
        environ = {
            "HF_TOKEN": "hf_abcdef",
            "API_KEY": "short",
            "SSH_AUTH_SOCK": str(tmp_path),
            "AWS_SECRET": "/looks/like+a/path",
            "HOME": "/home/bob",
        }
        assert secrets.of_environment(environ) == ["hf_abcdef", "/looks/like+a/path"]


class TestMask:
    """Taking known secrets out of a text."""

    def test_everywhere(self):
        """A secret is masked wherever it stands, the longer of two first."""
        text = "a hunter2hunter b hunter2 c hunter2hunter"
        masked = secrets.mask(text, ["hunter2", "hunter2hunter"])
        assert masked == "a <secret> b <secret> c <secret>"

    def test_escaped(self):
        """A secret that repr has escaped is found, too."""
        assert secrets.mask(repr("x\n'pass\"\tword"), ["'pass\"\tword"]) == "'x\\n<secret>'"

    def test_mask_is_not_masked(self):
        """A secret that is part of the mask leaves the mask alone."""
        assert secrets.mask("a secret, hunter2", ["secret", "hunter2"]) == "a secret, <secret>"

    def test_short(self):
        """What is shorter than six characters would be found in innocent words."""
        assert secrets.mask("a train of thought", ["train"]) == "a train of thought"


class TestSecrets:
    """What a summary must not show."""

    def test_by_name(self):
        """Text under a secret name is masked; numbers and other text are not."""
        items = [("password", "abc"), ("api_token", b"abc"), ("token", 3), ("name", "abc")]
        assert summary.summarise_all(items) == ["<secret>", "<secret>", "3", "'abc'"]
        assert summary.summarise("abc", "HF_TOKEN") == "<secret>"

    def test_inside(self):
        """So is text under such a key, attribute or field, and all text in a secret container."""

        @dataclass
        class Login:
            user: str
            password: str

        told = summary.summarise_all(
            [
                ("headers", {"Authorization": "Bearer x", "Accept": "*"}),
                ("config", {b"secret": "x", "n": 1}),
                ("login", Login("bob", "hunter2")),
                ("auth", ("bob", "hunter2", 3)),
                ("credentials", {"user": "bob"}),
            ]
        )
        assert told == [
            "{'Authorization': <secret>, 'Accept': '*'}",
            "{b'secret': <secret>, 'n': 1}",
            "Login(user='bob', password=<secret>)",
            "(<secret>, <secret>, 3)",
            "{'user': <secret>}",
        ]

    def test_learned(self):
        """A secret that one value gives away by its name is masked in all others."""

        class Client:
            def __init__(self):
                self.api_key = "abcdef-123"

            def __repr__(self):
                return f"Client({self.api_key})"

        told = summary.summarise_all(
            [("url", "https://x/?k=hunter2!"), ("pwd", "hunter2!"), ("c", Client())]
        )
        assert told == ["'https://x/?k=<secret>'", "<secret>", "Client(<secret>)"]

    def test_object_under_a_secret_name(self):
        """The repr of an object called `credentials` is not trusted."""

        class Login:
            def __init__(self):
                self.user = "bob"

            def __repr__(self):
                return "Login(bob)"

        assert summary.summarise(Login(), "credentials") == "Login(user=<secret>)"

    @given(
        secret=st.text(min_size=6, max_size=300),
        before=st.text(max_size=200),
        after=st.text(max_size=200),
        shape=st.sampled_from([str, list, dict, bytes]),
    )
    def test_never_shown(self, secret, before, after, shape):
        """A given secret is not shown, wherever it stands, nor its beginning where text is cut."""
        if shape is bytes:  # in which other letters become question marks
            secret, before, after = (
                one.encode("latin-1", "replace").decode("latin-1")
                for one in (secret, before, after)
            )
        before = before.replace(secret[:3], "")
        after = after.replace(secret[:3], "")
        whole = before + secret + after
        value = {
            str: whole,
            list: [0, [whole]],
            dict: {whole: {"a": whole}},
            bytes: whole.encode("latin-1", "replace"),
        }[shape]
        (told,) = summary.summarise_all([("value", value)], secrets=[secret])
        for shown in (secret, repr(secret)[1:-1], repr(secret[:6])[1:-1]):
            assert shown not in told or shown in secrets.MASK
