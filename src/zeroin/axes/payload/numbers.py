"""Numbers that are simpler than a given one, the simplest first."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(-?)(\d+)(\.\d+)?([eE][-+]?\d+)?")
SMALL = ("0", "1", "2")


def simpler_numbers(text: str) -> list[str]:
    """0, 1, 2, then without sign, exponent and fraction, then with zeros behind the first digit.

    A float stays one until nothing simpler is found: then it may be a whole number.
    Empty for what is no number, and for 0.
    """
    found = _NUMBER.fullmatch(text)
    if found is None:
        return []
    sign, whole, fraction, exponent = (part or "" for part in found.groups())
    whole = whole.lstrip("0") or "0"
    point = ".0" if fraction or exponent else ""
    ideas = [small + point for small in SMALL]
    if sign:
        ideas += [f"-1{point}", whole + fraction + exponent]
    if exponent:
        ideas.append(sign + whole + (fraction or ".0"))
    if fraction and fraction.strip(".0"):
        ideas += [f"{sign}{whole}.0", f"{sign}{whole}{fraction[:2]}"]
    if len(whole) > 1:
        zeros = "0" * (len(whole) - 1)
        ideas += [f"{sign}1{zeros}{point}", f"{sign}{whole[0]}{zeros}{point}"]
    if fraction == ".0" and not exponent:
        ideas.append(sign + whole)
    return [one for one in dict.fromkeys(ideas) if _cost(one) < _cost(text)]


def _cost(text: str) -> tuple[int, int, float]:
    """Few digits that are not zero, then few characters, then small."""
    digits = sum(one in "123456789" for one in text)
    return digits, len(text), abs(float(text)) if len(text) < 300 else float("inf")
