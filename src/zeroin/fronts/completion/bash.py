"""The completion file for bash."""

from __future__ import annotations

from zeroin.fronts.completion.verbs import ATTEMPTS, COMMANDS, GLOBAL, filled, flags, header

TYPE_CHECKING = False
if TYPE_CHECKING:
    from zeroin.fronts.completion.verbs import Verb

# bash cuts words at = and : as well, so `--env K=V` is four of them; `__zeroin_end` finds
# where such a word ends.
TEMPLATE = r"""
__zeroin_end() { # sets i to the index after the word that begins at $1
    i=$1
    while [[ ${COMP_WORDS[i+1]} == [=:]* ]]; do ((i += 2)); done
    ((i += 1))
}

__zeroin_words() {
    COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

__zeroin_fill() { # completes a value of kind $1
    local IFS=$'\n'
    case $1 in
        file) compopt -o default 2>/dev/null || COMPREPLY=($(compgen -f -- "$cur")) ;;
        dir) compopt -o dirnames 2>/dev/null || COMPREPLY=($(compgen -d -- "$cur")) ;;
        command) COMPREPLY=($(compgen -c -- "$cur")) ;;
        attempt) IFS=' ' __zeroin_words '@ATTEMPTS@' ;;
        word) ;;
        *) IFS=$' \t\n' __zeroin_words "$1" ;;
    esac
}

__zeroin_wrapped() { # completes the command that begins at word $1, as if it stood alone
    if declare -F _comp_command_offset >/dev/null; then _comp_command_offset "$1"; return; fi
    if declare -F _command_offset >/dev/null; then _command_offset "$1"; return; fi
    local IFS=$' \t\n' command function= spec k
    local -a parts
    if ((COMP_CWORD <= $1)); then
        IFS=$'\n'
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen -c -d -- "$cur"))
        return
    fi
    for ((k = 0; k < $1; k++)); do
        COMP_LINE=${COMP_LINE#*"${COMP_WORDS[k]}"}
    done
    COMP_LINE=${COMP_LINE#"${COMP_LINE%%[![:space:]]*}"}
    COMP_POINT=${#COMP_LINE}
    COMP_WORDS=("${COMP_WORDS[@]:$1}")
    ((COMP_CWORD -= $1))
    command=${COMP_WORDS[0]}
    spec=$(complete -p -- "$command" 2>/dev/null || complete -p -- "${command##*/}" 2>/dev/null)
    parts=($spec)
    for ((k = 0; k < ${#parts[@]}; k++)); do
        case ${parts[k]} in
            -F) function=${parts[k+1]} ;;
            -o) compopt -o "${parts[k+1]}" 2>/dev/null ;;
        esac
    done
    if [[ -n $function ]]; then
        "$function" "$command" "$cur" "${COMP_WORDS[COMP_CWORD-1]}"
    elif [[ -n $spec ]]; then
        spec=${spec#complete }
        IFS=$'\n' COMPREPLY=($(eval "compgen ${spec% *} -- \"\$cur\""))
    else
        __zeroin_fill file
    fi
}

_zeroin() {
    local cur=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} i=2
    local options positional takes value word
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        __zeroin_words '@VERBS@'
        return
    fi
    case $verb in
@TABLE@
        *) return ;;
    esac
    while ((i < COMP_CWORD)); do
        word=${COMP_WORDS[i]}
        if [[ $word == -- ]]; then
            [[ $positional == command ]] && __zeroin_wrapped $((i + 1))
            return
        elif [[ " $takes " == *" $word "* ]]; then
            [[ ${COMP_WORDS[i+1]} == = ]] && ((i += 1))
            ((i >= COMP_CWORD)) && cur= # the cursor is right after the =
            value=$((i + 1))
            __zeroin_end "$value"
            if ((COMP_CWORD < i)); then # the cursor is in the value; in K=V we know only K
                ((COMP_CWORD > value)) && return
                case "$verb $word" in
@VALUES@
                esac
                return
            fi
        elif [[ $word == -* ]]; then
            ((i += 1))
        elif [[ $positional == command ]]; then
            __zeroin_wrapped "$i"
            return
        else
            __zeroin_end "$i"
        fi
    done
    if [[ $cur == -* ]]; then
        __zeroin_words "$options"
    elif [[ $positional == command ]]; then
        __zeroin_wrapped "$COMP_CWORD"
    elif [[ -n $positional ]]; then
        __zeroin_fill "$positional"
    fi
}

complete -F _zeroin @COMMANDS@
"""


def write(verbs: list[Verb]) -> str:
    """Give the whole file."""
    table, values = [], []
    for verb in verbs:
        fields = {
            "options": flags(verb.options),
            "takes": flags(verb.options, valued=True),
            "positional": [verb.positional],
        }
        settings = " ".join(f"{name}='{' '.join(words)}'" for name, words in fields.items())
        table.append(f"        {verb.name}) {settings} ;;")
        for option in verb.options:
            if option.takes:
                patterns = " | ".join(f"'{verb.name} {flag}'" for flag in option.flags)
                kind = " ".join(option.choices) or option.takes
                values.append(f"                    {patterns}) __zeroin_fill '{kind}' ;;")
    parts = {
        "@ATTEMPTS@": " ".join(ATTEMPTS),
        "@VERBS@": " ".join([*(verb.name for verb in verbs), *GLOBAL]),
        "@TABLE@": "\n".join(table),
        "@VALUES@": "\n".join(values),
        "@COMMANDS@": " ".join(COMMANDS),
    }
    where = header("bash", "~/.local/share/bash-completion/completions", "{zeroin,zin}")
    return where + filled(TEMPLATE, parts)
