"""Completion in real shells: every verb, every option, and the command that is wrapped."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import time
from pathlib import Path

import pytest

import support
from zeroin.errors import UsageError
from zeroin.fronts.completion import ATTEMPTS, Option, Verb, script, verbs_of

BASH_COMPLETION = support.packages()["bash-completion"]
SHELLS = {
    "bash": ["bash"],
    "bash with bash-completion": ["bash", "bash-completion"],
    "zsh": ["zsh"],
    "fish": ["fish"],
}


def parsers() -> dict[str, argparse.ArgumentParser]:
    """Make parsers as the command line does, with all kinds of values."""
    run = argparse.ArgumentParser(description="Run a command: it's [kept].\nMore.")
    run.add_argument("--env", action="append", metavar="K=V", help="set K: it's 100%% [yours]")
    run.add_argument("--env-file", metavar="FILE", help="read \\variables")
    run.add_argument("--cwd", metavar="DIR", help="run in %(metavar)s")
    run.add_argument("--reset", metavar="CMD", help="run this first")
    run.add_argument("--seed", "-s", type=int, metavar="N", help="seed")
    run.add_argument("--color", choices=["always", "never"], help="colours")
    run.add_argument("--quiet", "-q", action="store_true", help="say nothing")
    run.add_argument("--secret", help=argparse.SUPPRESS)
    run.add_argument("command", nargs="*", help="after --")
    show = argparse.ArgumentParser(description="One attempt")
    show.add_argument("attempt", help="a number, or a name")
    show.add_argument("--json", action="store_true", help="one object")
    diff = argparse.ArgumentParser(description="Two attempts")
    diff.add_argument("a", help="attempt to begin with")
    diff.add_argument("b", help="attempt to end with")
    gc = argparse.ArgumentParser(description="Throw away")
    gc.add_argument("--before", metavar="ATTEMPT", help="all before this one")
    completion = argparse.ArgumentParser(description="Completion")
    completion.add_argument("shell", choices=["bash", "zsh", "fish"])
    names = {"run": run, "show": show, "diff": diff, "gc": gc, "completion": completion}
    others = {
        name: argparse.ArgumentParser(description=name) for name in ("again", "log", "doctor")
    }
    return names | others


class TestVerbsOf:
    """What a parser says is read off it."""

    def test_options(self):
        """Spelling, kind of value, choices and help come from argparse; what is hidden stays so."""
        run = verbs_of(parsers())["run"]
        assert run.help == "Run a command: it's [kept]."
        assert run.positional == "command"
        assert run.options == [
            Option(("-h", "--help"), help="show this help message and exit"),
            Option(("--env",), "word", (), "set K: it's 100% [yours]", repeats=True),
            Option(("--env-file",), "file", (), "read \\variables"),
            Option(("--cwd",), "dir", (), "run in DIR"),
            Option(("--reset",), "command", (), "run this first"),
            Option(("--seed", "-s"), "word", (), "seed"),
            Option(("--color",), "word", ("always", "never"), "colours"),
            Option(("--quiet", "-q"), help="say nothing"),
        ]

    def test_positional(self):
        """Attempts and choices are recognised by what they are called."""
        verbs = verbs_of(parsers())
        assert verbs["show"].positional == "attempt"
        assert verbs["diff"].positional == "attempt"
        assert verbs["completion"].positional == "bash zsh fish"
        assert verbs["doctor"].positional == ""
        assert verbs["gc"].options[-1].choices == ATTEMPTS


def test_unknown_shell():
    """A shell we don't know is the user's mistake, and the message names those we do."""
    with pytest.raises(UsageError, match="bash, zsh, fish"):
        script("csh", {"run": Verb("run", "", [])})


# --- real shells ---------------------------------------------------------------------


class Shell:
    """A shell with our completion file loaded; `complete` gives all that a Tab would offer."""

    def __init__(self, name: str, home: Path, text: str = "") -> None:
        self.name, self.home = name, home
        home.mkdir(exist_ok=True)
        self.out = home / "line"
        self.file = home / f"zeroin.{name.partition(' ')[0]}"
        self.file.write_text(text or script(name.partition(" ")[0], verbs_of(parsers())))
        self.env = support.clean_environment(home / "user")
        self.work = home / "work"
        (self.work / "folder").mkdir(parents=True)
        (self.work / "notes.txt").touch()
        tools = home / "tools"
        tools.mkdir()
        for tool in ("python", "python3", "zeroin", "zin"):
            self.stub(tools / tool, f"touch {home}/was-run")
        self.stub(tools / "demo-tool-xyz", "")
        self.env["PATH"] = f"{tools}{os.pathsep}{self.env['PATH']}"

    @staticmethod
    def stub(path: Path, line: str) -> None:
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def complete(self, line: str) -> list[str]:
        raise NotImplementedError

    def close(self) -> None:
        assert not (self.home / "was-run").exists(), "completing ran a program"


class Fish(Shell):
    """fish answers on its command line."""

    DEMO = "complete -c demo -f -a 'alpha beta'"

    def complete(self, line: str) -> list[str]:
        words = (
            f"{self.DEMO}; source {shlex.quote(str(self.file))}; complete -C {shlex.quote(line)}"
        )
        command = ["fish", "--no-config", "-c", words]
        done = subprocess.run(
            command, env=self.env, cwd=self.work, capture_output=True, text=True, check=True
        )
        assert done.stderr == ""
        return [row.partition("\t")[0].rstrip("/") for row in done.stdout.splitlines()]


class Typed(Shell):
    """A shell in a terminal: the line is typed, all completions inserted, the line read back."""

    COMMAND: tuple[str, ...]
    ALL = ""

    def __init__(self, name: str, home: Path, text: str = "") -> None:
        super().__init__(name, home, text)
        self.terminal = support.Terminal(
            self.COMMAND, env=self.env, cwd=self.work, rows=50, cols=1000
        )
        for line in self.set_up():
            self.terminal.line(line)
        self.terminal.line("echo re''ady")
        self.terminal.expect("ready")

    def set_up(self) -> list[str]:
        raise NotImplementedError

    def complete(self, line: str) -> list[str]:
        self.out.unlink(missing_ok=True)
        self.terminal.send(f"{line}{self.ALL}\x18s")
        until = time.monotonic() + 30
        while not (self.out.exists() and self.out.read_text().endswith("\n")):
            assert time.monotonic() < until, self.terminal.text
            time.sleep(0.01)
        buffer = self.out.read_text().rstrip("\n")
        self.terminal.send("\x15")
        if buffer == line:
            return []
        return [word.rstrip("=/") for word in shlex.split(buffer[line.rfind(" ") + 1 :])]

    def close(self) -> None:
        self.terminal.close()
        super().close()


class Bash(Typed):
    """Readline's insert-completions puts all of them into the line."""

    COMMAND = ("bash", "--norc", "--noprofile")
    ALL = "\x1b*"

    def set_up(self) -> list[str]:
        loaded = [f"source {BASH_COMPLETION}"] if "with" in self.name else []
        return [
            "PS1='$ '; bind 'set enable-bracketed-paste off'; bind 'set bell-style none'",
            f"""save() {{ printf '%s\\n' "$READLINE_LINE" > {self.out}; }}""",
            """bind -x '"\\C-xs": save'""",
            *loaded,
            """_demo() { COMPREPLY=($(compgen -W 'alpha beta' -- "$2")); }; complete -F _demo demo""",
            "complete -W 'gamma delta' demo-words",
            f"source {self.file}",
        ]


