"""Where the record of a run lies, outside of projects above all."""

import os
import shlex
import shutil

import pytest

from zeroin.record import place
from zeroin.record.store import Store


@pytest.fixture
def folder(tmp_path):
    """Make folders of folders outside of any project."""

    def make(name, source="raise KeyError('x')\n"):
        path = tmp_path / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "a.py").write_text(source)
        return path

    return make


def test_each_folder_outside_of_projects_has_its_own_record(zeroin, folder):
    """What ran in one is neither shown, nor compared with, nor counted in another."""
    one, other = folder("one"), folder("other")
    zeroin("run", "--", "python", "a.py", cwd=one)
    shown = zeroin("show", cwd=other)
    assert shown.returncode == 1
    assert "nothing has been recorded in this folder yet" in shown.stderr
    done = zeroin("run", "--", "python", "a.py", cwd=other)
    assert "attempt 1 failed" in done.stderr
    assert "same failure" not in done.stderr
    assert len(zeroin("log", cwd=one).stdout.splitlines()) == 1


@pytest.mark.parametrize("where", ["home", "/"])
def test_the_home_folder_and_the_root_have_records_as_well(zeroin, tmp_path, folder, where):
    """A run there is found there, and not in a folder below."""
    cwd = tmp_path / "home" if where == "home" else "/"
    zeroin("run", "--", "true", cwd=cwd)
    assert "passed" in zeroin("log", cwd=cwd).stdout
    assert zeroin("log", cwd=folder("home/below")).returncode == 1


def test_a_folder_without_a_record_names_that_of_the_folder_above(zeroin, folder, tmp_path):
    """The command in the hint shows the attempts that were meant."""
    above, below = folder("my work"), folder("my work/out/plots")
    zeroin("run", "--", "python", "a.py", cwd=above)
    said = zeroin("log", cwd=below).stderr
    words = shlex.split(said.partition("that of the folder above: ")[2])
    assert words == ["cd", str(above), "&&", "zeroin", "log"]
    assert "KeyError" in zeroin("log", cwd=words[1]).stdout


def test_what_all_folders_once_shared_can_still_be_read(zeroin, folder, tmp_path):
    """The old record is named where it has attempts of the folder, and is shown where it lies."""
    mine, other = folder("mine"), folder("other")
    zeroin("run", "--", "python", "a.py", cwd=mine)
    environ = zeroin.env
    shared = os.path.join(place.state_home(environ), place.SHARED)
    shutil.move(place.find(str(mine), environ).folder, shared)
    said = zeroin("show", cwd=mine).stderr
    assert f"an attempt of it from when all folders shared one: cd {shared} && zeroin log" in said
    assert "shared" not in zeroin("show", cwd=other).stderr
    assert "KeyError" in zeroin("log", cwd=shared).stdout
    assert "KeyError" in zeroin("show", "1", cwd=shared).stdout
    again = zeroin("again", "1", cwd=shared)
    assert f"this attempt is in the record of {mine}" in again.stderr
    assert "KeyError" in zeroin("log", cwd=mine).stdout


def test_a_run_elsewhere_says_whose_record_it_is_in(zeroin, folder, project):
    """With `--cwd`, `zeroin show` has to be typed there; inside a project nothing changes."""
    here, there = folder("here"), folder("there")
    done = zeroin("run", "--cwd", there, "--", "python", "a.py", cwd=here)
    assert f"this attempt is in the record of {there} (to see it: cd {there})" in done.stderr
    assert "KeyError" in zeroin("show", "1", cwd=there).stdout
    (project / "sub").mkdir()
    done = zeroin("run", "--cwd", "sub", "--", "true", cwd=project)
    assert "in the record of" not in done.stderr


def test_records_of_folders_that_are_gone_go_after_a_month(zeroin, folder, tmp_path):
    """The first run in a new folder and `gc` remove them; those of folders that are there stay."""
    environ = zeroin.env
    names = ("gone", "gone lately", "there")
    records = {}
    for name in names:
        path = folder(name)
        zeroin("run", "--", "true", cwd=path)
        records[name] = place.find(str(path), environ).folder
        if name != "gone lately":
            for file in (place.STORE, f"{place.STORE}-wal"):
                if os.path.exists(os.path.join(records[name], file)):
                    os.utime(os.path.join(records[name], file), (0, 0))
        if name != "there":
            shutil.rmtree(path)
    zeroin("run", "--", "true", cwd=folder("new"))
    assert {name for name in names if os.path.exists(records[name])} == {"gone lately", "there"}
    store = Store(records["gone lately"], create=False)
    store.close()
    os.utime(os.path.join(records["gone lately"], place.STORE), (0, 0))
    said = zeroin("gc", cwd=folder("new")).stdout
    assert f"removed the record of a folder that is gone: {tmp_path / 'gone lately'}" in said
    assert os.path.exists(records["there"])
