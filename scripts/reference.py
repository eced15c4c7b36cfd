"""Write docs/reference/VERB.md from the parsers, so that it says what `--help` says.

reference.py            write the pages
reference.py --check    write nothing; exit code 1 if a page is missing or stale
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from zeroin.fronts.cli import VERBS

if TYPE_CHECKING:
    from collections.abc import Collection

PAGES = Path(__file__).resolve().parent.parent / "docs" / "reference"
HEAD = "<!-- Made by scripts/reference.py from the parser of this verb: edit that, then run it. -->"

# Where to read on, beside what `--help` says.
SEE = {
    "run": ["exit-codes.md", "json.md#run", "../explain/cycle.md", "../explain/same-failure.md"],
    "limit": ["run.md", "json.md#run", "../howto/limits.md"],
    "loop": ["exit-codes.md", "json.md#loop", "../howto/loop.md"],
    "shrink": ["exit-codes.md", "json.md#shrink", "../howto/shrink.md"],
    "bisect": ["exit-codes.md", "json.md#bisect", "../howto/bisect.md"],
    "tiny": ["json.md#tiny", "../howto/tiny.md"],
    "fake": ["../howto/tiny.md"],
    "again": ["json.md#run", "../howto/old-code.md"],
    "log": ["json.md#log", "../howto/what-changed.md"],
    "show": ["json.md#show", "../howto/values.md", "../howto/colleague.md"],
    "diff": ["json.md#diff", "../howto/what-changed.md"],
    "why": ["json.md#why", "../howto/died.md"],
    "which": ["exit-codes.md", "json.md#which", "../howto/right-file.md"],
    "leak": ["exit-codes.md", "json.md#leak", "../howto/leak.md"],
    "files": ["exit-codes.md", "json.md#files", "../howto/which-file.md"],
    "watch": ["json.md#watch", "exit-codes.md", "../howto/watch.md"],
    "stacks": ["exit-codes.md", "json.md#stacks", "../howto/hangs.md"],
    "shapes": ["exit-codes.md", "json.md#shapes", "../howto/shapes.md"],
    "nan": ["exit-codes.md", "json.md#nan", "../howto/nan.md"],
    "trust": ["config.md", "../explain/security.md"],
    "gc": ["json.md#gc", "config.md", "../howto/record-grows.md"],
    "doctor": ["json.md#doctor"],
    "completion": ["README.md"],
}


def page(verb: str) -> str:
    """Give the whole page of a verb."""
    module = import_module(f"zeroin.fronts.cli.{verb}")
    parts = [f"# zeroin {verb}\n\n{HEAD}", *told(module.parser())]
    for one in getattr(module, "AXES", ()):
        parser = module.axis(one).parser()
        shared = {action.dest for action in module.parser()._actions}  # noqa: SLF001
        parts += [f"## zeroin {verb} {one}", *told(parser, shared, "###")]
    parts.append("See also: " + ", ".join(f"[{name(path)}]({path})" for path in SEE[verb]) + ".")
    return "\n\n".join(part for part in parts if part) + "\n"


def told(
    parser: argparse.ArgumentParser, without: Collection[str] = (), level: str = "##"
) -> list[str]:
    """Say what it is for, how it is called, with what, and give examples."""
    what, _, listed = (parser.description or "").partition("\n\n")
    return [
        sentences(" ".join(what.split())),
        f"```text\n{listed}\n```" if listed else "",
        f"```text\n{(parser.usage or '').strip()}\n```",
        options(parser, without),
        f"{level} Examples\n\n```sh\n{examples(parser.epilog or '')}\n```",
    ]


def sentences(text: str) -> str:
    """Put each sentence on a line of its own."""
    return re.sub(r"(?<=[.:]) (?=[A-Z])", "\n", text)


def options(parser: argparse.ArgumentParser, without: Collection[str]) -> str:
    """Give arguments and options as a table, in the order of the help."""
    rows = ["| argument | |", "| --- | --- |"]
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
        if action.help == argparse.SUPPRESS or "--help" in action.option_strings:
            continue
        if action.dest in without:
            continue
        text = (action.help or "") % {**vars(action), "prog": parser.prog}
        repeats = type(action).__name__ == "_AppendAction"
        if repeats and "repeatable" not in text:
            text += " (repeatable)"
        if action.choices and not action.option_strings:
            text = text or "one of " + ", ".join(map(str, action.choices))
        rows.append(f"| {spelling(action)} | {text.replace('|', chr(92) + '|')} |")
    return "\n".join(rows)


def spelling(action: argparse.Action) -> str:
    """Write `--timeout TIME`, `--quiet`, `-q`, `attempt`."""
    if not action.option_strings:
        return f"`{action.metavar or action.dest}`"
    value = ""
    if action.nargs != 0:
        listed = "{" + ",".join(map(str, action.choices or ())) + "}"
        value = f" {action.metavar or (listed if action.choices else action.dest.upper())}"
    return ", ".join(f"`{flag}{value}`" for flag in action.option_strings)


def examples(epilog: str) -> str:
    """Turn the remarks beside the examples into comments, so that the lines can be pasted."""
    lines = [line.strip() for line in epilog.splitlines() if line.startswith("  ")]
    pairs = [re.fullmatch(r"(.*\S) {2,}(\S.*)", line) for line in lines]
    split = [(m[1], m[2]) if m else (line, "") for m, line in zip(pairs, lines, strict=True)]
    wide = max((len(command) for command, remark in split if remark), default=0)
    return "\n".join(
        f"{command:<{wide}}  # {remark}" if remark else command for command, remark in split
    )


def name(path: str) -> str:
    """Say what a link leads to: the title of the page, and the heading in it."""
    file, _, heading = path.partition("#")
    text = (PAGES / file).read_text(encoding="utf-8") if (PAGES / file).exists() else f"# {file}"
    title = text.partition("\n")[0].removeprefix("# ")
    return f"{title}: {heading}" if heading else title


def main(args: list[str]) -> int:
    """Write the pages, or check them."""
    parser = argparse.ArgumentParser(description="Write docs/reference/VERB.md.")
    parser.add_argument("--check", action="store_true", help="only say which pages are stale")
    given = parser.parse_args(args)
    stale = []
    for verb in VERBS:
        file, text = PAGES / f"{verb}.md", page(verb)
        if file.exists() and file.read_text(encoding="utf-8") == text:
            continue
        stale.append(file.name)
        if not given.check:
            file.write_text(text, encoding="utf-8")
    if not stale:
        return 0
    what = "stale, run scripts/reference.py" if given.check else "written"
    print(f"docs/reference: {what}: {', '.join(stale)}", file=sys.stderr)
    return 1 if given.check else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
