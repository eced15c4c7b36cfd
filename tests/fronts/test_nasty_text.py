"""Text of strangers can't steer the terminal: not from the record, not from a running program.

A nasty text sets the title, rings, moves, blinks and turns the order of reading round. It stands
in a command, file names, an exception and its type, locals, a function's and a thread's name,
variables, a commit's subject and author, a package's name, settings, and in words that zeroin
does not understand. The program's own stderr is closed, since what it prints is its own business.
"""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap

import pytest

from zeroin.fronts.words import Paint, put

NASTY = "\x1b]0;title\x07\x1b[5;5H\x1b[5m\x9b5m\u202eevil\x7f\x08"
# Which bytes would come of it, if they came through.
STEERING = re.compile(
    rb"\x1b\]|\x07|\x1b\[5|\xc2\x9b|\xe2\x80\xae|\x7f|\x08|\x1b\[[0-9;]*[A-JL-Zln-z]|\x1b[^\[]"
)
FILE = f"n{NASTY}.py"
PROGRAM = f"""
    import os, sys, threading, types
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    nasty = {NASTY!r}
    Error = type("Error" + nasty, (RuntimeError,), {{}})

    def fail(value, key):
        try:
            open("missing" + nasty)
        except OSError:
            pass
        raise Error("message " + nasty)

    code = fail.__code__.replace(co_name="fail" + nasty)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname="fail" + nasty)
    threading.current_thread().name = "thread" + nasty
    if os.path.exists("rows.txt") and "bad" not in open("rows.txt").read():
        sys.exit()
    types.FunctionType(code, globals())(nasty, {{nasty: nasty}})
"""


@pytest.fixture
def nasty(zeroin, project):
    """A repository in which everything has such a name."""
    (project / FILE).write_text(textwrap.dedent(PROGRAM))
    (project / f"lib{NASTY}.txt").write_text("x\n")
    (project / "settings.json").write_text(json.dumps({"a" + NASTY: 1}))
    (project / "rows.txt").write_text("good\n" * 9 + "bad\n")
    info = project / f"pack{NASTY}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: pack{NASTY}\nVersion: 1.0\n")
    commit(zeroin, project, f"subject {NASTY}")
    return project


def commit(zeroin, project, subject):
    who = ["-c", f"user.name=a{NASTY}", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "add", "-A"], cwd=project, env=zeroin.env, check=True)
    subprocess.run(["git", *who, "commit", "-qm", subject], cwd=project, env=zeroin.env, check=True)


@pytest.fixture
def shown(zeroin, nasty, terminal):
    """Give what a verb writes on a terminal and into a pipe, and check that none of it steers."""

    def show(*words, env=None, rows=50, cols=200):
        more = {"X" + "_NASTY": NASTY, "PYTHONPATH": str(nasty), **(env or {})}
        piped = zeroin(*words, cwd=nasty, env=more)
        said = f"{piped.stdout}{piped.stderr}".encode("utf-8", "surrogateescape")
        opened = terminal(
            [*zeroin.driver, *words],
            cwd=nasty,
            env=zeroin.env | more | {"TERM": "xterm-256color"},
            rows=rows,
            cols=cols,
        )
        opened.wait()
        said += opened.text.encode()
        found = STEERING.search(said)
        assert found is None, (words, said[max(0, found.start() - 200) : found.end() + 50])
        return said.decode()

    return show


RUN = ("python", FILE, f"argument {NASTY}")


def test_verbs_that_read_the_record(shown, nasty):
    """`show`, `log`, `diff`, `why` and their like, after a run that had everything."""
    assert "evil" in shown("run", "--env", f"Y={NASTY}", "--", *RUN)
    (nasty / f"lib{NASTY}.txt").write_text("y\n")
    shown("run", "--reset", f": '{NASTY}'", "--", *RUN, "more")
    for words in (
        *(["show", "1"], ["show", "--env"], ["show", "--output"], ["show", "--times"], ["log"]),
        *(["log", "--all"], ["diff", "1", "3"], ["why", "1"], ["show", "--oneliner"]),
        *(["show", "--json"], ["log", "--json"], ["diff", "1", "3", "--json"], ["doctor"]),
    ):
        shown(*words)
    assert "Error\\x1b]0;title\\x07" in shown("show", "1")
    assert "missing" not in shown("gc", "--json")


