"""The command line itself: help, errors, start-up, and who may print."""

import ast
import json
import os
import subprocess
import sys

import pytest

import support
from zeroin.fronts.cli import VERBS, run


def test_version(zeroin):
    """On stdout, exit code 0."""
    done = zeroin("--version")
    assert (done.returncode, done.stdout.startswith("zeroin 0.")) == (0, True)


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_verb(zeroin, args):
    """And how to begin."""
    done = zeroin(*args)
    assert done.returncode == 0
    assert all(f"  {verb}" in done.stdout for verb in VERBS)
    assert "zeroin run -- python train.py" in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_examples(zeroin, verb):
    """And each example uses that verb."""
    done = zeroin(verb, "--help")
    assert done.returncode == 0
    examples = done.stdout.partition("examples:\n")[2].splitlines()
    assert len(examples) >= 2
    assert all(line.startswith(f"  zeroin {verb}") for line in examples)
    assert zeroin("help", verb).stdout == done.stdout


@pytest.mark.parametrize(
    ("word", "hint"),
    [("rnu", "zeroin run"), ("train.py", "zeroin run -- COMMAND"), ("xyzzy", "zeroin --help")],
)
def test_unknown_verbs_get_a_hint(zeroin, word, hint):
    """Exit code 2."""
    done = zeroin(word)
    assert (done.returncode, hint in done.stderr) == (2, True)


def test_a_bug_of_ours_says_so(zeroin, project):
    """Exit code 3, and a report to attach."""
    code = "import sys, zeroin.fronts.cli.log as m; m.main = lambda a: 1/0; from zeroin.fronts.cli import main; sys.exit(main(['log']))"
    done = zeroin(cwd=project, driver=[sys.executable, "-c", code])
    assert done.returncode == 3
    assert "a bug in zeroin, not in your program" in done.stderr
    path = done.stderr.strip().rpartition(": ")[2]
    with open(path) as file:
        assert "ZeroDivisionError" in file.read()


def loaded(*args, cwd):
    """The modules that a verb loads."""
    code = f"import sys; sys.argv = ['zeroin', *{list(args)!r}]; from zeroin.fronts.cli import main; main(); print('\\n'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False
    )
    return set(done.stderr.split())


def test_start_up_loads_nothing_heavy(tmp_path):
    """What costs milliseconds is imported by the verb that needs it, when it needs it."""
    assert not loaded("--version", cwd=tmp_path) & {
        "argparse",
        "re",
        "json",
        "sqlite3",
        "subprocess",
        "typing",
        "enum",
    }
    run = loaded("run", "--no-record", "--", "true", cwd=tmp_path)
    assert not run & {
        "asyncio",
        "dataclasses",
        "inspect",
        "tempfile",
        "sqlite3",
        "tomllib",
        "rich",
        "importlib.metadata",
        "zeroin.cycle.mask",
    }


