"""`zeroin shapes`."""

from __future__ import annotations

import os
import sys

from zeroin.errors import NO, UsageError
from zeroin.fronts.cli.options import add_json, here, split_command
from zeroin.fronts.cli.parsing import Parser
from zeroin.fronts.cli.run import add_cycle_options, cycle_of, end_like
from zeroin.fronts.words import Paint, put, put_json
from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from zeroin.tools.shapes import Asked, Change, Checked, ShapesReport

NEEDS_COMMAND = False  # a script will do
EXAMPLES = """\
  zeroin shapes train.py                       run it, show the source with the shapes seen
  zeroin shapes train.py --func Model.forward  of one function, wherever it is defined
  zeroin shapes train.py data.csv              what is no option of ours goes to the script
  zeroin shapes model.py -- python train.py --data x
  zeroin shapes model.py -- pytest tests/test_model.py
  zeroin shapes train.py --write               put them into the files, as comments
  zeroin shapes train.py --diff                what that would write
  zeroin shapes train.py --check               do the comments still hold?
  zeroin shapes --remove model.py train.py     take them out again
"""


def parser() -> Parser:
    """All options of `shapes`."""
    p = Parser(
        "shapes",
        "Run once, and show the source with the shapes of tensors, arrays, tables and lists\n"
        "beside each assignment. Looked at are the files named before --, else the script and\n"
        "your own modules that it loads. The program's output goes to stderr, ours to stdout.\n"
        "The exit code is the command's own; with --check 1 if a comment no longer holds.",
        "[options] SCRIPT [ARGS ...]   or   FILE ... -- COMMAND ...",
        EXAMPLES,
    )
    add = p.add_argument
    add(
        "--func",
        action="append",
        default=[],
        metavar="NAME",
        help="only functions of that name, also of libraries: forward, Model.forward, "
        "torch.nn.Linear.forward; repeatable",
    )
    add("--write", action="store_true", help="write the shapes into the files, as comments")
    add("--diff", action="store_true", help="show what --write, or --remove, would change")
    add("--check", action="store_true", help="compare the comments with what is seen now")
    add(
        "--exact",
        action="store_true",
        help="with --check: all sizes, of dimensions with a name as well",
    )
    add("--remove", action="store_true", help="take the comments out of files; runs nothing")
    add_cycle_options(p)
    add("--no-record", action="store_true", help="run and show, but keep nothing")
    add_json(p)
    add("words", nargs="*", help="a script and its arguments, or files to look at, before --")
    return p


class _Given(NamedTuple):
    options: argparse.Namespace
    files: list[str]  # that were named to be looked at
    script: str
    command: list[str]


def main(args: list[str]) -> int:
    """Run, show, end as the command ended."""
    given = _read(args)
    if given.options.remove:
        return _remove(given.files, given.options)
    from zeroin.tools.run import Options
    from zeroin.tools.shapes import shapes

    asked = _asked(given)
    options = Options(record=not given.options.no_record, targets=(2, 2))
    report = shapes(cycle_of(given.options, given.command), options, os.environ, asked)
    return _tell(report, given.options)


# --- the command line ---------------------------------------------------------------------------


def _read(args: list[str]) -> _Given:
    own, command = split_command(args)
    known = parser()
    if "--exact" in own and "--check" not in own:
        raise UsageError("--exact goes with --check")
    if "--check" in own and ("--write" in own or "--diff" in own):
        raise UsageError("--check compares the comments as they are: leave out --write and --diff")
    if "--remove" in own and any(one.partition("=")[0] == "--func" for one in own):
        raise UsageError("--remove takes out all comments of a file: leave out --func")
    if command:
        options = known.parse_args(own)
        if not options.words and not options.func:
            raise UsageError(
                "which files shall be looked at? name them before the --",
                hint=f"zeroin shapes model.py -- {' '.join(command)}",
            )
        return _Given(options, options.words, "", command)
    ours, words = _apart(own, known)
    options = known.parse_args(ours)
    if not words:
        raise UsageError("which script?", hint="zeroin shapes train.py")
    if options.remove:
        return _Given(options, words, "", [])
    script = words[0]
    if not os.path.isfile(os.path.join(options.cwd or "", script)):
        is_command = not script.endswith(".py")
        hint = f"to run a command: zeroin shapes FILE -- {' '.join(words)}" if is_command else ""
        raise UsageError(f"{script}: no such script", hint=hint)
    return _Given(options, [], script, [*_python(script, options), *words])


