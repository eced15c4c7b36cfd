"""What shrinking is measured on: failures planted in data, in a module and in a package."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import shutil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Case(NamedTuple):
    """What is to be made smaller."""

    kind: str
    name: str
    make: Callable[[str], None]


def size_of(path: str) -> int:
    """Bytes of a file, or of all that lie below a folder."""
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(
        os.path.getsize(os.path.join(folder, name))
        for folder, _, names in os.walk(path)
        for name in names
        if not folder.endswith("__pycache__")
    )


def _rows(path: str) -> None:
    drawn = random.Random(1)
    with open(path, "w", encoding="utf-8") as file:
        for number in range(5000):
            row = {"id": number, "price": number / 7, "name": f"thing {number}", "text": "x" * 90}
            if number == 1234:
                row["price"] = 10_000.5
            row["tags"] = [drawn.choice("abcdef") for _ in range(4)]
            file.write(json.dumps(row) + "\n")


def _nested(path: str) -> None:
    drawn = random.Random(2)

    def some(depth: int) -> object:
        if not depth:
            return drawn.choice([1, 2.5, None, True, "text", [1, 2, 3]])
        return {f"k{drawn.randrange(1000)}": some(depth - 1) for _ in range(4)}

    shops = {str(n): {"open": n % 3 == 2, "stock": some(2)} for n in range(40)}
    limits = {"strict": True, "other": some(3)}
    data = {
        "version": 1,
        "regions": {"south": some(4), "north": {"shops": shops, "notes": some(3)}, "east": some(4)},
        "settings": {"limits": limits, "more": some(4)},
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=2)


def _table(path: str) -> None:
    drawn = random.Random(3)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([f"column{n}" for n in range(30)])
    for number in range(20_000):
        row = [str(drawn.randrange(10**6)) for _ in range(30)]
        if number == 13_131:
            row[17] = "n/a"
        writer.writerow(row)
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(out.getvalue())


def _module(path: str) -> None:
    """A real one, of more than 2,000 lines."""
    shutil.copy(argparse.__file__, path)
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n\ndef added():\n    try:\n        return 1\n    finally:\n        print()\n")


def _package(path: str) -> None:
    drawn = random.Random(4)
    os.makedirs(path)
    with open(os.path.join(path, "__init__.py"), "w", encoding="utf-8") as file:
        file.write('"""A package."""\n')
    for number in range(200):
        lines = [f"VALUE = {number}", "", "", "def double(x):", "    return 2 * x", ""]
        if number % 3 == 0 and number:
            lines.insert(0, f"from . import part{drawn.randrange(number)} as other")
        with open(os.path.join(path, f"part{number}.py"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines * drawn.randrange(1, 8)))
    with open(os.path.join(path, "start.py"), "w", encoding="utf-8") as file:
        file.write(
            "from . import part7, part21, part33\n\n\ndef run():\n"
            "    return part21.VALUE * 2 if part7.VALUE else part33.VALUE\n"
        )


def _document(path: str) -> None:
    drawn = random.Random(5)

    def items(depth: int) -> str:
        name = drawn.choice(["item", "group", "section"])
        inner = "".join(items(depth - 1) for _ in range(5)) if depth else "some text &amp; more"
        return f'<{name} id="n{drawn.randrange(10**6)}" lang="en">\n{inner}\n</{name}>'

    text = "".join(items(4) for _ in range(4))
    planted = '<section><reference to="nowhere" x="1"><note>see</note>text</reference></section>'
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<?xml version="1.0"?>\n<book>{text}{planted}{items(3)}</book>\n')


CASES = (
    Case("rows", "rows.jsonl", _rows),
    Case("nested", "nested.json", _nested),
    Case("table", "table.csv", _table),
    Case("module", "module.py", _module),
    Case("package", "pkg", _package),
    Case("document", "document.xml", _document),
)
