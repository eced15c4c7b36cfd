"""Parsers: argparse with our errors, and help with examples."""

from __future__ import annotations

import argparse
import sys

from zeroin.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, NoReturn

WIDTH = 100
SHORT = "-h"
FEW = 5  # examples of the short help
SENTENCE = 40  # columns that the short help of an option needs to be one line


# No translations: looking for them costs milliseconds at each start.
vars(argparse)["_"] = str


def _formatter(prog: str, width: int = WIDTH) -> argparse.HelpFormatter:
    """Argparse asks for one with every option, and measures the terminal each time."""
    return argparse.RawDescriptionHelpFormatter(prog, width=width)


class _ShortFormatter(argparse.RawDescriptionHelpFormatter):
    """One line for each option, where there is room for a sentence."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text, width)
        if len(lines) < 2 or width < SENTENCE:
            return lines
        return [super()._split_lines(text, width - len(" …"))[0].rstrip(",:;.") + " …"]


class UnknownWordsError(UsageError):
    """Options that a verb does not have, or more words than it takes."""


class _Help(argparse.Action):
    """`-h` in short, `--help` in full."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> NoReturn:
        """Tell, and end."""
        del namespace, values
        assert isinstance(parser, Parser)  # noqa: S101 - no other parser has this action
        parser.tell(short=option_string == SHORT)
        parser.exit()


