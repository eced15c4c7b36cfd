"""Count how often the driver goes from one of its files to another while a verb runs.

    .venv/bin/python scripts/count_switches.py run -- python -c pass
    .venv/bin/python scripts/count_switches.py loop --once -- python script.py

A reader who follows a verb turns as many pages. Printed are the files and functions that were
called, and the pairs of a function and one in another file that it calls, each counted once: an
event loop that runs longer is no longer to read. With --list, also where they go.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import zeroin
from zeroin.fronts import cli

if TYPE_CHECKING:
    from types import CodeType, FrameType

HERE = str(Path(zeroin.__file__).parent)


class SwitchCounter:
    """A profile function that counts calls among the files of the driver."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[CodeType] = set()
        self._pairs: set[tuple[CodeType, CodeType]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Take a call."""
        file = frame.f_code.co_filename
        if event != "call" or not file.startswith(HERE) or frame.f_code.co_name == "<module>":
            return
        self.files.add(file)
        self.functions.add(frame.f_code)
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(HERE):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != file:
            self._pairs.add((caller.f_code, frame.f_code))

    def count_switches(self) -> Counter[tuple[str, str]]:
        """How many calls lead from one file into another."""
        return Counter((old.co_filename, new.co_filename) for old, new in self._pairs)


def main() -> int:
    """Run the verb, and tell."""
    words = sys.argv[1:]
    is_listed = "--list" in words[:1]
    counter = SwitchCounter()
    sys.setprofile(counter)
    try:
        code = cli.main(words[is_listed:])
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.setprofile(None)
    switches = counter.count_switches()
    if is_listed:
        for (old, new), times in switches.most_common():
            print(f"{times:6} {old[len(HERE) + 1 :]} → {new[len(HERE) + 1 :]}", file=sys.stderr)
    print(
        f"{len(counter.files)} files, {len(counter.functions)} functions, "
        f"{switches.total()} calls from one file into another "
        f"({len(switches)} pairs of files)",
        file=sys.stderr,
    )
    return code


if __name__ == "__main__":
    sys.exit(main())
