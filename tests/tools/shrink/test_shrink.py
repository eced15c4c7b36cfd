"""`zeroin shrink`: what a user gets."""

import json
import re
import subprocess

import pytest

COMMAND = ["--", "python", "train.py", "data.jsonl"]
# So that the search is made once, not by each process of pytest.
at_one_worker = pytest.mark.xdist_group("plain_search")


@at_one_worker
def test_the_rows_that_matter(plain_search, program):
    """Of sixty rows the one is left that has the number and no label; the payload itself stays."""
    before = (program / "data.jsonl").read_bytes()
    done, program = plain_search, plain_search.folder
    assert done.code == 0, done.err
    told = done.told
    assert (told["verdict"], told["confirmed"]) == ("found", True)
    (payload,) = told["payloads"]
    assert (payload["parts_before"], payload["parts_after"]) == (60, 1)
    assert json.loads((program / payload["result"]).read_text()) == {"id": 40}
    assert (program / "data.jsonl").read_bytes() == before
    assert told["command"] == ["python", "train.py", "data.min.jsonl"]


@at_one_worker
def test_how_soon_it_was_how_small(plain_search):
    """Each step is smaller than the one before and took more tries; the last is the result."""
    told = plain_search.told
    steps = [(one["tries"], one["bytes_now"]) for one in told["steps"]]
    assert len(steps) > 1
    assert [size for _, size in steps] == sorted({size for _, size in steps}, reverse=True)
    assert [tries for tries, _ in steps] == sorted(tries for tries, _ in steps)
    assert steps[-1][1] == (plain_search.folder / "data.min.jsonl").stat().st_size
    assert steps[-1][0] <= told["tries"]


@pytest.mark.parametrize(
    "fails",
    ["raise ValueError(f\"odd id {row['id']}\")", "assert row['id'] != 1713", "f(**row)"],
    ids=["its message", "its line", "its values"],
)
def test_the_failure_says_where_to_look(shrink, project, fails):
    """By one guess the row is found of which the message, the line or the locals tell."""
    lines = [json.dumps({"id": n, "text": f"lorem {n * 7} ipsum"}) + "\n" for n in range(2000)]
    (project / "data.jsonl").write_text("".join(lines))
    (project / "go.py").write_text(
        "import json, sys\ndef f(id, text):\n    if id == int('1' + '713'): raise KeyError\n"
        "for line in open(sys.argv[1]):\n    row = json.loads(line)\n"
        f"    if row['id'] == int('1' + '713'):\n        {fails}\n"
    )
    told = shrink("data.jsonl", "--cold", "-j", "1", "--", "python", "go.py", "data.jsonl").told
    assert (told["verdict"], told["payloads"][0]["parts_after"]) == ("found", 1)
    first = told["steps"][0]
    assert (first["tries"] <= 6, first["bytes_now"] < 1000) == (True, True), told["steps"]


