"""The command line: the first word picks the verb, and only that verb's code is loaded."""

from __future__ import annotations

import sys

from zeroin import __version__
from zeroin.interrupts import end_quietly_at_interrupt, raise_at_interrupt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# verb → what it is for, in the order of the help.
VERBS = {
    "run": "run a command and keep what happened",
    "limit": "run a command with little disk, memory, files, network, ...",
    "loop": "run again at each save, from where the edit makes a difference",
    "shrink": "the smallest payload that still fails the same way",
    "bisect": "the one change that broke it",
    "tiny": "a small file of a large one, that shows every kind of value",
    "fake": "made-up rows and arrays of a schema",
    "again": "run an earlier attempt once more",
    "log": "list attempts, the newest first",
    "show": "one attempt: traceback with locals, output, environment",
    "diff": "what differs between two attempts",
    "why": "what killed it, with the evidence; or what it was not",
    "files": "which file, socket or permission failed, and on which line",
    "stacks": "where it is stuck: all processes and threads, the odd one out first",
    "watch": "processes, GPUs, disks or a command's output, live",
    "which": "the file, class or method that a name really is, and other copies",
    "shapes": "the source with the shapes that were seen beside each assignment",
    "nan": "the first operation that made NaN or inf, forward or backward",
    "leak": "does it grow with each repetition, and who holds it",
    "trust": "agree to settings and a record that came with a project's files",
    "gc": "keep the record below a size",
    "doctor": "what works on this machine, and how to mend what does not",
    "completion": "print completions for bash, zsh or fish",
}


OLDEST = (3, 11)  # Python that the command runs on; the library runs on older ones


def enter() -> NoReturn:
    """The command itself: run, and leave at once.

    Python would take milliseconds to tidy up what the kernel frees anyway.
    """
    end_quietly_at_interrupt()
    if sys.version_info < OLDEST:
        sys.exit(_too_old())
    import gc
    import os

    gc.disable()
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code)


def main(argv: list[str] | None = None) -> int:
    """Run one verb; turn every error into one message and the right exit code."""
    args = sys.argv[1:] if argv is None else argv
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _open_closed()
    word = args[0] if args else "--help"
    if word in ("--version", "-V"):
        sys.stdout.write(f"zeroin {__version__}\n")
        return 0
    if word in ("--help", "-h", "help"):
        return _help(args[1:])
    if word == "stacks":
        from zeroin.observe import spies

        spies.begin(args[1:])
    from zeroin.fronts.cli import boundary

    def run_verb() -> int:
        verb = _verb(word)
        # Not while modules are loaded: Python drops an exception that comes up in a callback there.
        raise_at_interrupt()
        return int(verb.main(args[1:]))

    return boundary.guard(run_verb, args)


def _too_old() -> int:
    here = "{}.{}".format(*sys.version_info)
    sys.stderr.write(
        f"zeroin: the command needs Python 3.11 or newer, and this is {here}\n"
        "  it need not be the program's own: uvx zeroin run -- python train.py\n"
        "  the library works here: from zeroin import peek, section, log\n"
    )
    return 2


def _open_closed() -> None:
    """Closed standard streams (`>&-`): what we open next must not land in their place."""
    import os

    while os.open(os.devnull, os.O_RDWR) < 3:
        pass
    sys.stdin = sys.stdin or open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115


def _verb(word: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a module with `main`
    if word not in VERBS:
        from zeroin.errors import UsageError

        said = f"there is no verb {word!r}"
        if word.startswith("-") and word != "--":
            said = f"there is no option {word!r}"
        raise UsageError(said, hint=_nearest(word))
    name = f"zeroin.fronts.cli.{word}"
    __import__(name)  # `importlib` would have to be loaded for it
    return sys.modules[name]


def _nearest(word: str) -> str:
    if word == "--" or "/" in word or word.endswith(".py") or word.startswith("python"):
        return "to run a command: zeroin run -- COMMAND"
    from difflib import get_close_matches

    near = get_close_matches(word, [*VERBS, "--help", "--version"], 1)
    return f"did you mean: zeroin {near[0]}" if near else "see: zeroin --help"


def _help(rest: list[str]) -> int:
    if rest and not rest[0].startswith("-"):
        from zeroin.fronts.cli import boundary

        own = [one for one in rest[1:2] if not one.startswith("-")]  # bisect commits
        return boundary.guard(lambda: _verb(rest[0]).main([*own, "--help"]), rest)
    lines = [
        "zeroin: from 'it crashed after ten minutes' to a small repro, and what broke it.",
        "",
        "usage: zeroin VERB ...      (zin is the same)",
        "",
        *(f"  {name:<11} {text}" for name, text in VERBS.items()),
        "",
        "Begin with:  zeroin run -- python train.py",
        "Then:        zeroin show last       what failed, with the values in each frame",
        "             zeroin VERB -h         every verb has examples; --help: all options",
    ]
    from zeroin.fronts.words import put

    for line in lines:
        put(line)
    return 0
