"""`zeroin loop` on a terminal: keys, Ctrl-C, Ctrl-Z, the debugger, and the terminal afterwards."""

import os
import re
import signal
import subprocess
import termios
import time

import pytest

from looping import STORY, script, tell


def modes(shown):
    """Of the terminal, as the shell would find it."""
    return termios.tcgetattr(shown.process.child_fd)


def quit_by_key(shown):
    shown.send("q")
    assert shown.wait() == 0


def test_once_waits_for_nothing(screen):
    """And says nothing of keys that nobody would hear."""
    shown = screen("--once", ready="")
    assert shown.wait() == 0
    assert "[1] " in shown.text
    assert "waiting for a save" not in shown.text


def test_lines_and_keys(screen, program):
    """Enter, c, v, ? and q; the output is above each line."""
    shown = screen()
    assert re.search(r"answer 1\s+\[1\] 0\.\d\d s  ✓ passed", shown.text)
    shown.send("\r")
    shown.expect(re.compile(r"answer 1\s+\[2\] 0\.\d\d s  ✓ passed"))
    shown.send("c")
    shown.expect(re.compile(r"\[3\] 0\.\d\d s  ✓ passed"))
    shown.send("v")
    shown.expect(re.compile(r"\[3\] verified cold in 0\.\d\d s: same"))
    shown.send("?")
    shown.expect("run again from the beginning")
    (program / "helper.py").write_text("def answer():\n    raise KeyError('plum')\n")
    shown.expect(re.compile(r"\[4\] 0\.\d\d s  ✗ KeyError at helper.py answer\(\): 'plum'"))
    shown.send("q")
    assert shown.wait() == 0


@pytest.mark.parametrize("key", ["q", "\x04"])
def test_the_terminal_is_as_it_was(screen, key):
    """While waiting keys are single and unseen; after the end all is as before."""
    shown = screen()
    assert not modes(shown)[3] & (termios.ICANON | termios.ECHO)
    shown.send(key)
    assert shown.wait() == 0
    assert modes(shown)[3] & termios.ICANON
    assert modes(shown)[3] & termios.ECHO


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, -15), (signal.SIGHUP, -1)])
def test_the_terminal_after_a_signal(screen, number, code):
    """Whatever ends us."""
    shown = screen()
    os.kill(shown.process.pid, number)
    assert shown.wait() == code
    assert modes(shown)[3] & termios.ICANON


def test_the_terminal_after_a_bug_of_ours(terminal, zeroin, program):
    """Exit code 3, and it can be typed in again."""
    code = (
        "import sys, zeroin.tools.loop as m; m._Loop._obey = lambda *_: 1/0;"
        "from zeroin.fronts.cli import main; sys.exit(main())"
    )
    words = [zeroin.driver[0], "-c", code, "loop", "--", "python", "train.py"]
    shown = terminal(words, cwd=program, env=zeroin.env)
    shown.expect("q: quit")
    shown.send("c")
    assert shown.wait() == 3
    assert "a bug in zeroin" in shown.text
    assert modes(shown)[3] & termios.ICANON


def test_ctrl_c_while_waiting_quits(screen):
    """With the code that shells know."""
    shown = screen()
    shown.send("\x03")
    assert shown.wait() == 130
    assert modes(shown)[3] & termios.ICANON


def test_ctrl_c_is_the_programs_while_it_runs(screen, program):
    """The loop then waits again."""
    script(program, "import time\nprint('up', flush=True)\nwhile True: time.sleep(0.05)\n")
    shown = screen(ready="up")
    shown.send("\x03")
    shown.expect("KeyboardInterrupt")
    shown.expect(re.compile(r"\[1\] .* · interrupted"))
    shown.expect("q: quit")
    (program / "train.py").write_text("print('mended')\n")
    shown.expect(re.compile(r"mended\s+\[2\]"))
    shown.send("q")
    assert shown.wait() == 0


def test_typing_is_the_programs_while_it_runs(screen, program):
    """With echo and whole lines, as without us; also after a key."""
    script(program, "print('got', input('name? '))\n")
    shown = screen(ready="name? ")
    shown.line("bob")
    shown.expect("got bob")
    shown.expect("q: quit")
    shown.send("c")
    shown.expect("name? ")
    shown.line("eve")
    shown.expect("got eve")
    shown.expect(re.compile(r"\[2\]"))
    quit_by_key(shown)


def test_verifying_does_not_ask_in_the_dark(screen, program):
    """What a run out of sight asks, nobody can answer: it is given up, and no difference told."""
    script(program, "name = input('name? ')\nprint('hello', name)\n")
    shown = screen(ready="name? ")
    shown.line("Ann")
    shown.expect("hello Ann")
    shown.expect("q: quit")
    shown.send("v")
    shown.expect("out of sight")
    shown.expect("not verified: it reads the terminal")
    shown.send("q")
    assert shown.wait() == 0


def test_verifying_can_be_ended(screen, program):
    """By Ctrl-C, which is not meant for the loop then; the fixture looks for what is left."""
    script(
        program,
        """
        import subprocess
        subprocess.run(["sh", "-c", "test ! -e slow || { touch begun; sleep 600; }"])
        """,
    )
    shown = screen()
    (program / "slow").touch()
    shown.send("v")
    end = time.monotonic() + 60
    while not (program / "begun").exists():
        assert time.monotonic() < end
        time.sleep(0.005)
    shown.send("\x03")
    shown.expect("not verified: it was interrupted")
    shown.send("q")
    assert shown.wait() == 0


