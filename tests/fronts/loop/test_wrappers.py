"""What stands between us and the program: shells, scripts, things that only wait."""

import shutil

import pytest


@pytest.fixture
def two(project):
    """Scripts that fail or pass as they are told."""
    (project / "a.py").write_text("import sys\nprint('a')\nsys.exit(int(*sys.argv[1:] or '0'))\n")
    (project / "b.py").write_text("import os\nprint('b', os.path.exists('made'))\n")
    return project


@pytest.mark.parametrize(
    "line",
    [
        "python a.py; python b.py; echo end",
        "python a.py; exec python b.py",
        "python a.py 3 || echo failed",
        "python a.py 3 | cat",
        "python a.py 3 > out; cat out",
        "python a.py & wait; python b.py",
        "for n in 0 1 2; do python a.py $n; done",
    ],
)
def test_a_shell_that_does_more_is_run_from_its_beginning(scripted, two, line):
    """A Python that it has started is not the command: its end is not the outcome."""
    loop = scripted("", "--verify", command=("sh", "-c", line))
    first = loop.line()
    assert "started it" in first["gate"] or "another Python" in first["gate"]
    loop.say("run")
    second = loop.line()
    assert (second["mode"], second["snapshots"]) == ("cold", 0)
    assert (second["exit_code"], second["outcome"]) == (first["exit_code"], first["outcome"])
    for name in ("a.py", "b.py"):
        if name in line:  # a save of each of them counts
            loop.edit(name, (two / name).read_text() + f"print('new {name}')\n")
            loop.line()
            loop.say("verify")
            assert loop.line()["verified"] is True
    assert "new b.py" in loop.shown or "b.py" not in line


@pytest.mark.parametrize("command", [("sh", "-c", "exec python a.py 3"), ("env", "python", "a.py")])
def test_what_has_become_the_program_does_not_matter(scripted, two, command):
    """`exec`, `env` and the like leave nothing behind that could do more."""
    loop = scripted("", "--verify", command=command)
    assert loop.line()["gate"] == ""
    loop.say("run")
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("resumed", True)


@pytest.mark.parametrize(
    "end", ["sys.exit(3)", "signal.signal(13, signal.SIG_DFL); os.kill(os.getpid(), 13)"]
)
def test_one_that_only_waits_does_not_matter(scripted, project, tmp_path, end):
    """`uv run` ends as the program does; after a signal with 128 and its number, as shells do."""
    uv = tmp_path / "uv"
    shutil.copy(shutil.which("dash") or shutil.which("bash"), uv)
    source = f"import os, signal, sys\nprint('x', flush=True)\n{end}\n"
    loop = scripted(source, "--verify", command=(uv, "-c", "python train.py; exit $?"))
    first = loop.line()
    assert first["gate"] == ""
    loop.say("run")
    line = loop.line()
    assert (line["mode"], line["verified"]) == ("resumed", True), line["difference"]
    assert line["exit_code"] == first["exit_code"]
    (project / "pyproject.toml").write_text("[project]\n")
    loop.say("cold")
    loop.line()
    loop.edit("pyproject.toml", "[project]\nname = 'x'\n")
    line = loop.line()
    assert (line["mode"], line["reason"]) == (
        "cold",
        "pyproject.toml was changed and belongs to the command",
    )


def test_a_script_of_the_command_that_is_changed(scripted, two):
    """The program did not read it, but a cold run would."""
    (two / "go.sh").write_text("export NAME=1\nexec python a.py $NAME\n")
    loop = scripted("", command=("sh", "go.sh"))
    assert loop.line()["exit_code"] == 1
    loop.edit("go.sh", "export NAME=2\nexec python a.py $NAME\n")
    line = loop.line()
    assert (line["mode"], line["exit_code"]) == ("cold", 2)
    assert "go.sh" in line["reason"]


def test_what_it_writes_itself_does_not_belong_to_the_command(scripted, project):
    """A result whose name is given: neither writing nor removing it is a save."""
    source = "import sys\nwith open(sys.argv[1], 'w') as file:\n    file.write('result')\n"
    loop = scripted(source, command=("python", "train.py", "out.json"))
    loop.line()
    (project / "out.json").unlink()
    assert loop.says_nothing()
    loop.say("run")
    assert loop.line()["mode"] == "resumed"


def test_no_standby_below_a_shell(scripted, two):
    """All that the shell does after it would be done in the background."""
    source = "import threading, time\nt = threading.Thread(target=time.sleep, args=(60,))\n"
    source += "t.daemon = True\nt.start()\ntime.sleep(0.6)\n1 / 0\n"
    loop = scripted(source, command=("sh", "-c", "python train.py; echo x >> after"))
    assert "sh started it" in loop.line()["gate"]
    assert loop.says_nothing()
    assert "standby:" not in loop.shown
    assert (two / "after").read_text() == "x\n" * 2  # of the run, and of the cold one
