"""What there is to complete, read off the parsers of the command line."""

from __future__ import annotations

from zeroin.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

COMMANDS = ("zeroin", "zin")
ATTEMPTS = ("last", "last-failed", "last-passed")
KINDS = ("file", "dir", "command", "attempt", "word")
GLOBAL = {"--help": "what zeroin can do", "--version": "which zeroin this is"}


class Option(NamedTuple):
    """One option: how it is spelled, and what its value is."""

    flags: tuple[str, ...]
    takes: str | None = None  # "file", "dir", "command", "word"; None for a switch
    choices: tuple[str, ...] = ()
    help: str = ""
    repeats: bool = False


class Verb(NamedTuple):
    """One verb; `positional` is one of KINDS, or the words to choose from, or ""."""

    name: str
    help: str
    options: list[Option]
    positional: str = ""


def verbs_of(parsers: Mapping[str, argparse.ArgumentParser]) -> dict[str, Verb]:
    """Read the verbs off their parsers."""
    return {name: _verb(name, parser) for name, parser in parsers.items()}


def _verb(name: str, parser: argparse.ArgumentParser) -> Verb:
    options: list[Option] = []
    positional = ""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to ask
        text = _help(action, parser.prog)
        if text is None:
            continue
        choices = tuple(map(str, action.choices or ()))
        kind = _kind(action)
        if not action.option_strings:
            positional = positional or " ".join(choices) or kind
        elif action.nargs == 0:
            options.append(Option(tuple(action.option_strings), help=text))
        else:
            if kind == "attempt":
                kind, choices = "word", ATTEMPTS
            repeats = type(action).__name__ in ("_AppendAction", "_ExtendAction")
            options.append(Option(tuple(action.option_strings), kind, choices, text, repeats))
    return Verb(name, (parser.description or "").strip().partition("\n")[0], options, positional)


def _help(action: argparse.Action, prog: str) -> str | None:
    """Give an action's help in one line; None for one that is hidden."""
    if action.help == "==SUPPRESS==":
        return None
    return " ".join(((action.help or "") % {**vars(action), "prog": prog}).split())


def _kind(action: argparse.Action) -> str:
    """Tell from what the help calls it what a value is."""
    shown = action.metavar if isinstance(action.metavar, str) else action.dest
    name = shown.strip("[].… ").upper()
    if (action.help or "").startswith("attempt") or name.startswith("ATTEMPT"):
        return "attempt"
    if name in ("CMD", "COMMAND"):
        return "command"
    if name.endswith(("FILE", "PATH")):
        return "file"
    return "dir" if name.endswith(("DIR", "FOLDER")) else "word"


def flags(options: Iterable[Option], *, valued: bool = False) -> list[str]:
    """Give every spelling, or those that take a value."""
    return [flag for o in options if o.takes or not valued for flag in o.flags]


def words_of(positional: str) -> Sequence[str]:
    """Give the words that can be listed in advance for a positional argument."""
    if positional == "attempt":
        return ATTEMPTS
    return () if positional in KINDS else positional.split()


def header(shell: str, folder: str, files: str, note: str = "") -> str:
    """Say in the file itself how it gets where the shell looks for it."""
    return (
        f"# {shell} completion for zeroin and zin, made by `zeroin completion {shell}`.\n"
        f"# To have it in every new shell{note}:\n"
        f"#   mkdir -p {folder}\n"
        f"#   zeroin completion {shell} | tee {folder}/{files} >/dev/null\n"
    )


def filled(template: str, parts: Mapping[str, str]) -> str:
    """Put the parts where their marks are."""
    for mark, text in parts.items():
        template = template.replace(mark, text)
    return template
