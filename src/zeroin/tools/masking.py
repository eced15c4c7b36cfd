"""Keeping secrets out of what is stored, while "it changed" stays answerable."""

from __future__ import annotations

import re

from zeroin.common import secrets
from zeroin.common.secrets import SHORTEST, is_secret, is_secret_variable, of_environment
from zeroin.digest import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_MASKED = r"<secret(?: [0-9a-f]{8})?>"  # compiled when it is first needed: most have no secret


class Mask:
    """Masks with one store's salt."""

    def __init__(self, salt: str, environ: Mapping[str, str], names: Sequence[str] = ()) -> None:
        self._salt = salt
        self._names = frozenset(names)
        self.values = [*of_environment(environ), *(environ[n] for n in names if environ.get(n))]

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """Every variable, with secret ones as a name plus a salted hash."""
        return {
            name: self.hide(value) if value and self._is_secret(name, value) else self.text(value)
            for name, value in env.items()
        }

    def command(self, words: Sequence[str]) -> list[str]:
        """The words of a command, without secrets: by flag, by tool, by form, and known ones."""
        return [self.text(word) for word in secrets.mask_words(words, self._learn)]

    def _learn(self, value: str) -> str:
        """A secret from the command line: it may turn up in the output and in locals."""
        if len(value) >= SHORTEST and value not in self.values:
            self.values.append(value)
        return self.hide(value)

    def text(self, text: str) -> str:
        """Any text, without the values that are secret."""
        for value in self.values:
            if value in text:
                text = text.replace(value, self.hide(value))
        return secrets.mask_found(text, self.hide)

    def deep(self, value: Any) -> Any:
        """Texts anywhere inside a JSON value."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.deep(key): self.deep(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
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

    def _is_secret(self, name: str, value: str) -> bool:
        return name in self._names or is_secret_variable(name) or is_secret(name, value)


def is_masked(text: str) -> bool:
    """Whether a stored text had a secret taken out."""
    return re.search(_MASKED, text) is not None
