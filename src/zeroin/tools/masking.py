"""Keeping secrets out of what is stored, while "it changed" stays answerable."""

from __future__ import annotations

import re

from zeroin.agent.secrets import SHORTEST, is_secret_variable, of_environment
from zeroin.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

# Compiled when they are first needed: most commands have no flag, and no secret.
_MASKED = r"<secret(?: [0-9a-f]{8})?>"
_FLAG = r"(?i)^--?[\w-]*(token|password|passwd|secret|api-?key|access-?key)[\w-]*$"
_IN_URL = r"(?<=://)([^/\s:@]+):([^/\s@]+)(?=@)"


class Mask:
    """Masks with one store's salt."""

    def __init__(self, salt: str, environ: Mapping[str, str], names: Sequence[str] = ()) -> None:
        self._salt = salt
        self._names = frozenset(names)
        self.values = [*of_environment(environ), *(environ[n] for n in names if environ.get(n))]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Every variable, with secret ones as a name plus a salted hash."""
        return {
            name: self.hide(value) if value and self._is_secret(name) else self.text(value)
            for name, value in env.items()
        }

    def command(self, words: Sequence[str]) -> list[str]:
        """The words of a command; `--token VALUE` and known secrets are hidden."""
        hidden: list[str] = []
        for number, word in enumerate(words):
            before = words[number - 1] if number else ""
            flag, equals, value = word.partition("=")
            if number and _is_flag(before) and "=" not in before and not word.startswith("-"):
                hidden.append(self._learn(word))
            elif equals and value and _is_flag(flag):
                hidden.append(f"{flag}={self._learn(value)}")
            else:
                hidden.append(self.text(word))
        return hidden

    def _learn(self, value: str) -> str:
        """A secret from the command line: it may turn up in the output and in locals."""
        if len(value) >= SHORTEST:
            self.values.append(value)
        return self.hide(value)

    def text(self, text: str) -> str:
        """Any text, without the values that are secret."""
        for value in self.values:
            if value in text:
                text = text.replace(value, self.hide(value))
        if "://" not in text:  # nearly always
            return text
        return re.sub(_IN_URL, lambda found: f"{found[1]}:{self.hide(found[2])}", text)

    def deep(self, value: Any) -> Any:
        """Texts anywhere inside a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.deep(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.deep(item) for item in value]
        return value

    def hide(self, value: str) -> str:
        """`<secret 3fa9c2d1>`: equal values of one store have equal hashes."""
        return f"<secret {digest(self._salt + value, 4)}>"

    def reveal(self, text: str) -> str:
        """Put secrets back that the environment holds now as it did then."""
        for value in self.values:
            text = text.replace(self.hide(value), value)
        return text

    def _is_secret(self, name: str) -> bool:
        return name in self._names or is_secret_variable(name)


def is_masked(text: str) -> bool:
    """Whether a stored text had a secret taken out."""
    return re.search(_MASKED, text) is not None


def _is_flag(word: str) -> bool:
    """Whether what follows it is a secret."""
    return word.startswith("-") and re.match(_FLAG, word) is not None
