"""What a run did itself is no change."""

import pytest


def test_what_it_wrote_must_be_as_it_left_it(ask, tmp_path):
    """A file written anew doesn't depend on the old one, but must still be as at the snapshot."""
    (tmp_path / "out.txt").write_text("from an earlier run")
    told = ask(
        """
        step()
        with open("out.txt", "w") as f: f.write("result")
        step(); open("out.txt").close(); os.path.getsize("out.txt")
        told = [fork(), fork(lambda: save("out.txt", "other!")), fork(lambda: os.remove("out.txt"))]
        """
    )
    changed = [[1, "out.txt is no longer as the run had left it"]]
    assert told[0] == []
    assert told[1] == changed
    assert told[2] == changed


def test_a_file_still_open_for_writing_may_have_grown(ask):
    """Its length will be put back: it must only be the same file, and not shorter."""
    told = ask(
        """
        step()
        f = open("log.txt", "a"); f.write("one\\n"); f.flush()
        def grow(): f.write("two\\n"); f.flush()
        def shrink(): os.truncate("log.txt", 2)
        told = [fork(grow), fork(shrink), fork(lambda: save("log.txt", "one\\ntwo\\nthree\\n"))]
        """
    )
    changed = [[1, "log.txt is no longer as the run had left it"]]
    assert told == [[], changed, changed]


def test_an_open_file_is_known_by_its_other_name(ask, tmp_path):
    """Opened through a linked folder, to write and to read: neither counts as C code's."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "in.txt").write_text("x")
    (tmp_path / "alias").symlink_to("real")
    told = ask(
        """
        step(); inputs.mark(); step()
        r = open("alias/in.txt"); w = open("alias/out.txt", "w")
        def grow(): w.write("two"); w.flush()
        told = [fork(grow), fork(lambda: save("real/in.txt", "y"))]
        """
    )
    assert told == [[], [[2, "alias/in.txt was changed and had been read"]]]


def test_reading_what_was_appended_to_is_reading(ask, tmp_path):
    """A cold run now would append once more, and read another text."""
    (tmp_path / "log.txt").write_text("old\n")
    told = ask(
        """
        step()
        with open("log.txt", "a") as f: f.write("one\\n")
        alone = fork()
        step(); open("log.txt").close()
        told = [alone, fork()]
        """
    )
    assert told == [[], [[1, "log.txt was changed and had been read"]]]


@pytest.mark.parametrize(
    ("change", "at"),
    [
        ("open('a', 'r+').write('y')", 1),
        ("os.truncate('a', 0)", 1),
        ("os.remove('a')", 1),
        ("os.rename('a', 'b')", 1),
    ],
)
def test_a_change_of_what_was_there_before(ask, tmp_path, change, at):
    """The run found it in another state than a cold run would find it now."""
    (tmp_path / "a").write_text("x")
    told = ask(f"step(); {change}\ntold = fork()\n")
    assert [position for position, _ in told] == [at]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ("os.mkdir('out')", "out/"),
        ("os.makedirs('out')", "out/"),
        ("os.symlink('x', 'out')", "out"),
        ("os.link('there', 'out')", "out"),
        ("open('out', 'x').close()", "out"),
        ("os.path.exists('out'); open('out', 'w').close()", "out"),
        ("os.path.exists('out'); os.makedirs('out', exist_ok=True)", "out/"),
    ],
)
def test_what_the_run_made_itself(ask, tmp_path, change, path):
    """A cold run now would find it; unless it's gone again."""
    (tmp_path / "there").touch()
    undo = "shutil.rmtree('out')" if path == "out/" else "os.remove('out')"
    told = ask(
        f"""
        import shutil
        step(); {change}
        made = fork()
        {undo}
        told = [made, fork()]
        """
    )
    assert told == [
        [[1, f"{path} was created by the run itself and had been looked for"]],
        [],
    ]


def test_makedirs_that_does_not_mind(ask):
    """`exist_ok=True` gives the same with the folder and without; what is in it may differ."""
    told = ask(
        """
        import pathlib, shutil
        step(); os.makedirs("out/deep/er", exist_ok=True)
        pathlib.Path("two/deep").mkdir(parents=True, exist_ok=True)
        pathlib.Path("touched").touch()
        fine = fork()
        step(); os.path.exists("two/model.pt")
        told = [fine, fork(lambda: save("two/model.pt", "")), fork(lambda: shutil.rmtree("out"))]
        """
    )
    assert told[0] == []
    assert told[1] == [[2, "two/model.pt exists now and was looked for"]]
    assert [1, "out is no longer as the run had left it"] in told[2]


def test_an_atomic_write_is_a_write(ask, tmp_path):
    """A new file moved over the old one: nothing of the old one was used."""
    (tmp_path / "out.txt").write_text("old")
    told = ask(
        """
        step()
        with open("tmp", "w") as f: f.write("new")
        os.replace("tmp", "out.txt")
        told = [fork(), fork(lambda: save("out.txt", "newer"))]
        """
    )
    assert told == [[], [[1, "out.txt is no longer as the run had left it"]]]


def test_a_temporary_folder_is_needed_while_it_is_there(ask):
    """Made before the snapshot and deleted after it: invalid. Made and deleted before: fine."""
    told = ask(
        """
        import tempfile
        step()
        with tempfile.TemporaryDirectory() as folder:
            save(folder + "/a", "x"); os.listdir(folder); os.path.exists(folder + "/b")
            inside = fork()
        step()
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
            step()
        kept = tempfile.NamedTemporaryFile(delete=False)
        kept.close()
        told = [inside, fork()]
        os.remove(kept.name)
        folder = tempfile.TemporaryDirectory()
        told += [fork(folder.cleanup)]
        """
    )
    assert told[:2] == [[], []]
    assert [at for at, _ in told[2]] == [3]
