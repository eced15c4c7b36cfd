"""`log`, `show`, `diff`, `again`: reading what was kept, and running it again."""

import json
import subprocess
import textwrap

import pytest


def write(folder, name, source):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(textwrap.dedent(source))
    return path


@pytest.fixture
def story(project, zeroin):
    """Three attempts: passed, failed by code, failed by a variable."""
    script = write(
        project,
        "a.py",
        "import os\ndef f(x): return {'a': x}[os.environ.get('KEYNAME', 'a')]\nprint('start')\nf(1)\n",
    )
    zeroin("run", "--", "python", "a.py", cwd=project)
    script.write_text(script.read_text().replace("f(1)", "f(2) + []"))
    zeroin("run", "--", "python", "a.py", cwd=project)
    zeroin("run", "--env", "KEYNAME=b", "--", "python", "a.py", "--fast", cwd=project)
    return project


def test_log_is_aligned_and_newest_first(story, zeroin):
    """One line an attempt."""
    lines = zeroin("log", cwd=story).stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["3", "2", "1"]
    assert "KeyError at a.py f(): 'b'" in lines[0]
    assert "TypeError" in lines[1]
    assert lines[0].index("failed") == lines[1].index("failed") == lines[2].index("passed")


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        (["--signature", "typeerror"], [2]),
        (["--command=--fast"], [3]),
        (["--since", "1h"], [3, 2, 1]),
        (["--since", "2000-01-01"], [3, 2, 1]),
        (["-n", "1"], [3]),
        (["--signature", "Nothing"], []),
    ],
)
def test_log_filters(story, zeroin, args, wanted):
    """By signature, command, time and number."""
    rows = zeroin("log", "--json", *args, cwd=story).stdout.splitlines()
    assert [json.loads(row)["id"] for row in rows] == wanted


def test_log_refuses_odd_times(story, zeroin):
    """With an example of what works."""
    done = zeroin("log", "--since", "yesterday-ish", cwd=story)
    assert (done.returncode, "2h" in done.stderr) == (2, True)


def test_log_into_a_closed_pipe(story, zeroin):
    """`zeroin log | head -0` complains of nothing."""
    line = f"{' '.join(zeroin.driver)} log | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", line], cwd=story, env=zeroin.env, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""


def test_show_tells_everything(story, zeroin):
    """Command, settings, interpreter, code, what changed, traceback with locals, output."""
    text = zeroin("show", "3", cwd=story).stdout
    for wanted in (
        "attempt 3 · failed",
        "python a.py --fast",
        "KEYNAME=b",
        "packages)",
        "tree ",
        "KeyError: 'b'",
        "x = 2",
        "a.py:2 in f",
        "  start",
        "changed",
        "env KEYNAME",
    ):
        assert wanted in text
    assert text.count("Traceback (most recent") == 0  # shown once, in our own form


def test_show_json(story, zeroin):
    """All keys of the design, and what else is kept."""
    found = json.loads(zeroin("show", "2", "--json", cwd=story).stdout)
    assert {
        "id",
        "command",
        "outcome",
        "exit_code",
        "signature",
        "seconds",
        "peak_bytes",
        "changed_since",
    } <= found.keys()
    assert found["changed_since"]["attempt"] == 1
    assert [c["path"] for c in found["changed_since"]["code"]] == ["a.py"]
    assert found["modules"] == {"__main__": str(story / "a.py")}
    assert found["output"].startswith("start\n")


def test_show_output_and_times(project, zeroin):
    """As it was, and with the moment of each line."""
    zeroin("run", "--", "sh", "-c", "echo one; sleep 0.3; echo two >&2; printf three", cwd=project)
    assert zeroin("show", "--output", cwd=project).stdout == "one\ntwo\nthree"
    rows = [line.split() for line in zeroin("show", "--times", cwd=project).stdout.splitlines()]
    assert [(row[1], row[2]) for row in rows] == [("out", "one"), ("err", "two"), ("out", "three")]
    assert float(rows[1][0]) - float(rows[0][0]) >= 0.25


def test_show_does_not_let_output_steer_the_terminal(project, zeroin):
    """Escape sequences of the program's are shown, not obeyed."""
    zeroin("run", "--", "printf", r"\033]0;owned\007\033[2J", cwd=project)
    assert "\x1b" not in zeroin("show", cwd=project).stdout


def test_diff_shows_only_what_differs(story, zeroin):
    """Code as a patch; environment, arguments, outcome and output by name."""
    text = zeroin("diff", "1", "3", cwd=story).stdout
    for wanted in (
        "-f(1)",
        "+f(2) + []",
        "KEYNAME: none → b",
        "command: python a.py → python a.py --fast",
        "passed → failed",
    ):
        assert wanted in text
    only = zeroin("diff", "1", "3", "--only", "env", cwd=story).stdout
    assert only == "environment\n  KEYNAME: none → b\n"


def test_diff_json(story, zeroin):
    """The keys of the design."""
    found = json.loads(zeroin("diff", "1", "3", "--json", cwd=story).stdout)
    assert {"code", "env", "packages", "outcome", "output"} <= found.keys()
    assert found["env"] == [{"name": "KEYNAME", "old": None, "new": "b"}]
    assert found["code"][0]["path"] == "a.py"


def test_diff_of_equals(story, zeroin):
    """Says so."""
    assert "nothing differs" in zeroin("diff", "2", "2", cwd=story).stdout


