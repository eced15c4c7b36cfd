"""The completion file for zsh."""

from __future__ import annotations

import shlex

from zeroin.fronts.completion.verbs import (
    ATTEMPTS,
    COMMANDS,
    GLOBAL,
    KINDS,
    filled,
    header,
    words_of,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.completion.verbs import Option, Verb

TEMPLATE = r"""
_zeroin() {
    local -a verbs=(
@VERBS@
    )
    if (( CURRENT == 2 )); then
        _describe -t verbs verb verbs
        _arguments : @GLOBAL@
        return
    fi
    local verb=$words[2]
    shift words
    (( CURRENT -= 1 ))
    case $verb in
@TABLE@
    esac
}

if [[ $funcstack[1] == _zeroin ]]; then
    _zeroin "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _zeroin @COMMANDS@
fi
"""
VALUES = {
    "file": "_files",
    "dir": "_files -/",
    "command": "_command_names -e",
    "word": " ",
    "attempt": f"({' '.join(ATTEMPTS)})",
}


def write(verbs: list[Verb]) -> str:
    """Give the whole file."""
    table = []
    for verb in verbs:
        specs = [spec for option in verb.options for spec in _option(option)]
        specs += _positional(verb.positional)
        before = "-A '-*' " if verb.positional == "command" else ""
        lines = " \\\n".join(f"                {shlex.quote(spec)}" for spec in specs)
        table.append(f"        {verb.name})\n            _arguments -S {before}: \\\n{lines} ;;")
    parts = {
        "@VERBS@": "\n".join(f"        {shlex.quote(f'{v.name}:{v.help}')}" for v in verbs),
        "@GLOBAL@": " ".join(shlex.quote(f"{flag}[{text}]") for flag, text in GLOBAL.items()),
        "@TABLE@": "\n".join(table),
        "@COMMANDS@": " ".join(COMMANDS),
    }
    note = " (with fpath+=~/.zfunc before compinit in ~/.zshrc)"
    where = header("zsh", "~/.zfunc", "_zeroin", note)
    return f"#compdef {' '.join(COMMANDS)}\n" + where + filled(TEMPLATE, parts)


def _text(text: str) -> str:
    """Protect what _arguments reads as its own."""
    return "".join(f"\\{letter}" if letter in "\\[]:" else letter for letter in text)


def _option(option: Option) -> list[str]:
    """Write a spec for each spelling; one excludes the others, unless it may be repeated."""
    before = "*" if option.repeats else f"({' '.join(option.flags)})"
    after = ""
    if option.takes:
        name = _text(option.flags[0].lstrip("-"))
        action = f"({' '.join(option.choices)})" if option.choices else VALUES[option.takes]
        after = f":{name}:{action}"
    specs = []
    for flag in option.flags:
        joined = "" if not option.takes else "=" if flag.startswith("--") else "+"
        specs.append(f"{before}{flag}{joined}[{_text(option.help)}]{after}")
    return specs


def _positional(positional: str) -> list[str]:
    if positional == "command":
        return ["(-)1:command:_command_names -e", "*::arguments:_normal"]
    if not positional:
        return []
    words = words_of(positional)
    action = f"({' '.join(words)})" if words else VALUES[positional]
    return [f"*:{positional if positional in KINDS else 'word'}:{action}"]