class Zsh(Typed):
    """_all_matches does the same; the file is loaded as the user's fpath would."""

    COMMAND = ("zsh", "-f", "-i")
    ALL = "\t"

    def set_up(self) -> list[str]:
        functions = self.home / "functions"
        functions.mkdir()
        (functions / "_zeroin").write_text(self.file.read_text())
        return [
            f"PS1='%% '; unsetopt beep; fpath=({functions} $fpath)",
            f"autoload -Uz compinit && compinit -u -d {self.home}/zcompdump",
            "zstyle ':completion:*' completer _all_matches _complete",
            "zstyle ':completion:*' insert true",
            f"""save() {{ print -r -- "$BUFFER" > {self.out} }}; zle -N save; bindkey '^Xs' save""",
            "bindkey '^U' kill-whole-line",
            "_demo() { compadd alpha beta }; compdef _demo demo",
        ]


KINDS = {"bash": Bash, "bash with bash-completion": Bash, "zsh": Zsh, "fish": Fish}


@pytest.fixture(params=[pytest.param(n, marks=support.needs(*need)) for n, need in SHELLS.items()])
def shell(request, tmp_path):
    """Give each shell in turn."""
    one = KINDS[request.param](request.param, tmp_path)
    yield one
    one.close()


class TestShells:
    """What a Tab offers, the same in every shell."""

    def test_verbs(self, shell):
        """The first word is a verb, for both names of the command."""
        assert sorted(shell.complete("zeroin d")) == ["diff", "doctor"]
        assert shell.complete("zin ru") == ["run"]
        every = {"run", "again", "log", "show", "diff", "gc", "doctor", "completion"}
        assert every <= set(shell.complete("zeroin "))
        assert shell.complete("zeroin --ver") == ["--version"]

    def test_options(self, shell):
        """Each verb has its own options; a hidden one is not told."""
        assert sorted(shell.complete("zeroin run --e")) == ["--env", "--env-file"]
        assert shell.complete("zeroin run --quiet --se") == ["--seed"]
        assert shell.complete("zeroin show --js") == ["--json"]
        assert shell.complete("zeroin doctor --js") == []

    def test_values(self, shell):
        """A value is completed as what it is."""
        assert shell.complete("zeroin run --cwd f") == ["folder"]
        if shell.name != "zsh":  # it offers files where no folder fits, for every command
            assert shell.complete("zeroin run --cwd n") == []
        assert shell.complete("zeroin run --env-file no") == ["notes.txt"]
        assert shell.complete("zeroin run --color a") == ["always"]
        assert shell.complete("zeroin run --reset demo-to") == ["demo-tool-xyz"]

    def test_value_after_equals(self, shell):
        """The same after an equals sign."""
        (value,) = shell.complete("zeroin run --color=al")
        assert value in ("always", "--color=always")
        (value,) = shell.complete("zeroin run --env-file=no")
        assert value in ("notes.txt", "--env-file=notes.txt")

    def test_attempts(self, shell):
        """Verbs that take an attempt offer the names; files are not attempts."""
        assert sorted(shell.complete("zeroin show last")) == sorted(ATTEMPTS)
        assert shell.complete("zeroin diff 12 last-f") == ["last-failed"]
        assert shell.complete("zeroin gc --before last-p") == ["last-passed"]
        assert shell.complete("zeroin show no") == []

    def test_choices(self, shell):
        """A positional argument with choices offers these."""
        assert sorted(shell.complete("zeroin completion ")) == ["bash", "fish", "zsh"]

    def test_wrapped_command(self, shell):
        """After -- the command's name is completed, then its own arguments."""
        assert shell.complete("zeroin run -- demo-to") == ["demo-tool-xyz"]
        assert sorted(shell.complete("zeroin run --seed 3 -- demo ")) == ["alpha", "beta"]
        assert shell.complete("zeroin run --env A=1 --env B=2:3 -- demo be") == ["beta"]
        assert shell.complete("zin run -q -- demo --se") == []

    def test_wrapped_without_dashes(self, shell):
        """The command may also begin at the first plain word."""
        assert shell.complete("zeroin run demo-to") == ["demo-tool-xyz"]
        assert shell.complete("zeroin run --env A=1 demo al") == ["alpha"]
        assert shell.complete("zeroin run -q --seed=4 demo al") == ["alpha"]

    def test_wrapped_files(self, shell):
        """A command nobody knows completes files."""
        assert shell.complete("zeroin run -- ./unknown --config no") == ["notes.txt"]
        assert shell.complete("zeroin show -- no") == []


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=support.needs(n)) for n in ("bash", "zsh", "fish")]
)
def test_real_command_line(name, zeroin, tmp_path):
    """What `zeroin completion` prints completes zeroin's own verbs and options."""
    printed = zeroin("completion", name)
    assert (printed.returncode, printed.stderr) == (0, "")
    shell = KINDS[name](name, tmp_path / "shell", printed.stdout)
    assert shell.complete("zeroin run --timeo") == ["--timeout"]
    assert shell.complete("zeroin again last-f") == ["last-failed"]
    assert shell.complete("zeroin show --onel") == ["--oneliner"]
    assert sorted(shell.complete("zeroin run --timeout 5s -- demo ")) == ["alpha", "beta"]
    shell.close()


