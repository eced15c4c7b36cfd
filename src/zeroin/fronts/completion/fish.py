"""The completion file for fish."""

from __future__ import annotations

from zeroin.fronts.completion.verbs import ATTEMPTS, GLOBAL, filled, flags, header, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.completion.verbs import Option, Verb

TEMPLATE = r"""
# Prints where the wrapped command begins among the words before the cursor; fails before it.
function __zeroin_start
    set -l words (commandline -opc)
    set -l takes
    switch "$words[2]"
@TAKES@
        case '*'
            return 1
    end
    set -l i 3
    while test $i -le (count $words)
        set -l word $words[$i]
        if test "$word" = --
            math $i + 1
            return 0
        else if contains -- $word $takes
            set i (math $i + 2)
        else if string match -q -- '-*' $word
            set i (math $i + 1)
        else
            echo $i
            return 0
        end
    end
    return 1
end

# Completes the wrapped command as if it stood alone.
function __zeroin_wrapped
    set -l words (commandline -opc)
    set -l start (__zeroin_start)
    set -l line
    if test "$start" -le (count $words)
        set line (string escape -- $words[$start..-1])
    end
    set -a line (commandline -ct)
    complete --do-complete=(string join ' ' -- $line)
end

function __zeroin_first
    test (count (commandline -opc)) -eq 1
end

function __zeroin_in -a verb
    set -l words (commandline -opc)
    test "$words[2]" = "$verb"; and not __zeroin_start >/dev/null
end

complete -c zeroin -f
complete -c zeroin -n '__zeroin_start >/dev/null' -x -a '(__zeroin_wrapped)'
@LINES@
complete -c zin -w zeroin
"""
VALUES = {
    "file": "-r -F",
    "dir": "-x -a '(__fish_complete_directories)'",
    "command": "-x -a '(__fish_complete_command)'",
    "word": "-x",
    "attempt": f"-x -a '{' '.join(ATTEMPTS)}'",
}


def write(verbs: list[Verb]) -> str:
    """Give the whole file."""
    lines = [
        f"complete -c zeroin -n __zeroin_first -a {v.name} -d {_quoted(v.help)}" for v in verbs
    ]
    for flag, text in GLOBAL.items():
        name = f"-l {flag[2:]} -d {_quoted(text)}"
        lines.append(f"complete -c zeroin -n __zeroin_first {name}")
    for verb in verbs:
        inside = f"complete -c zeroin -n '__zeroin_in {verb.name}'"
        lines += [f"{inside} {_option(option)}" for option in verb.options]
        if verb.positional:
            lines.append(f"{inside} {_positional(verb.positional)}")
    takes = [
        f"        case {v.name}\n            set takes {' '.join(flags(v.options, valued=True))}"
        for v in verbs
        if v.positional == "command"
    ]
    where = header("fish", "~/.config/fish/completions", "{zeroin,zin}.fish")
    parts = {"@TAKES@": "\n".join(takes), "@LINES@": "\n".join(lines)}
    return where + filled(TEMPLATE, parts)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _option(option: Option) -> str:
    flags = [f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}" for f in option.flags]
    if option.choices:
        flags.append(f"-x -a '{' '.join(option.choices)}'")
    elif option.takes:
        flags.append(VALUES[option.takes])
    return " ".join([*flags, "-d", _quoted(option.help)])


def _positional(positional: str) -> str:
    if positional == "command":
        return "-a '(complete --do-complete=(commandline -ct))'"
    words = words_of(positional)
    if words:
        return f"-a '{' '.join(words)}'"
    return "-F" if positional == "file" else VALUES[positional].removeprefix("-x ")