@pytest.mark.parametrize(
    "words",
    [
        ["files", "--", *RUN],
        ["files", "--all", "--", *RUN],
        ["shrink", "rows.txt", "--", *RUN],
        ["bisect", "commits", "HEAD~1", "--fresh", "--", *RUN],
        ["bisect", "settings", "settings.json", "--", *RUN],
        ["bisect", "data", "rows.txt", "--", *RUN],
        ["limit", "memory=2G", "--", *RUN],
        ["stacks", "--", *RUN],
        ["leak", "--", *RUN],
        ["nan", "--", *RUN],
        ["shapes", "--", *RUN],
        ["run", "-n", "3", "--", *RUN],
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_verbs_that_run_a_program(shown, words):
    """What they say of a program that fails nastily."""
    shown(*words)


@pytest.mark.parametrize(
    "words",
    [
        [f"verb{NASTY}"],
        ["show", NASTY],
        ["show", f"--flag{NASTY}"],
        ["run", "--", f"nosuch{NASTY}"],
        ["run", "--cwd", f"/nosuch{NASTY}", "--", "true"],
        ["run", "--limit", f"disk={NASTY}", "--", "true"],
        ["run", "--reset", f"exit 1 # {NASTY}", "--", "true"],
        ["run", "--env-file", f"no{NASTY}", "--", "true"],
        ["run", "--at", f"{FILE}:1", "--", *RUN],
        ["which", f"json.{NASTY}"],
        ["which", f"pack{NASTY}"],
        ["which", "json"],
        ["stacks", f"nobody{NASTY}"],
        ["watch", f"nobody{NASTY}", "--once"],
        ["why", NASTY],
        ["tiny", f"no{NASTY}"],
        ["fake", f"a{NASTY}:nothing"],
        ["bisect", f"no{NASTY}"],
        ["bisect", "commits", NASTY, "--", "true"],
        ["completion", NASTY],
        ["again", NASTY],
        ["diff", NASTY, "1"],
    ],
    ids=lambda words: " ".join(words[:2]).replace(NASTY, ""),
)
def test_words_that_make_no_sense(shown, words):
    """Errors name what they are about, and the terminal is not steered by it."""
    shown(*words)


def test_a_running_program(zeroin, nasty, terminal):
    """`stacks`, `why -p` (deleted files among them) and `watch` on its screen."""
    source = (
        f"import os, time\nnasty = {NASTY!r}\nf = open('gone' + nasty, 'w'); f.write('x' * 9)\n"
        "os.unlink('gone' + nasty)\ndef wait(pw): print('up', flush=True); time.sleep(60)\nwait(nasty)\n"
    )
    (nasty / f"wait{NASTY}.py").write_text(source)
    process = subprocess.Popen(
        [sys.executable, f"wait{NASTY}.py", NASTY],
        cwd=nasty,
        env=zeroin.env,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout.readline() == b"up\n"
        pid = str(process.pid)
        for words in (
            *(["stacks", pid, "--locals"], ["why", "-p", pid], ["watch", pid, "--once"]),
            *(["files", "-p", pid, "--for", "0.2s"], ["watch", pid, "--for", "1s"]),
        ):
            opened = terminal(
                [*zeroin.driver, *words],
                cwd=nasty,
                env=zeroin.env | {"TERM": "xterm-256color"},
                rows=50,
                cols=200,
            )
            opened.wait()
            said = opened.text.encode()
            if words[-1] == "1s":  # `watch` itself moves and clears
                said = re.sub(
                    rb"\x1b\[\d+;1H\x1b\[2K|\x1b\[\?\d+[hl]|\x1b\[\d*;?\d*[HJ]", b"", said
                )
            found = STEERING.search(said)
            assert found is None, (words, said[max(0, found.start() - 200) : found.end() + 50])
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def test_styles_are_ours_alone(monkeypatch, capsys):
    """A style that we give passes, the same one in a stranger's text is shown."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    paint = Paint(sys.stdout)
    put(paint("fine", "red") + " \x1b[31mforeign\x1b[0m")
    assert capsys.readouterr().out == "\x1b[31mfine\x1b[0m \\x1b[31mforeign\\x1b[0m\n"