@pytest.mark.parametrize(
    ("name", "start", "ask"),
    [
        pytest.param(
            "bash",
            f"source {BASH_COMPLETION}",
            "_completion_loader zin; complete -p zin",
            marks=support.needs("bash", "bash-completion"),
        ),
        pytest.param(
            "zsh",
            "fpath+=~/.zfunc; autoload -Uz compinit; compinit -u -D",
            "print ${_comps[zin]}",
            marks=support.needs("zsh"),
        ),
        pytest.param("fish", "true", "complete -C 'zin doc'", marks=support.needs("fish")),
    ],
)
def test_installed_as_told(name, start, ask, zeroin, tmp_path):
    """The lines at the top of the file install it, for both names of the command."""
    printed = zeroin("completion", name).stdout
    told = [row[4:] for row in printed.splitlines()[:6] if row.startswith("#   ")]
    assert len(told) == 2
    tools = Path(zeroin.env["PATH"].partition(":")[0])
    for command in ("zeroin", "zin"):
        Shell.stub(tools / command, f'exec {shlex.join(zeroin.driver)} "$@"')
    env = {name: value for name, value in zeroin.env.items() if not name.startswith("XDG")}
    for lines in (told, [start, ask]):
        command = [name, "-c", "\n".join(lines)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    wanted = {"bash": "complete -F _zeroin zin", "zsh": "_zeroin", "fish": "doctor\t"}
    assert wanted[name] in done.stdout


class TestBash:
    """What only bash has."""

    @pytest.mark.parametrize(
        "name", [pytest.param(n, marks=support.needs(*SHELLS[n])) for n in SHELLS if "bash" in n]
    )
    def test_words(self, name, tmp_path):
        """A wrapped command whose completion is a list of words works, too."""
        shell = Bash(name, tmp_path)
        assert sorted(shell.complete("zeroin run -- demo-words ")) == ["delta", "gamma"]
        shell.close()

    @support.needs("bash-completion", "git")
    def test_git(self, tmp_path):
        """Git's own completion, loaded on demand by bash-completion, works behind ours."""
        if not Path("/usr/share/bash-completion/completions/git").exists():
            pytest.skip("git came without its completion")
        shell = Bash("bash with bash-completion", tmp_path)
        assert "checkout" in shell.complete("zeroin run -- git check")
        shell.close()


@support.needs("zsh")
def test_zsh_sourced(tmp_path):
    """In zsh the file can also be sourced, without compinit before it."""
    shell = Zsh.__new__(Zsh)
    Shell.__init__(shell, "zsh", tmp_path)
    ask = f"source {shell.file}; print ${{_comps[zeroin]}} ${{_comps[zin]}}"
    done = subprocess.run(
        ["zsh", "-f", "-c", ask], env=shell.env, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["_zeroin", "_zeroin"]


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=support.needs(n)) for n in ("bash", "zsh", "fish")]
)
def test_syntax(name, tmp_path):
    """Each shell accepts its file, and the file says how to install it."""
    file = tmp_path / "file"
    file.write_text(script(name, verbs_of(parsers())))
    done = subprocess.run([name, "-n", file], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"zeroin completion {name} |" in file.read_text()
