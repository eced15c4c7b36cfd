"""What is said to have changed between two attempts, and what of it first."""

import json
import subprocess
import sys

import pytest

import support


@pytest.fixture
def edited(project, zeroin):
    """Run a program, edit its module and other files, let it load a new one, and run it again."""
    (project / "zz.py").write_text("value = 1\n")
    (project / "notes.md").write_text("old\n")
    (project / "train.py").write_text("import zz\nprint(zz.value)\n")
    zeroin("run", "--", "python", "train.py", cwd=project)
    (project / "zz.py").write_text("import zy\nvalue = zy.value\n")
    (project / "zy.py").write_text("value = 2\n")
    (project / "notes.md").write_text("new\n")
    for number in range(9):
        (project / f"a{number}.py").write_text("")
    done = zeroin("run", "--env", "LR=3", "--", "python", "train.py", cwd=project)
    return project, done.stderr


def test_files_that_the_program_loaded_come_first(edited, zeroin):
    """A module that was edited, then a new one, then other edits; new files are only counted."""
    project, said = edited
    told = "zz.py (+2 −1), zy.py (new, +1), notes.md (+1 −1), env LR, and 9 new files"
    assert f"changed since 1: {told}" in said
    assert f"{told} (since 1;" in zeroin("show", cwd=project).stdout
    for verb in ("show", "log"):
        first = zeroin(verb, "--json", cwd=project).stdout.splitlines()[0]
        code = json.loads(first)["changed_since"]["code"]
        assert [one["path"] for one in code][:3] == ["zz.py", "zy.py", "notes.md"]
        assert [one["loaded"] for one in code][:4] == [True, True, False, False]


def test_a_patch_begins_with_what_the_program_loaded(edited, zeroin):
    """`diff` has the same order, and still all of it."""
    project, _ = edited
    patch = json.loads(zeroin("diff", "1", "2", "--json", cwd=project).stdout)["patch"]
    names = [line.split(" b/")[1] for line in patch.splitlines() if line.startswith("diff --git")]
    assert names[:3] == ["zz.py", "zy.py", "notes.md"]
    assert sorted(names) == sorted(set(names))
    assert len(names) == 12


def test_few_new_files_are_named(project, zeroin):
    """Also where nothing else has changed; the first four of many."""
    for number in range(6):
        zeroin("run", "--", "python", "train.py", cwd=project)
        (project / f"a{number}").write_text("")
    said = zeroin("run", "--", "python", "train.py", cwd=project).stderr
    assert "changed since 6: a5 (new, +0)" in said
    for number in range(6):
        (project / f"b{number}").write_text("")
    said = zeroin("run", "--", "python", "train.py", cwd=project).stderr
    assert "b0 (new, +0), b1 (new, +0), b2 (new, +0), b3 (new, +0) and 2 more" in said


def make_environment(folder, python, packages):
    """An environment on that interpreter, with the marks of installed packages."""
    support.place_python(folder, python)
    site = folder / "lib" / f"python{python_version(python)[0]}" / "site-packages"
    for name in packages:
        (site / f"{name}.dist-info").mkdir(parents=True)
    return folder / "bin" / "python"


def python_version(python):
    """`("3.11", "3.11.7")` of an interpreter."""
    minor = next(v for v, path in support.interpreters().items() if path == python)
    full = subprocess.run([python, "-V"], capture_output=True, text=True, check=True).stdout
    return minor, full.split()[1]


def test_another_interpreter_is_one_change(project, zeroin, tmp_path):
    """Not one for each package of it; all of them are there when asked for."""
    old, *_, new = support.interpreters().values()
    many = [f"package{number}-1.{number}" for number in range(20)]
    pythons = [
        make_environment(tmp_path / "one", old, ["numpy-1.26", *many]),
        make_environment(tmp_path / "two", new, ["numpy-2.0"]),
    ]
    for python in pythons:
        done = zeroin("run", "--", python, "train.py", cwd=project)
    versions = [python_version(python)[1] for python in (old, new)]
    told = f"another Python: {versions[0]} → {versions[1]} (21 packages differ)"
    assert f"changed since 1: {told}\n" in done.stderr + "\n"
    assert f"{told} (since 1;" in zeroin("show", cwd=project).stdout
    whole = zeroin("diff", "1", "2", cwd=project).stdout
    assert f"another Python: {versions[0]} {pythons[0]} → {versions[1]} {pythons[1]}" in whole
    assert "21 differ, as another Python ran: zeroin diff 1 2 --only packages" in whole
    assert "numpy" not in whole
    asked = zeroin("diff", "1", "2", "--only", "packages", cwd=project).stdout
    assert "numpy: 1.26 → 2.0" in asked
    data = json.loads(zeroin("diff", "1", "2", "--json", cwd=project).stdout)
    assert data["python"] == {"name": "python", "old": versions[0], "new": versions[1]}
    assert len(data["packages"]) == 21


def test_environments_of_one_version_are_told_by_their_folders(project, zeroin, tmp_path):
    """Few packages that differ are named; another name of the same Python is none."""
    own = support.interpreters()[f"3.{sys.version_info[1]}"]
    one, two = (
        make_environment(tmp_path / name, own, [f"numpy-{number}.0", "idna-3.4"])
        for number, name in enumerate(("one", "two"))
    )
    zeroin("run", "--", one, "train.py", cwd=project)
    said = zeroin("run", "--", two, "train.py", cwd=project).stderr
    folders = f"{tmp_path / 'one'} → {tmp_path / 'two'}"
    assert f"changed since 1: another Python: {folders} (numpy 0.0 → 1.0)" in said
    zeroin("run", "--", f"{two}3", "train.py", cwd=project)
    assert "another Python" in zeroin("diff", "1", "3", cwd=project).stdout
    assert "another Python" not in zeroin("diff", "2", "3", cwd=project).stdout