def test_again_is_the_same_command_environment_and_folder(story, zeroin):
    """Also from another folder, with other variables around."""
    (story / "sub").mkdir()
    done = zeroin("again", "3", "--json", cwd=story / "sub", env={"KEYNAME": "a", "OTHER": "1"})
    assert json.loads(done.stdout)["signature"] == "KeyError at f(): 'b'"
    diff = json.loads(zeroin("diff", "3", "4", "--json", cwd=story).stdout)
    assert (diff["env"], diff["command"], diff["code"]) == ([], [], [])


def test_again_with_its_code(story, zeroin):
    """The old code runs in a folder beside, which is gone after; the user's files are untouched."""
    before = (story / "a.py").read_text()
    done = zeroin("again", "1", "--code", cwd=story)
    assert (done.returncode, done.stdout) == (0, "start\n")
    assert (story / "a.py").read_text() == before
    row = json.loads(zeroin("show", "--json", cwd=story).stdout)
    assert (row["outcome"], row["settings"]["code_of"]) == ("passed", 1)
    assert json.loads(zeroin("diff", "1", "4", "--json", cwd=story).stdout)["code"] == []


def test_again_with_code_imports_the_old_package(project, zeroin):
    """A src layout, found through PYTHONPATH: the copy's, not the checkout's. Ignored data is there."""
    write(project, "src/pkg/__init__.py", "value = 'old'\n")
    write(project, ".gitignore", "data/\n")
    write(project, "data/x", "kept")
    write(project, "main.py", "import pkg; print(pkg.value, open('data/x').read())\n")
    env = {"PYTHONPATH": str(project / "src")}
    zeroin("run", "--", "python", "main.py", cwd=project, env=env)
    write(project, "src/pkg/__init__.py", "value = 'newer'\n")
    assert zeroin("again", "1", "--code", cwd=project).stdout == "old kept\n"
    assert zeroin("again", "1", cwd=project).stdout == "newer kept\n"


def test_oneliner_reproduces_in_another_checkout(project, zeroin, tmp_path):
    """Uncommitted and untracked code, variables and a sub-folder: one line, pasted elsewhere."""
    write(project, "sub/helper.py", "def f(): raise KeyError('untracked')\n")
    write(
        project,
        "sub/a b.py",
        "import os, helper\nassert os.environ['LR'] == \"it's 1\"\nhelper.f()\n",
    )
    (project / "train.py").write_text("changed\n")
    zeroin("run", "--env", "LR=it's 1", "--cwd", "sub", "--", "python", "a b.py", cwd=project)
    line = zeroin("show", "--oneliner", cwd=project).stdout.strip()
    assert "\n" not in line
    other = tmp_path / "other"
    subprocess.run(["git", "clone", "-q", project, other], check=True, env=zeroin.env)
    done = subprocess.run(
        ["bash", "-c", line], cwd=other, env=zeroin.env, capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == "KeyError: 'untracked'"
    assert done.returncode == 1
    trees = subprocess.run(
        ["git", "worktree", "list"],
        cwd=other,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert len(trees.stdout.splitlines()) == 1
    status = subprocess.run(
        ["git", "status", "--porcelain"],
        cwd=other,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert status.stdout == ""


@pytest.mark.parametrize(
    "args", [["show", "99"], ["diff", "1", "99"], ["again", "99"], ["show", "--oneliner", "99"]]
)
def test_no_such_attempt(story, zeroin, args):
    """Exit code 1 and the next command."""
    done = zeroin(*args, cwd=story)
    assert (done.returncode, done.stderr) == (
        1,
        "zeroin: there is no attempt 99\n  see: zeroin log\n",
    )


def test_nothing_recorded_yet(project, zeroin):
    """Says how to begin."""
    for verb in (["log"], ["show"], ["again"]):
        done = zeroin(*verb, cwd=project)
        assert (done.returncode, "zeroin run -- COMMAND" in done.stderr) == (1, True)
    assert not (project / ".zeroin").exists()


def test_gone_folder(project, zeroin):
    """An attempt whose folder was removed can be shown; running it says what is missing."""
    (project / "sub").mkdir()
    zeroin("run", "--cwd", "sub", "--", "true", cwd=project)
    (project / "sub").rmdir()
    assert zeroin("show", cwd=project).returncode == 0
    done = zeroin("again", cwd=project)
    assert (done.returncode, "is gone" in done.stderr) == (1, True)


def test_editable_packages_in_use_are_kept(project, zeroin, tmp_path):
    """Code of the user's own outside of the project, as an editable install puts it."""
    lib = tmp_path / "lib"
    write(lib, "pyproject.toml", "")
    write(lib, "mylib.py", "x = 1\n")
    write(project, "a.py", "import mylib\n")
    zeroin("run", "--", "python", "a.py", cwd=project, env={"PYTHONPATH": str(lib)})
    found = json.loads(zeroin("show", "--json", cwd=project).stdout)["code"]["elsewhere"]
    assert list(found) == [str(lib)]


def test_drivers_read_each_others_records(zeroin, driver, project):
    """One record, whichever interpreter zeroin itself runs on."""
    zeroin("run", "--", "false", cwd=project)
    assert zeroin("log", cwd=project, driver=driver).returncode == 0
    assert zeroin("again", cwd=project, driver=driver).returncode == 1


def test_the_users_git_is_byte_identical(story, zeroin):
    """After all of that."""
    before = snapshot(story / ".git")
    zeroin("run", "--", "python", "a.py", cwd=story)
    zeroin("again", "1", "--code", cwd=story)
    zeroin("show", "--oneliner", cwd=story)
    zeroin("gc", "--to", "1k", cwd=story)
    assert snapshot(story / ".git") == before


def snapshot(folder):
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
