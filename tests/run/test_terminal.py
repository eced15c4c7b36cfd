"""On a real terminal everything is as without us: colours, size, typing, job control."""

import json
import re
import subprocess
import textwrap

import pytest

import support


@pytest.fixture
def shell(terminal, zeroin, project):
    """An interactive bash in the project, with `zeroin` as a command."""
    words = " ".join(zeroin.driver)
    rc = project.parent / "rc"
    rc.write_text(
        f"PS1='PROMPT> '\nzeroin() {{ {words} \"$@\"; }}\nbind 'set enable-bracketed-paste off'\nstty -echo\n"
    )
    opened = terminal(
        ["bash", "--noprofile", "--rcfile", rc, "-i"], cwd=project, env=zeroin.env, rows=31, cols=97
    )
    opened.expect("PROMPT> ")
    return opened


def script(project, source):
    (project / "prog.py").write_text(textwrap.dedent(source))


def test_the_command_sees_a_terminal_of_the_right_size(shell, project):
    """Isatty on all three, rows and columns, and a change of size."""
    script(
        project,
        """
        import os, signal, sys
        def show(*_):  # without a buffer: it may come again amidst its own words
            sizes = *os.get_terminal_size(1), *os.get_terminal_size(0)
            os.write(1, b"size %d %d %d %d\\n" % sizes)
        signal.signal(signal.SIGWINCH, show)
        print("tty", [f.isatty() for f in (sys.stdin, sys.stdout, sys.stderr)])
        sys.stdout.flush()
        show()
        while True: signal.pause()
    """,
    )
    shell.line("zeroin run -- python prog.py")
    shell.expect("tty [True, True, True]")
    shell.expect("size 97 31 97 31")
    shell.resize(40, 120)
    shell.expect("size 120 40 120 40")
    shell.send("\x03")
    shell.expect("PROMPT> ")


def test_typing_reaches_it_and_prompts_show(shell, project):
    """input() with its prompt, and a password without echo."""
    script(
        project,
        """
        import getpass
        name = input("name? ")
        word = getpass.getpass("word? ")
        print("got", name, word[::-1])
    """,
    )
    shell.line("zeroin run -- python prog.py")
    shell.expect("name? ")
    shell.line("bob")
    shell.expect("word? ")
    shell.line("abc")
    shell.expect("got bob cba")
    shell.expect("passed in")
    shell.expect("PROMPT> ")
    assert "abc" not in shell.text


def test_ctrl_c_is_the_commands_own(shell, project):
    """It gets one SIGINT, decides itself, and its exit code is ours."""
    script(
        project,
        """
        import os, signal, sys
        count = 0
        def handler(*_):
            global count
            count += 1
            os.write(1, b"int %d\\n" % count)  # print may be under way
        signal.signal(signal.SIGINT, handler)
        print("up", flush=True)
        while count < 2: signal.sigtimedwait([], 0.01)
        sys.exit(7)
    """,
    )
    shell.line("zeroin run -- python prog.py; echo code=$?")
    shell.expect("up")
    shell.send("\x03")
    shell.expect("int 1")
    shell.send("\x03")
    shell.expect("int 2")
    shell.expect("code=7")
    assert "int 3" not in shell.text


def test_ctrl_c_ends_both_and_the_shell_knows(shell, project):
    """A plain program dies of KeyboardInterrupt; $? is 130, and the attempt is recorded."""
    script(project, "print('up', flush=True)\nimport time\ntime.sleep(60)\n")
    shell.line("zeroin run -- python prog.py; echo code=$?")
    shell.expect("up")
    shell.send("\x03")
    shell.expect("KeyboardInterrupt")
    shell.expect("attempt 1 was interrupted after")
    shell.expect("PROMPT> ")
    shell.line("echo code=$?")
    shell.expect("code=130")


def test_ctrl_z_stops_and_fg_goes_on(shell, project):
    """Job control as ever."""
    script(project, "print('up', flush=True)\nprint('got', input())\n")
    shell.line("zeroin run -- python prog.py")
    shell.expect("up")
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.expect("PROMPT> ")
    shell.line("fg")
    shell.expect("zeroin")  # bash names the job, then hands the terminal over
    shell.line("typed")
    shell.expect("got typed")
    shell.expect("passed in")


def test_in_the_background(shell, project):
    """`zeroin run -- cmd &` does not stop for the terminal."""
    script(project, "print('from behind')\n")
    shell.line("zeroin run -- python prog.py & wait $!; echo code=$?")
    shell.expect("from behind")
    shell.expect("code=0")


