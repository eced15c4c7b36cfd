"""Files that a run read: are they different now?"""


def test_a_file_read_and_changed_counts_from_its_first_use(ask, tmp_path):
    """Each of open, os.open and io.open_code is seen; the position is that of the first use."""
    for name in ("a.txt", "b.txt", "c.txt", "d.txt"):
        (tmp_path / name).write_text("old")
    told = ask(
        """
        import io
        step(); open("a.txt").close()
        step(); os.close(os.open("b.txt", os.O_RDONLY))
        step(); io.open_code(os.path.abspath("c.txt")).close()
        step(); open("a.txt").close()
        nothing = fork()
        told = [nothing, fork(lambda: [save(n + ".txt", "new") for n in "abcd"])]
        """
    )
    assert told == [
        [],
        [
            [1, "a.txt was changed and had been read"],
            [2, "b.txt was changed and had been read"],
            [3, "c.txt was changed and had been read"],
        ],
    ]


def test_a_save_without_a_change_is_no_change(ask, tmp_path):
    """A touch, and an atomic save of the same text, change nothing; a changed letter does."""
    (tmp_path / "a.txt").write_text("same")
    told = ask(
        """
        step(); open("a.txt").close()
        told = [
            fork(lambda: os.utime("a.txt", (1, 1))),
            fork(lambda: save("a.txt", "same")),
            fork(lambda: save("a.txt", "sane")),
        ]
        """
    )
    assert told == [[], [], [[1, "a.txt was changed and had been read"]]]


def test_a_large_file_counts_as_changed_by_its_time(ask, tmp_path):
    """What is too large to be hashed in passing goes by size and time."""
    (tmp_path / "a.bin").write_bytes(bytes(2 << 20))
    told = ask(
        """
        step(); open("a.bin", "rb").close()
        told = [fork(), fork(lambda: os.utime("a.bin", (1, 1)))]
        """
    )
    assert told == [[], [[1, "a.bin was changed and had been read"]]]


def test_a_file_not_found_that_exists_now(ask, tmp_path):
    """A failed open is a use; so is a file that was read and is gone."""
    (tmp_path / "b.txt").write_text("x")
    told = ask(
        """
        step()
        try: open("a.txt")
        except FileNotFoundError: pass
        step(); open("b.txt").close()
        told = [fork(), fork(lambda: (save("a.txt", ""), os.remove("b.txt")))]
        """
    )
    assert told == [
        [],
        [[1, "a.txt exists now and was looked for"], [2, "b.txt is gone"]],
    ]


def test_a_stepped_source_counts_only_when_it_is_gone_or_read_by_the_program(ask, tmp_path):
    """Import and tracebacks don't count for an exempt file; `open` in the program does."""
    for name in ("m.py", "n.py"):
        (tmp_path / name).write_text("import linecache\nlinecache.getline(__file__, 1)\n")
    told = ask(
        """
        step(); import m, n
        inputs.exempt(m.__file__); inputs.exempt("n.py")
        step()
        import pathlib; pathlib.Path(n.__file__).read_text()
        told = [fork(lambda: [save("m.py", "1"), save("n.py", "1")]), fork(lambda: os.remove("m.py"))]
        """
    )
    assert told[0] == [[2, "n.py was changed and had been read"]]
    assert [1, "m.py is gone"] in told[1]


def test_a_path_means_what_it_meant_when_it_was_used(ask, tmp_path):
    """`os.chdir` between two uses of the same words."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.txt").write_text(name)
    told = ask(
        """
        os.path.exists("later")
        os.chdir("one"); step(); open("a.txt").close(); os.path.exists("later")
        os.chdir("../two"); step(); open("a.txt").close(); os.path.exists("later")
        told = [
            fork(lambda: save("a.txt", "new")), fork(lambda: save("../one/a.txt", "new")),
            fork(lambda: save("later", "")),
        ]
        """
    )
    assert told[0] == [[2, "two/a.txt was changed and had been read"]]
    assert told[1][0] == [1, "one/a.txt was changed and had been read"]
    assert [2, "two/later exists now and was looked for"] in told[2]