def test_typed_ahead_is_not_obeyed(screen, program):
    """What a program did not read was no order to us: it is shown, and that is all."""
    script(program, "import signal\nprint('up', flush=True)\nsignal.pause()\n")
    shown = screen(ready="up")
    shown.line("quick")
    shown.expect("quick")  # the echo: it is in the terminal's queue
    shown.send("\x1c")  # Ctrl-\\ ends the program, and empties that queue on some systems
    shown.expect(re.compile(r"\[1\]"))
    shown.expect("q: quit")
    shown.send("?")
    shown.expect("run again from the beginning")
    quit_by_key(shown)


def test_typed_after_a_key_is_for_the_program(screen, program):
    """It is not lost on the way."""
    script(program, "print('got', input('name? '))\n")
    shown = screen(ready="name? ")
    shown.line("bob")
    shown.expect("q: quit")
    shown.send("ceve\r")
    shown.expect("got eve")
    shown.expect(re.compile(r"\[2\]"))
    quit_by_key(shown)


def test_arrows_and_other_keys_do_nothing(screen):
    """An escape sequence is no row of letters."""
    shown = screen()
    shown.send("x\x1b[A\x1bOc\x1b[3~?")
    shown.expect("run again from the beginning")
    assert "[2]" not in shown.text
    quit_by_key(shown)


@pytest.mark.parametrize(("cols", "between"), [(140, " · "), (100, r"\r\n\[2\] ")])
def test_resumed_lines(screen, program, cols, between):
    """What was saved, and what verifying gave, in one line if the terminal has room for it."""
    tell(program, "out one", "seconds 41.9", "out two")
    shown = screen("--verify", command=STORY, cols=cols)
    tell(program, "out one", "seconds 41.9", "out three")
    verified = r"verified cold in 0\.\d\d s: same\r\n"
    about = rf"resumed before story:3 · 41\.9 s saved{between}{verified}"
    shown.expect(re.compile(r"one\r\nthree\r\n\[2\] 0\.\d\d s  ✓ passed +" + about))
    quit_by_key(shown)


def test_ctrl_c_reaches_a_resumed_program(screen, program):
    """It has the terminal, as a started one has."""
    tell(program, "out one", "out two")
    shown = screen(command=STORY)
    tell(program, "out one", "wait")
    shown.expect("waiting")
    shown.send("\x03")
    shown.expect(re.compile(r"\[2\] .* · interrupted"))
    quit_by_key(shown)


def test_ctrl_z_and_fg(terminal, zeroin, program):
    """The shell gets its terminal back as it was, and so do we."""
    words = " ".join(zeroin.driver)
    rc = program.parent / "rc"
    rc.write_text(f"PS1='PROMPT> '\nzeroin() {{ {words} \"$@\"; }}\nstty -echo\n")
    shell = terminal(
        ["bash", "--noprofile", "--rcfile", rc, "-i"], cwd=program, env=zeroin.env, cols=120
    )
    shell.expect("PROMPT> ")
    shell.line("zeroin loop -- python train.py")
    shell.expect("q: quit")
    shell.send("\x1a")
    shell.expect("PROMPT> ")
    shell.line("stty -a | grep -o '.icanon'; fg")
    shell.expect(" icanon")
    shell.expect("zeroin")
    shell.send("c")
    shell.expect(re.compile(r"\[2\]"))
    shell.send("q")
    shell.expect("PROMPT> ")


def test_a_syntax_error_as_python_prints_it(screen, terminal, zeroin, program):
    """The same lines as a plain run's, then ours."""
    shown = screen()
    (program / "train.py").write_text("x = 1\nprint('open'\n")
    shown.expect("not started")
    plain = subprocess.run(
        ["python", "train.py"],
        cwd=program,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert plain.stderr.replace("\n", "\r\n") in shown.text
    assert re.search(r"\[2\] ✗ SyntaxError at train.py:2: ", shown.text)
    quit_by_key(shown)


HOLDER = """
import array, json, os, signal, socket, sys

def message(line):
    data, rights, _, _ = line.recvmsg(1 << 16, 1024)
    return json.loads(data[4:]), list(array.array("i", rights[0][2]))

line = socket.socket(socket.AF_UNIX)
with open(os.environ["ZEROIN_AGENT"]) as file:
    line.connect(json.load(file)["warm"]["folder"] + "/warm")
if os.fork():
    sys.exit("KeyError: 'plum'")
os.setpgid(0, 0)
data = json.dumps({"kind": "failed", "pid": os.getpid()}).encode()
line.sendall(len(data).to_bytes(4, "big") + data)
null = os.open(os.devnull, os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(null, fd)
order, (stdin, stdout, _) = message(line)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(stdin, os.getpgrp())
os.write(stdout, b"(Pdb) ")
os.write(stdout, order["kind"].encode() + b" " + os.read(stdin, 100))
"""


@pytest.mark.parametrize("options", [[], ["--stdin", "helper.py"]])
def test_the_debugger_has_the_terminal(screen, program, options):
    """Whole lines with echo, until it ends; then the keys are ours again."""
    script(program, HOLDER)
    shown = screen(*options, command=("python", "-I", "train.py"))
    shown.send("d")
    shown.expect("(Pdb) ")
    assert modes(shown)[3] & termios.ICANON
    shown.line("continue")
    shown.expect("debug continue")
    shown.expect("q: quit")
    shown.send("?")
    shown.expect("run again from the beginning")
    assert not modes(shown)[3] & termios.ICANON
    quit_by_key(shown)


def test_the_debugger_says_why_not(screen):
    """Where there is nothing to look at."""
    shown = screen()
    shown.send("d")
    shown.expect("there is no failure to look at")
    quit_by_key(shown)