def sources(*below):
    for folder in below:
        for path in sorted((support.SRC / "zeroin" / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text())


def test_only_fronts_print():
    """Tools return reports; the agent never says a word in the user's program."""
    rooms = [
        "agent",
        "axes",
        "cycle",
        "emulate",
        "observe",
        "record",
        "run",
        "search",
        "sheets",
        "tiny",
        "tools",
    ]
    for path, tree in sources(*rooms):
        if path.name in ("trials.py", "gpu_holder.py"):  # scripts, whose stdout is a pipe of ours
            continue
        if path.parent.name == "look":  # the library, which the program itself calls to speak
            continue
        if path.parts[-2:] == ("probes", "say.py"):  # probes are asked to speak
            continue
        if path.parent.name == "notebook":  # a cell's cost stands below what the cell has said
            continue
        for node in ast.walk(tree):
            assert not (isinstance(node, ast.Name) and node.id == "print"), path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in {("sys", "stdout"), ("sys", "stderr")}, (
                    path
                )


def test_the_agent_is_standard_library_only():
    """It runs in environments where nothing of ours is installed."""
    for path, tree in [*sources("agent"), *sources("common")]:
        if path.parts[-3:] == ("agent", "common", "__init__.py"):  # for type checkers alone
            continue
        for node in ast.walk(tree):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            for name in names:
                root = name.partition(".")[0]
                # The debugger takes the user's own ipdb where it is; boot names the agent itself.
                assert root in sys.stdlib_module_names or root in {
                    "_zeroin_agent",
                    "IPython",
                    "traitlets",  # which IPython stands on
                    "pytest",  # by what pytest itself loads
                    "_pytest",
                    "ipdb",
                    "_remote_debugging",  # of the standard library since 3.14
                }, (path, name)


def test_config_layers(zeroin, project):
    """Project, then user, then ZEROIN_*: each over the one before."""
    secret = {"MYWORD": "abcdefgh"}
    (project / "pyproject.toml").write_text("[tool.zeroin]\nsecrets = ['MYWORD']\n")
    zeroin("run", "--", "sh", "-c", "echo $MYWORD", cwd=project, env=secret)
    assert zeroin("show", "--output", cwd=project).stdout == "<secret>\n"
    zeroin(
        "run",
        "--",
        "sh",
        "-c",
        "echo $MYWORD",
        cwd=project,
        env=secret | {"ZEROIN_SECRETS": "OTHER"},
    )
    assert zeroin("show", "--output", cwd=project).stdout == "abcdefgh\n"


def test_config_mistakes_are_named(zeroin, project):
    """The file, the key, and the keys there are."""
    (project / "pyproject.toml").write_text("[tool.zeroin]\ncolour = 'red'\n")
    done = zeroin("run", "--", "true", cwd=project)
    assert (done.returncode, "colour" in done.stderr, "store_max" in done.stderr) == (0, True, True)


def test_broken_pyproject_is_not_our_business(zeroin, project):
    """The command runs."""
    (project / "pyproject.toml").write_text("[tool.zeroin\n")
    assert zeroin("run", "--", "true", cwd=project).returncode == 0


def test_code_can_be_left_out(zeroin, project):
    """`code = false` keeps no snapshot, and diff says so instead of showing nothing."""
    (project / "pyproject.toml").write_text("[tool.zeroin]\ncode = false\n")
    zeroin("run", "--", "true", cwd=project)
    zeroin("run", "--", "true", cwd=project)
    assert json.loads(zeroin("show", "--json", cwd=project).stdout)["code"]["tree"] is None
    assert "not kept" in zeroin("diff", "1", "2", cwd=project).stdout


def test_odd_names_of_everything(zeroin, tmp_path):
    """Blanks, quotes, newlines and bytes that are no UTF-8 in folders, files and arguments."""
    folder = os.path.join(os.fsencode(tmp_path), b"a 'b\" \n \xff c")
    os.makedirs(os.path.join(folder, b".git"))
    with open(os.path.join(folder, b"x \xfe.py"), "wb") as file:
        file.write(b"import sys\nraise KeyError(sys.argv[1])\n")
    command = [*zeroin.driver, "run", "--", "python", b"x \xfe.py", b"arg \xfd \n"]
    done = subprocess.run(command, cwd=folder, env=zeroin.env, capture_output=True, check=False)
    assert done.returncode == 1
    assert "attempt 1 failed" in done.stderr.decode("utf-8", "replace")
    for verb in (
        ["log"],
        ["show"],
        ["log", "--json"],
        ["show", "--json"],
        ["again"],
        ["diff", "1", "2"],
        ["show", "--env"],
    ):
        read = subprocess.run(
            [*zeroin.driver, *verb], cwd=folder, env=zeroin.env, capture_output=True, check=False
        )
        assert read.returncode == (1 if verb == ["again"] else 0), (verb, read.stderr)


def test_a_run_without_options_needs_no_parser():
    """What each option is then is what argparse would say."""
    assert vars(run.plain()) == vars(run.parser().parse_args([]))


def test_a_plain_run_loads_neither_argparse_nor_typing(zeroin, project):
    """They take longer than all the rest."""
    code = (
        "import sys; from zeroin.fronts.cli import enter; import os; end = os._exit\n"
        "def tell(code):\n"
        "    print(sorted({'argparse', 'typing', 'datetime'} & set(sys.modules)))\n"
        "    sys.stdout.flush(); end(code)\n"
        "os._exit = tell\nsys.argv = ['zeroin', 'run', '--', 'true']\n"
        "try:\n    enter()\nexcept SystemExit as done:\n    tell(done.code or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
