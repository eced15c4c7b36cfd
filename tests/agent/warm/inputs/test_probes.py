"""What a run asked about files without reading them."""

import pytest


@pytest.mark.parametrize(
    "probe",
    [
        "os.path.exists(p)",
        "os.path.isfile(p)",
        "os.path.isdir(p)",
        "os.path.lexists(p)",
        "os.path.islink(p)",
        "os.access(p, os.R_OK)",
        "pathlib.Path(p).exists()",
        "pathlib.Path(p).is_file()",
        "pathlib.Path(p).is_dir()",
        "os.stat(p)",
        "os.lstat(p)",
        "os.readlink(p)",
        "os.stat(p, dir_fd=os.open('.', os.O_RDONLY))",
        "os.stat(os.fsencode(p))",
        "os.stat(path=p)",
    ],
)
def test_a_probe_that_found_nothing(ask, probe):
    """However it is asked for, a path that was not there and is there now counts."""
    told = ask(
        f"""
        import pathlib
        p = "cache.pkl"
        step()
        try: {probe}
        except FileNotFoundError: pass
        told = [fork(), fork(lambda: save(p, ""))]
        """
    )
    assert told == [[], [[1, "cache.pkl exists now and was looked for"]]]


def test_pathlib_loaded_before_is_seen_as_well(ask):
    """Before 3.11 pathlib keeps the functions of `os`: those are exchanged, too."""
    told = ask(
        """
        step(); pathlib.Path("cache.pkl").exists()
        told = fork(lambda: save("cache.pkl", ""))
        """,
        first="import pathlib",
    )
    assert told == [[1, "cache.pkl exists now and was looked for"]]


def test_who_asks_only_whether_it_exists_does_not_mind_a_change(ask, tmp_path):
    """exists, is_file: the kind counts. getsize, getmtime, Path.stat: size and time count."""
    for name in "abcd":
        (tmp_path / name).write_text("x")
    told = ask(
        """
        import pathlib
        step(); os.path.exists("a"); os.path.isfile("a"); pathlib.Path("a").is_file()
        step(); os.path.getsize("b")
        step(); pathlib.Path("c").stat()
        step(); os.stat("d")
        told = fork(lambda: [save(n, "longer") for n in "abcd"])
        """
    )
    assert [at for at, _ in told] == [2, 3, 4]
    assert told[0][1] == "b was changed and its size or time had been looked at"


def test_a_link_that_leads_elsewhere(ask, tmp_path):
    """`realpath` depends on where links lead."""
    (tmp_path / "link").symlink_to("one")
    told = ask(
        """
        step(); os.path.realpath("link")
        told = [fork(), fork(lambda: (os.remove("link"), os.symlink("two", "link")))]
        """
    )
    assert told[0] == []
    assert told[1] == [[1, "link was replaced by something else"]]


@pytest.mark.parametrize(
    ("listing", "hidden"),
    [
        ("os.listdir('data')", True),
        ("list(os.scandir('data'))", True),
        ("list(os.walk('data'))", True),
        ("list(pathlib.Path('data').iterdir())", True),
        ("glob.glob('data/*.csv')", False),
        ("glob.glob('data/.*')", True),
        ("glob.glob('data/**', recursive=True)", False),
        ("os.listdir(os.open('data', os.O_RDONLY))", True),
    ],
)
def test_a_folder_that_was_listed(ask, tmp_path, listing, hidden):
    """A name more counts; one that begins with a dot only for those who see such names."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.csv").touch()
    told = ask(
        f"""
        import glob, pathlib
        step(); {listing}
        told = [
            fork(),
            fork(lambda: save("data/.swp", "")),
            fork(lambda: save("data/b.csv", "")),
        ]
        """
    )
    changed = [[1, "data/ has other files now"]]
    assert told == [[], changed if hidden else [], changed]


def test_scandir_itself_gives_sizes(ask, tmp_path):
    """Who calls `os.scandir` himself may ask the entries for size and time; `os.walk` doesn't."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("x")
    told = ask(
        """
        step(); list(os.walk("one"))
        step(); [e.stat().st_size for e in os.scandir("two")]
        told = fork(lambda: (save("one/a.csv", "xy"), save("two/a.csv", "xy")))
        """
    )
    assert told == [[2, "two/ has other files now"]]