class Parser(argparse.ArgumentParser):
    """Argparse with our errors, two helps, and the examples as they were written."""

    def __init__(self, verb: str, what: str, usage: str, examples: str) -> None:
        super().__init__(
            prog=f"zeroin {verb}",
            usage=f"zeroin {verb} {usage}",
            description=what,
            epilog="examples:\n" + examples.rstrip("\n"),
            formatter_class=_formatter,
            allow_abbrev=False,
            add_help=False,
        )
        self.verb = verb
        self.shared: dict[str, list[argparse.Action]] = {}  # of many verbs; what they are about
        about = "-h: this in short; --help: all options and examples"
        hidden = argparse.SUPPRESS  # it is no value that was given
        self.add_argument(
            SHORT, "--help", action=_Help, nargs=0, dest=hidden, default=hidden, help=about
        )

    def tell(self, *, short: bool) -> None:
        """Write the help, as wide as the terminal is."""
        from zeroin.fronts.words import put, width

        columns = min(WIDTH, width(sys.stdout, WIDTH))
        put(self.format_own(columns, short=short).rstrip("\n"))

    def format_own(self, columns: int, *, short: bool) -> str:
        """Give the help; in short, what is shared with other verbs is only named."""
        formatter = (
            _ShortFormatter(self.prog, width=columns) if short else _formatter(self.prog, columns)
        )
        formatter.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
        formatter.add_text(_filled(self.description or "", columns))
        hidden = {id(one) for found in self.shared.values() for one in found} if short else set()
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_arguments(
                [one for one in group._group_actions if id(one) not in hidden]  # noqa: SLF001
            )
            formatter.end_section()
        formatter.add_text(_named(self.shared, columns) if hidden else "")
        examples = (self.epilog or "").splitlines()
        is_cut = short and len(examples) > len(["examples:", "all in full"]) + FEW
        formatter.add_text("\n".join(examples[: 1 + FEW] if is_cut else examples))
        if hidden or is_cut:
            formatter.add_text(f"all in full: zeroin {self.verb} --help")
        return formatter.format_help()

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Say which words there are, and which of them was probably meant."""
        if action.choices is not None and value not in action.choices:
            name = "/".join(action.option_strings) or self.verb
            words = [str(one) for one in action.choices]
            hint = did_you_mean(str(value), words) or f"one of {', '.join(words)}"
            raise UsageError(f"{name}: there is no {str(value)!r}", hint=hint)

    def error(self, message: str) -> NoReturn:
        """Argparse prints and exits; we have one place for both, and words of our own."""
        import re

        if message.startswith("unrecognized arguments: "):
            raise self._describe_unknown(message.removeprefix("unrecognized arguments: ").split())
        if found := re.fullmatch(r"the following arguments are required: (.+)", message):
            *others, last = found[1].upper().split(", ")
            missing = f"{', '.join(others)} and {last} are" if others else f"{last} is"
            raise UsageError(f"{missing} missing", hint=self._first_usage())
        if found := re.fullmatch(r"argument (\S+?)(?:/\S+)?: (.+)", message, re.DOTALL):
            raise self._describe_value(found[1], found[2])
        raise UsageError(message, hint=self._see_help())

    def _see_help(self) -> str:
        return f"see: zeroin {self.verb} --help"

    def _first_usage(self) -> str:
        return (self.usage or "").splitlines()[0]

    def _describe_unknown(self, rest: list[str]) -> UnknownWordsError:
        """Say which option there is not, and which was probably meant; or which word is too much.

        Values of such an option are in `rest` as well.
        """
        flag = next((word.partition("=")[0] for word in rest if word.startswith("-")), "")
        if flag == "--at":
            return UnknownWordsError(
                f"{self.verb} has no --at: probes go with a plain run",
                hint="zeroin run --at train.py:41 peek=x -- python train.py",
            )
        if not flag:
            return UnknownWordsError(
                f"{self.verb}: {rest[0]!r} is one word too many",
                hint=self._first_usage(),
            )
        flags = [one for action in self._actions for one in action.option_strings]
        near = did_you_mean(f"--{flag.lstrip('-')}", flags) if len(flag) > len("-x") else ""
        return UnknownWordsError(f"{self.verb} has no option {flag}", hint=near or self._see_help())

    def _describe_value(self, name: str, wrong: str) -> UsageError:
        """Say what is wrong with the value of an option or argument."""
        import re

        action = next((one for one in self._actions if name in one.option_strings), None)
        what = action.metavar if action is not None and isinstance(action.metavar, str) else "VALUE"
        if re.fullmatch(r"expected (one|at least one|\d+) arguments?", wrong):
            return UsageError(f"{name} needs a value", hint=f"write {name} {what}")
        if found := re.fullmatch(r"invalid (int|float) value: (.*)", wrong, re.DOTALL):
            kind = "whole number" if found[1] == "int" else "number"
            return UsageError(f"{name} takes a {kind}, not {found[2]}", hint=self._see_help())
        if found := re.fullmatch(r"not allowed with argument (\S+?)(?:/\S+)?", wrong):
            return UsageError(
                f"{found[1]} and {name} don't go together", hint="leave one of them out"
            )
        if wrong.startswith("ignored explicit argument"):
            return UsageError(f"{name} takes no value", hint=f"write {name} alone")
        return UsageError(f"{name}: {wrong}", hint=self._see_help())


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """Give the hint that names the nearest word; "" if none is near."""
    from difflib import get_close_matches

    near = get_close_matches(word, list(words), 1)
    return f"did you mean {near[0]}?" if near else ""


def _filled(text: str, columns: int) -> str:
    """Give a text that was written for a wide terminal, its paragraphs filled anew if it is not."""
    import textwrap

    if max(map(len, text.splitlines()), default=0) <= columns:
        return text
    paragraphs = [
        textwrap.fill(" ".join(one.split()), columns) if one[:1] != " " else one
        for one in text.split("\n\n")
    ]
    return "\n\n".join(paragraphs)


def _named(shared: dict[str, list[argparse.Action]], columns: int) -> str:
    import textwrap

    rows = []
    for about, actions in shared.items():
        flags = " ".join(one.option_strings[0] for one in actions)
        rows += textwrap.wrap(
            f"{about}: {flags}", columns, subsequent_indent="  ", break_on_hyphens=False
        )
    return "\n".join(rows)


def regex(text: str) -> str:
    """For `type=`: a regular expression, as it was given."""
    import re

    try:
        re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}") from None
    return text
