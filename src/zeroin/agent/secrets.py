"""What must not be shown: which names hold secrets, and how their values are masked.

A *secret name* says that its text is a credential: `password`, `HF_TOKEN`, `apiKey`. Only
text is ever masked; numbers and tensors called `token` are no secrets. Names are read word
by word, so that `tokenizer`, `n_tokens` and `author` stay readable.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MASK = "<secret>"
SHORTEST = 6  # a shorter text would be masked inside innocent words
LONGEST = 1000  # more of a secret than this is never shown, so more is never looked for

LONGEST_NAME = 100  # a longer text is the key of a dict, and no name


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS = _set(
    "accesskey accesstoken apikey auth authorization authtoken bearer cookie cookies credential "
    "credentials passphrase passwd password passwords privatekey pwd secret secrets sessionid"
)
_PAIRS = frozenset({("access", "key"), ("api", "key"), ("private", "key"), ("session", "id")})
# What makes of a `token` a piece of text, or a count of them.
_BEFORE_TOKEN = _set("avg bos cls eos mask max min n num pad per sep stop total unk")
_AFTER_TOKEN = _set(
    "budget classification count embedding embeddings id ids idx index len length level limit "
    "mask name position positions text type types"
)


_answers: dict[str, bool] = {}  # the same few names come again in every frame


def is_secret_name(name: str) -> bool:
    """Whether text under this name is a secret."""
    answer = _answers.get(name)
    if answer is None:
        if len(_answers) > 1000:
            _answers.clear()
        answer = _answers[name] = _says_secret(_words(name))
    return answer


def _says_secret(words: list[str]) -> bool:
    if any(word in _WORDS for word in words):
        return True
    return any(pair in _PAIRS for pair in zip(words, words[1:])) or _names_a_token(words)


def is_secret(name: str, text: str) -> bool:
    """Whether this text under this name is a secret: a `key` is one if it looks like one."""
    if is_secret_name(name):
        return True
    is_key = name[-3:].lower() == "key" and _words(name)[-1:] == ["key"]
    return is_key and _looks_like_credential(text)


def is_secret_variable(name: str) -> bool:
    """Whether an environment variable is a secret: there, every KEY is one, and PWD is none."""
    return "KEY" in name.upper().split("_") or (name != "PWD" and is_secret_name(name))


def of_environment(environ: Mapping[str, str]) -> list[str]:
    """List the secret values of an environment that are long enough to be told from words."""
    return [
        value
        for name, value in environ.items()
        if len(value) >= SHORTEST and is_secret_variable(name) and not _is_file(value)
    ]


def mask(text: str, secrets: Iterable[str]) -> str:
    """Replace every secret in a text, also where `repr` has escaped it."""
    return mask_forms(text, forms_of(secrets))


def forms_of(secrets: Iterable[str]) -> list[str]:
    """Give the texts to look for, the longest first: one secret may hold another."""
    heads = {secret[:LONGEST] for secret in secrets if len(secret) >= SHORTEST}
    heads.update([repr(head)[1:-1] for head in heads])
    heads -= {head for head in heads if head in MASK}  # or the mask itself would be masked
    return sorted(heads, key=lambda head: (-len(head), head))


def mask_forms(text: str, forms: list[str]) -> str:
    """Replace texts to look for that were made before."""
    for form in forms:
        text = text.replace(form, MASK)
    return text


def mask_urls(text: str) -> str:
    """Replace the passwords in URLs: `postgres://ada:…@host/shop`."""
    told, mark, rest = text.partition("://")
    if not mark:
        return text
    user = rest.partition("/")[0].rpartition("@")[0]
    name, colon, password = user.partition(":")
    if password and not any(map(str.isspace, user)):
        rest = f"{name}{colon}{MASK}{rest[len(user) :]}"
    return f"{told}{mark}{mask_urls(rest)}"


def mask_head(text: str, forms: list[str]) -> str:
    """Mask a text that was cut at its end: the beginning of a secret may be left there."""
    text = mask_forms(text, forms)
    for form in forms:
        for length in range(min(len(form) - 1, len(text)), 2, -1):
            if text.endswith(form[:length]):
                return text[:-length] + MASK
    return text


def _names_a_token(words: list[str]) -> bool:
    for at, word in enumerate(words):
        if word == "token":
            before, after = words[at - 1 : at], words[at + 1 : at + 2]
            if not (_BEFORE_TOKEN.intersection(before) or _AFTER_TOKEN.intersection(after)):
                return True
    return False


def _looks_like_credential(text: str) -> bool:
    """Whether it is long, in one piece, and mixes letters and digits."""
    head = text[:LONGEST]
    return (
        len(head) >= 16
        and not any(map(str.isspace, head))
        and any(map(str.isalpha, head))
        and any(map(str.isdigit, head))
    )


def _is_file(text: str) -> bool:
    """Whether it only says where a secret is, as SSH_AUTH_SOCK does."""
    return text.startswith("/") and os.path.lexists(text)


def _words(name: str) -> list[str]:
    """Split `api_key`, `X-Api-Key`, `apiKey` and `APIKey2` into words in small letters."""
    if len(name) > LONGEST_NAME:
        return []
    spaced = ""
    for at, char in enumerate(name):
        before, after = name[at - 1 : at], name[at + 1 : at + 2]
        if not char.isalnum():
            spaced += " "
            continue
        if char.isupper() and (before.islower() or (before.isupper() and after.islower())):
            spaced += " "
        spaced += char
    words = [word.rstrip("0123456789") for word in spaced.lower().split()]
    return [word for word in words if word]
