"""What a command finds: the variables, the folder, the world put back as it was."""

import json

import pytest


def test_variables_for_this_run_alone(zeroin, project):
    """--env-file, then --env, then --unset; quotes and comments as in a shell."""
    (project / "vars").write_text("# c\nexport A='one two'\nB=2 # two\nC=3\n\nD=\"x # y\"\n")
    done = zeroin(
        "run",
        "-q",
        "--env-file",
        "vars",
        "--env",
        "B=4",
        "--unset",
        "C",
        "--unset",
        "HOME",
        "--",
        "sh",
        "-c",
        "echo $A/$B/$C/$D/${HOME-none}",
        cwd=project,
    )
    assert done.stdout == "one two/4//x # y/none\n"


def test_cwd(zeroin, project):
    """The folder, and PWD with it."""
    (project / "sub").mkdir()
    done = zeroin("run", "-q", "--cwd", "sub", "--", "sh", "-c", "pwd; echo $PWD", cwd=project)
    assert done.stdout.split() == [str(project / "sub")] * 2


def test_sync_says_what_it_sets(zeroin, project):
    """And sets it."""
    done = zeroin(
        "run",
        "--sync",
        "--",
        "sh",
        "-c",
        "echo $OMP_NUM_THREADS $CUDA_LAUNCH_BLOCKING",
        cwd=project,
    )
    assert done.stdout == "1 1\n"
    assert "--sync sets CUDA_LAUNCH_BLOCKING=1" in done.stderr
    assert "DataLoader num_workers=0" in done.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--env", "novalue"], "NAME=VALUE"),
        (["--timeout", "soon"], "no time span"),
        (["--timeout", "0"], "no time"),
        (["--env-file", "none"], "No such file"),
        (["--cwd", "none"], "no such folder"),
        (["--repeat", "0"], "from 1 on"),
        (["--nonsense"], "run has no option --nonsense"),
    ],
)
def test_bad_options(zeroin, project, args, words):
    """Exit code 2, one clear line, and nothing is run."""
    done = zeroin("run", *args, "--", "touch", "ran", cwd=project)
    assert done.returncode == 2
    assert words in done.stderr
    assert not (project / "ran").exists()


def test_no_command(zeroin, project):
    """Says what to type."""
    done = zeroin("run", cwd=project)
    assert (done.returncode, "zeroin run -- python train.py" in done.stderr) == (2, True)


def test_reset_runs_before_each_attempt(zeroin, project):
    """One command: `rm -r out` can't be forgotten."""
    for _ in range(2):
        done = zeroin("run", "--reset", "rm -rf out", "--", "mkdir", "out", cwd=project)
        assert done.returncode == 0


def test_failing_reset_stops_before_the_command(zeroin, project):
    """With its own error, exit code 125, and the attempt says why."""
    done = zeroin("run", "--reset", "echo cleaning; exit 4", "--", "touch", "ran", cwd=project)
    assert done.returncode == 125
    assert "reset failed with exit code 4" in done.stderr
    assert not (project / "ran").exists()
    row = json.loads(zeroin("log", "--json", cwd=project).stdout)
    assert (row["outcome"], "reset failed" in row["headline"]) == ("unfinished", True)


def test_restore_puts_the_first_state_back(zeroin, project):
    """A file, a folder and a path that was not there, each attempt from the same start."""
    (project / "data").mkdir()
    (project / "data" / "a").write_text("1")
    script = "cat data/a; ls new 2>/dev/null; echo 2 > data/a; touch data/b new; test ! -e data/c; touch data/c"
    args = ("run", "-q", "--restore", "data", "--restore", "new", "--", "sh", "-c", script)
    for _ in range(3):
        done = zeroin(*args, cwd=project)
        assert (done.stdout, done.returncode) == ("1", 0)


def test_restore_mends_what_the_program_made_of_it(zeroin, project):
    """A folder that became a link to somewhere else is a folder again, and nothing else changed."""
    (project / "data").mkdir()
    (project / "data" / "a").write_text("1")
    outside = project / "outside"
    outside.mkdir()
    script = "cat data/a; rm -r data; ln -s outside data; echo 2 > data/a"
    for _ in range(2):
        done = zeroin("run", "-q", "--restore", "data", "--", "sh", "-c", script, cwd=project)
        assert (done.stdout, done.returncode) == ("1", 0)
    assert (outside / "a").read_text() == "2\n"


@pytest.mark.parametrize("path", ["/", "~", ".", ".git", "nested", ".zeroin"])
def test_restore_refuses_what_is_too_large(zeroin, project, path):
    """/, home, the project, repositories, our own record: exit code 125, the command not run."""
    path = zeroin.env["HOME"] if path == "~" else path
    (project / "nested" / ".git").mkdir(parents=True)
    done = zeroin("run", "--restore", path, "--", "touch", "ran", cwd=project)
    assert done.returncode == 125
    assert "--restore" in done.stderr
    assert not (project / "ran").exists()
