"""Commands that see other files than we do, and whose changes vanish."""

import os

import pytest

from zeroin.run.apart import Layer, View, can_be_apart, spawn_apart


@pytest.fixture
def view(tmp_path):
    """A folder with two files, of which one is another in the view."""
    root, scratch = tmp_path / "root", tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    (root / "data").write_text("old\n")
    (root / "log").write_text("log\n")
    (tmp_path / "new").write_text("new\n")
    return View(str(root), str(scratch), ((str(root / "data"), str(tmp_path / "new")),))


def run(view, script):
    reader, writer = os.pipe()
    command = ["sh", "-c", script]
    pid = spawn_apart(command, view.root, dict(os.environ), writer, writer, view)
    os.close(writer)
    with open(reader) as file:
        said = file.read()
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def test_it_sees_what_it_is_given(view):
    """Under the old name, from the folder that it is started in."""
    assert can_be_apart(view) == ""
    assert run(view, "cat data log; pwd; id -u") == (0, f"new\nlog\n{view.root}\n{os.getuid()}\n")


def test_what_it_changes_is_its_own(view):
    """Nothing of it is there afterwards, nor for the next one."""
    assert run(view, "echo more >> log; rm -f x; mkdir made; cat log")[1] == "log\nmore\n"
    assert sorted(os.listdir(view.root)) == ["data", "log"]
    assert run(view, "cat log; ls")[1] == "log\ndata\nlog\n"


def test_an_odd_name(tmp_path):
    """Colons, commas and backslashes mean something to the kernel."""
    root = tmp_path / "a:b,c\\d é"
    scratch = tmp_path / "scratch"
    root.mkdir()
    scratch.mkdir()
    view = View(str(root), str(scratch))
    assert run(view, "echo x > y; cat y; pwd") == (0, f"x\n{root}\n")
    assert os.listdir(root) == []


def test_why_it_can_not_be(view):
    """The step that failed is said."""
    told = can_be_apart(view._replace(scratch=f"{view.root}/nowhere"))
    assert "nowhere" in told


def test_changes_are_put_back_from_outside(view, tmp_path):
    """While a process lives in the view: what was made, changed and removed since it began."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    reader, writer = os.pipe()
    script = f"mkdir old; echo 1 > old/first; echo ready; read x < {fifo}; echo b >> log; mkdir new; echo c > new/c; rm data2; echo done; read y < {fifo}; cat log data2; ls"
    (tmp_path / "root" / "data2").write_text("two\n")
    pid = spawn_apart(["sh", "-c", script], view.root, dict(os.environ), writer, writer, view)
    os.close(writer)
    with open(reader) as said:
        assert said.readline() == "ready\n"
        layer = Layer(pid, view)
        layer._first = layer._listed()
        fifo.write_text("go\n")
        assert said.readline() == "done\n"
        assert layer.put_back()
        fifo.write_text("go\n")
        assert said.read() == "log\ntwo\ndata\ndata2\nlog\nold\n"
    os.waitpid(pid, 0)