def test_what_it_prints_reproduces_it(shrink, program, zeroin):
    """The last line is a command, and it fails the same way."""
    done = shrink("data.jsonl", *COMMAND, text=True)
    last = done.out.splitlines()[-1]
    assert last.startswith("reproduce: ")
    again = subprocess.run(
        last.removeprefix("reproduce: "),
        shell=True,
        cwd=program,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.stderr.endswith("KeyError: 'label'\n")


@at_one_worker
def test_other_failures_are_counted_not_taken(plain_search):
    """An empty file fails as well, but in another way; one example of it is kept."""
    others = {one["signature"]: one for one in plain_search.told["other_failures"]}
    (empty,) = [one for name, one in others.items() if "ValueError" in name]
    assert (plain_search.folder / empty["example"]).is_dir()


@pytest.mark.parametrize("jobs", [1, 3])
def test_one_worker_and_three_find_the_same(shrink, program, jobs):
    """What is tried ahead does not change the result."""
    done = shrink("data.jsonl", "-j", str(jobs), *COMMAND)
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
    assert done.told["confirmed"]


def test_several_payloads(shrink, program):
    """Each is made smaller."""
    (program / "more.json").write_text(json.dumps({"a": {"b": [1, 2, 3]}, "on": True}))
    source = (
        (program / "train.py")
        .read_text()
        .replace(
            "    if not rows:",
            '    if not json.load(open("more.json"))["on"]:\n        return\n    if not rows:',
        )
    )
    (program / "train.py").write_text(source)
    done = shrink("data.jsonl", "more.json", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    assert (program / "data.min.jsonl").read_text() == '{"id":40}\n'
    assert (program / "more.min.json").read_text() == '{"on":true}'


def test_arguments_that_matter(shrink, program):
    """Of a long command line, what is needed."""
    words = ["python", "train.py", "data.jsonl", "--lr", "0.1", "--quiet", "--seed=1"]
    done = shrink("--args", "--", *words)
    (args,) = done.told["payloads"]
    assert args["text"] == "train.py data.jsonl"
    assert done.told["command"] == ["python", "train.py", "data.jsonl"]


SCRIPT = """\
import json
import sys

def collate(rows):
    return [row["label"] for row in rows]

def main():
    rows = [json.loads(line) for line in open(sys.argv[1])]
    if rows:
        collate(rows)

main()
"""


def test_a_script(shrink, project):
    """The program itself: a small one that fails the same way."""
    (project / "train.py").write_text(SCRIPT)
    (project / "data.jsonl").write_text('{"id": 40}\n')
    done = shrink("train.py", "-j", "1", *COMMAND)
    assert done.told["verdict"] == "found", done.err
    small = (project / "train.min.py").read_text()
    assert len(small) < 140 < len(SCRIPT), small
    assert "collate" in small
    assert "main" not in small


def test_a_package(shrink, project):
    """Files that are not needed go, and the package stays importable."""
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from .a import run\n")
    (package / "a.py").write_text("from .b import fail\n\ndef run():\n    fail({})\n\nx = 1\n")
    (package / "b.py").write_text("import json\n\ndef fail(d):\n    return d['k']\n\ny = 2\n")
    for number in range(20):
        (package / f"other{number}.py").write_text(f"value = {number}\n")
    (project / "main.py").write_text("import pkg\npkg.run()\n")
    done = shrink("pkg", "--", "python", "main.py")
    assert done.told["verdict"] == "found", done.err
    left = sorted(path.name for path in (project / "pkg_min").iterdir() if path.is_file())
    assert left == ["__init__.py", "a.py", "b.py"]


@pytest.fixture
def package(project):
    """Forty modules, of which three are imported."""
    own = project / "pkg"
    own.mkdir()
    (own / "__init__.py").write_text("")
    (own / "start.py").write_text("from . import part7, part8\n\ndef run():\n    part7.fail({})\n")
    for number in range(40):
        (own / f"part{number}.py").write_text("def fail(d):\n    return d['k']\n" * 3)
    (project / "main.py").write_text(
        "import importlib, os, sys\nsys.path.insert(0, os.getcwd())\n"
        "importlib.import_module(sys.argv[1].rstrip('/') + '.start').run()\n"
    )
    return project


def test_files_that_were_never_opened_go_at_once(shrink, package):
    """The first try leaves only what the failing run has opened, so few tries are needed."""
    done = shrink("pkg", "--cold", "-j1", "--", "python", "main.py", "pkg")
    assert (done.told["verdict"], done.told["confirmed"]) == ("found", True)
    first = done.told["steps"][0]
    assert (first["tries"], first["bytes_now"] < 500) == (
        4,
        True,
    )  # two of the baseline, one of nothing
    assert done.told["payloads"][0]["parts_after"] == 2


def test_a_package_can_be_imported_by_its_new_name(shrink, package):
    """What is printed works as it stands: the result has a name that Python can import."""
    done = shrink("pkg/", "--", "python", "main.py", "pkg/")
    assert done.told["command"] == ["python", "main.py", "pkg_min"]
    words = done.told["command"]
    again = subprocess.run(words, cwd=package, capture_output=True, text=True, check=False)
    assert again.stderr.endswith("KeyError: 'k'\n")


@pytest.mark.parametrize("words", [["--exit", "1"], ["--match", "Error", "--exit", "1"]])
def test_a_rule_that_nothing_at_all_meets(shrink, program, words):
    """An empty file ends with 1 as well: that is said, and the first failure is what is shrunk."""
    done = shrink("data.jsonl", *words, *COMMAND)
    assert (done.told["verdict"], done.told["confirmed"]) == ("found", True)
    left = [json.loads(line) for line in (program / "data.min.jsonl").read_text().splitlines()]
    assert left == [{"id": 40}]
    (note,) = done.told["notes"]
    assert "exit 1 is met with nothing in the payload as well (ValueError" in note


def test_a_rule_that_another_failure_meets(shrink, program):
    """What the user asked for is found, and it is said that it is another failure."""
    (program / "train.py").write_text(
        "import json, sys\nfor line in open(sys.argv[1]):\n"
        "    row = json.loads(line)\n    row['id'], row['label']\n"
    )
    done = shrink("data.jsonl", "--match", "KeyError", *COMMAND)
    assert (done.told["verdict"], done.told["confirmed"]) == ("found", True)
    assert (program / "data.min.jsonl").read_text() == "{}\n"
    (note,) = done.told["notes"]
    assert "--match KeyError is met by another failure as well: KeyError" in note


def test_both_rules_have_to_be_met(shrink, program):
    """With --match and --exit, what meets only one of them is another failure."""
    done = shrink("data.jsonl", "--match", "KeyError", "--exit", "7", *COMMAND, text=True)
    assert (done.code, "for --match KeyError and exit 7" in done.out) == (1, True), done.out


def test_nothing_at_all_is_interesting(shrink, program):
    """A script that takes an empty payload can't tell what is meant: code 1, and nothing written."""
    script = program / "check.sh"
    script.write_text("#!/bin/sh\n! python train.py data.jsonl\n")
    script.chmod(0o755)
    done = shrink("--interesting", "./check.sh", "data.jsonl", text=True)
    assert (done.code, "nothing at all is interesting" in done.out) == (1, True), done.out
    assert not (program / "data.min.jsonl").exists()


def test_interesting_as_others_have_it(shrink, program):
    """A script that ends with 0 for what is of interest."""
    script = program / "check.sh"
    script.write_text("#!/bin/sh\ngrep -q '\"id\": 40' data.jsonl\n")
    script.chmod(0o755)
    done = shrink("--interesting", "./check.sh", "data.jsonl")
    assert done.told["verdict"] == "found", done.err
    assert (program / "data.min.jsonl").read_text().strip() == '{"id": 40}'


def test_one_file_of_a_script_and_its_modules(shrink, project, zeroin):
    """With --inline what is left needs none of them, also from a package, and fails the same way."""
    package = project / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("from .deep import fail\n\nNAME = 'pkg'\n")
    (package / "deep.py").write_text(
        "import json\nfrom . import other\n\n\ndef fail(d):\n    'a \\\\ b'\n    return d[other.KEY]\n"
    )
    (package / "other.py").write_text("import os\n\nKEY = 'k'\nUNUSED = [1, 2, 3]\n")
    (project / "unused.py").write_text("print('imported')\n")
    (project / "main.py").write_text(
        "from __future__ import annotations\n\nimport pkg\nimport unused\n\nprint(pkg.NAME)\npkg.fail({})\n"
    )
    done = shrink("--inline", "-j", "1", "main.py", "--", "python", "main.py")
    assert done.told["verdict"] == "found", (done.out, done.err)
    assert done.told["confirmed"], done.out
    alone = project / "alone"
    alone.mkdir()
    (project / "main.min.py").rename(alone / "main.min.py")
    again = zeroin("run", "--", "python", "main.min.py", cwd=alone)
    assert "KeyError: 'k'" in again.stderr
    assert "UNUSED" not in (alone / "main.min.py").read_text()
    assert shrink("--inline", "pkg", "--", "python", "main.py").code == 2


def test_where_results_go(shrink, program):
    """Never over what they are made of; with several into a folder, which is made."""
    before = (program / "data.jsonl").read_text()
    for target in ("data.jsonl", "train.py", "./data.jsonl"):
        done = shrink("-o", target, "data.jsonl", *COMMAND)
        assert (done.code, "that is what it is made of" in done.err) == (2, True)
    assert (program / "data.jsonl").read_text() == before
    (program / "other.txt").write_text("a\nb\n")
    done = shrink("-o", "out", "data.jsonl", "other.txt", *COMMAND)
    assert sorted(one.name for one in (program / "out").iterdir()) == [
        "data.min.jsonl",
        "other.min.txt",
    ]
    assert "out/data.min.jsonl" in done.told["command"]


@pytest.mark.parametrize(("key", "is_plain"), [("'no'", True), ("__name__", False)])
def test_one_file_is_plain_where_it_can_be(shrink, project, key, is_plain):
    """Statements one after the other, smaller still; modules as texts where it takes modules."""
    (project / "helper.py").write_text(f"import os\n\ndef fail():\n    return {{}}[{key}]\n")
    (project / "main.py").write_text("import helper\nhelper.fail()\n")
    done = shrink("--inline", "--strict", "-j", "1", "main.py", "--", "python", "main.py")
    assert (done.told["verdict"], done.told["confirmed"]) == ("found", True)
    left = (project / "main.min.py").read_text()
    assert ("helper" not in left, "import" not in left) == (is_plain, is_plain), left


def test_one_file_of_several_goes_where_it_is_told_to(shrink, project):
    """`--inline -o FILE` writes the one file there."""
    (project / "helper.py").write_text("def fail():\n    raise KeyError('x')\n")
    (project / "main.py").write_text("import helper\nhelper.fail()\n")
    done = shrink("--inline", "-j", "1", "-o", "one.py", "main.py", "--", "python", "main.py")
    assert [one["result"] for one in done.told["payloads"]] == ["one.py"]
    assert "KeyError" in (project / "one.py").read_text()


@pytest.mark.parametrize("words", [["--args", "--env", "-j1"], ["--args", "--variables"]])
def test_which_arguments_and_variables_matter(shrink, project, words):
    """`--env` without a variable asks for them, as `--args` does; with one it sets it."""
    (project / "a.py").write_text(
        "import os, sys\nif os.environ.get('MODE') == 'fast' and '-x' in sys.argv: raise KeyError\n"
    )
    done = shrink("--env", "MODE=fast", *words, "--", "python", "a.py", "-y", "1", "-x")
    assert done.told, (done.out, done.err)
    left = {one["path"]: one["text"] for one in done.told["payloads"]}
    assert left["args"] == "a.py -x"
    assert {word.split("=")[0] for word in left["env"].split()} <= {
        "MODE",
        "PATH",
    }  # it finds python


@pytest.mark.parametrize(
    "words", [["--env", "MODE=fast"], ["--env", "MODE=fast", "--variables"], ["--cwd", "{project}"]]
)
def test_what_is_to_be_typed_to_see_it(shrink, program, zeroin, tmp_path, words):
    """The printed line fails the same way, with all variables and the folder that it takes."""
    source = (program / "train.py").read_text()
    mode = "" if "--cwd" in words else 'import os\nif os.environ.get("MODE") != "fast": exit()\n'
    (program / "train.py").write_text(mode + source)
    words = [word.format(project=program) for word in words]
    here = tmp_path if "--cwd" in words else program
    done = zeroin("shrink", *words, "data.jsonl", *COMMAND, cwd=here)
    (written,) = re.findall("written: (.*)", done.stdout)
    assert (here / written).exists()
    (line,) = re.findall("reproduce: (.*)", done.stdout)
    again = subprocess.run(
        ["sh", "-c", line], cwd=here, env=zeroin.env, capture_output=True, text=True, check=False
    )
    assert "KeyError: 'label'" in again.stderr