def _apart(args: list[str], known: Parser) -> tuple[list[str], list[str]]:
    """Options of ours, wherever they stand; the rest is the script's, in its order."""
    takes = {
        flag: action.nargs is None
        for action in known._actions  # noqa: SLF001 - argparse has no other way to ask
        for flag in action.option_strings
    }
    ours: list[str] = []
    words: list[str] = []
    at = 0
    while at < len(args):
        flag = args[at].partition("=")[0]
        if flag in takes or (not words and args[at].startswith("-")):
            count = 2 if takes.get(flag) and "=" not in args[at] else 1
            ours += args[at : at + count]
            at += count
        else:
            words.append(args[at])
            at += 1
    return ours, words


def _python(script: str, options: argparse.Namespace) -> list[str]:
    from zeroin.run import interpreter

    cwd = os.path.abspath(os.path.join(here(), options.cwd or ""))
    return [interpreter.of((script,), cwd, os.environ).executable]


def _asked(given: _Given) -> Asked:
    from zeroin.tools.shapes import Asked

    cwd = os.path.abspath(os.path.join(here(), given.options.cwd or ""))
    files = []
    for name in given.files:
        full = os.path.realpath(os.path.join(here(), name))
        if not os.path.isfile(full):
            raise UsageError(f"{name}: no such file to look at")
        files.append(full)
    first = os.path.realpath(os.path.join(cwd, given.script)) if given.script else ""
    return Asked(tuple(files), tuple(given.options.func), first)


# --- what is said -------------------------------------------------------------------------------


def _tell(report: ShapesReport, options: argparse.Namespace) -> int:
    from zeroin.fronts import report_text, shapes_text
    from zeroin.tools import shapes as tool

    changes: list[Change] = []
    if options.write or options.diff:
        changes = tool.changes(report, os.path.join(here(), options.cwd or ""))
    found = tool.check(report, exact=options.exact) if options.check else None
    writes = options.write and not options.diff
    for change in changes if writes else ():
        tool.write(change)
    if options.json:
        written = [change.path for change in changes] if writes else []
        put_json(shapes_text.as_json(report, found, written))
        return _end(report, found)
    paint = Paint(sys.stderr)
    left = shapes_text.left_alone(report) if options.write or options.diff else []
    for line in [*report_text.run(report.run, paint), *shapes_text.about(report), *left]:
        put(line, sys.stderr)
    sys.stderr.flush()
    for line in _answer(report, options, changes, found):
        put(line)
    return _end(report, found)


def _end(report: ShapesReport, found: list[Checked] | None) -> int:
    if not report.run.outcome.failed and found and any(one.broken for one in found):
        return NO
    return end_like(report.run)


def _answer(
    report: ShapesReport,
    options: argparse.Namespace,
    changes: list[Change],
    found: list[Checked] | None,
) -> list[str]:
    from zeroin.fronts import shapes_text

    paint = Paint(sys.stdout)
    if found is not None:
        return shapes_text.checked(found, paint)
    if options.diff:
        return [line for one in changes for line in shapes_text.diff(one)]
    if not any(source.entries() for source in report.sources) and not report.failed:
        return ["no tensors, arrays, tables or lists were seen in what was looked at"]
    if options.write:
        return [shapes_text.wrote(one) for one in changes] or [shapes_text.nothing_written(report)]
    return shapes_text.lines(report, paint)


def _remove(files: list[str], options: argparse.Namespace) -> int:
    from zeroin.fronts import shapes_text
    from zeroin.tools import shapes as tool

    changes = [tool.removed(path) for path in files]
    for change in changes:
        if options.diff:
            for line in shapes_text.diff(change):
                put(line)
            continue
        if change.old != change.new:
            tool.write(change)
        put(shapes_text.wrote(change))
    return 0