def test_curses_and_the_modes_afterwards(shell, project):
    """A full-screen program gets single keys, and the terminal is as it was after it died."""
    script(
        project,
        """
        import curses, os, signal
        def main(screen):
            screen.addstr(0, 0, "CURSES"); screen.refresh()
            screen.addstr(1, 0, "key %d" % screen.getch()); screen.refresh()
            screen.getch()
            os.kill(os.getpid(), signal.SIGKILL)
        curses.wrapper(main)
    """,
    )
    shell.line("zeroin run -- python prog.py")
    shell.expect("CURSES")
    shell.send("a")
    shell.expect("key 97")
    shell.send("q")
    shell.expect("SIGKILL")
    shell.expect("PROMPT> ")
    shell.line("stty -a")
    modes = shell.expect(re.compile(r"-?icanon(.|\n)*PROMPT> "))
    assert modes.startswith("icanon")


def test_newlines_and_colours_are_unchanged(zeroin, project, terminal):
    """What the terminal gets is byte for byte what it would get without us."""
    script(
        project,
        r"print('\x1b[31mred\x1b[0m'); print('10%\r', end=''); print('100%'); print('a\r\nb')"
        "\n",
    )
    plain = terminal(["python", "prog.py"], cwd=project, env=zeroin.env)
    assert plain.wait() == 0
    ours = terminal(
        [*zeroin.driver, "run", "-q", "--", "python", "prog.py"], cwd=project, env=zeroin.env
    )
    assert ours.wait() == 0
    assert ours.text == plain.text
    kept = json.loads(zeroin("show", "--json", cwd=project).stdout)["output"]
    assert kept == "\x1b[31mred\x1b[0m\n10%\r100%\na\r\nb\n"


@pytest.mark.parametrize("once_in", [1, 3])
def test_debugger_at_the_users_frame(shell, project, once_in):
    """--pdb: at the innermost frame of the user's own, also when it fails once in many runs."""
    script(
        project,
        f"""
        import json, os
        n = int(open("n").read()) if os.path.exists("n") else 1
        open("n", "w").write(str(n + 1))
        def load(text):
            marker = "here " + text
            return json.loads(text)
        if n % {once_in} == 0: load("broken")
    """,
    )
    shell.line("zeroin run --until-fail --pdb -- python prog.py")
    shell.expect("JSONDecodeError")
    shell.expect("(Pdb) ")
    shell.line("p marker")
    shell.expect("here broken")
    shell.line("q")
    shell.expect("failed 1 of")


def test_debugger_where_the_program_has_an_excepthook(shell, project):
    """--pdb: also where errors are shown by a hook of the program's own, as rich and typer do."""
    script(
        project,
        """
        import sys
        sys.excepthook = lambda kind, error, trace: print("in colours:", error)
        def load():
            marker = "here it is"
            raise ValueError("broken")
        load()
    """,
    )
    shell.line("zeroin run --pdb -- python prog.py")
    shell.expect("in colours: broken")
    shell.expect("(Pdb) ")
    shell.line("p marker")
    shell.expect("here it is")
    shell.line("q")
    shell.expect("ValueError at prog.py load()")


def test_summary_is_plain_with_no_color(zeroin, project, terminal):
    """NO_COLOR is honoured, and a terminal that can't show ✗ gets x."""
    env = zeroin.env | {"NO_COLOR": "1"}
    shown = terminal([*zeroin.driver, "run", "--", "false"], cwd=project, env=env)
    assert shown.wait() == 1
    assert "\x1b[" not in shown.text
    ascii_env = zeroin.env | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "NO_COLOR": "1"}
    plain = terminal([*zeroin.driver, "run", "--", "false"], cwd=project, env=ascii_env)
    assert plain.wait() == 1
    assert "x attempt 2 failed" in plain.text


@support.needs("tmux")
def test_in_tmux(zeroin, project):
    """A real terminal program shows the summary as it is."""
    script(project, "def f(): raise KeyError('x')\nf()\n")
    words = " ".join(zeroin.driver)
    name = f"zeroin-{project.parent.name}"
    env = zeroin.env
    tmux = ["tmux", "-L", name, "-f", "/dev/null"]
    command = f"{words} run -- python prog.py; tmux -L {name} wait -S done; cat"
    subprocess.run(
        [*tmux, "new-session", "-d", "-x", "110", "-y", "30", command],
        cwd=project,
        env=env,
        check=True,
    )
    try:
        subprocess.run([*tmux, "wait", "done"], env=env, check=True, timeout=30)
        screen = subprocess.run(
            [*tmux, "capture-pane", "-p"], env=env, check=True, capture_output=True, text=True
        ).stdout
    finally:
        subprocess.run([*tmux, "kill-server"], env=env, check=False)
    assert "✗ attempt 1 failed in" in screen
    assert "KeyError at prog.py f(): 'x'" in screen
    assert "see it: zeroin show 1     run it again: zeroin again 1" in screen
