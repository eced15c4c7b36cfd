"""What a run used of the outside world is known, and what of that is different later.

Each test is a small program that runs in a folder of its own: it works, a fork stands for
the snapshot, the parent (or the test) changes the world, and the fork is asked what changed.
"""

import itertools
import json
import os
import subprocess
import textwrap

import pytest

import support

AGENT = support.SRC / "zeroin" / "agent"

# `step()` moves the position on; `fork(change)` gives what a snapshot taken now says after it.
HARNESS = """
import sys, os
package = type(sys)("_zeroin_agent")
package.__path__ = [{agent!r}]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.used import inputs
position = 0
def step():
    global position
    position += 1
def now():
    return position
inputs.install(now)
sys.path.insert(0, os.getcwd())
def fork(change=None):
    import json
    mark = inputs.mark()
    to, back = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(to[1])
            os.read(to[0], 1)
            text = json.dumps(inputs.changed(mark))
        except BaseException as error:
            text = repr(error)
        os.write(back[1], text.encode())
        os._exit(0)
    os.close(back[1])
    if change and (editor := os.fork()) == 0:  # somebody else: the program knows nothing of it
        change()
        os._exit(0)
    elif change:
        assert os.waitpid(editor, 0)[1] == 0
    os.write(to[1], b"x")
    text = b""
    while part := os.read(back[0], 65536):
        text += part
    os.waitpid(child, 0)
    for fd in (*to, back[0]):
        os.close(fd)
    return json.loads(text)
def save(path, text):  # as an editor does: another file, later
    with open(path + ".new", "w") as file:
        file.write(text)
    os.utime(path + ".new", ns=(10**18, 10**18 + len(text)))
    os.replace(path + ".new", path)
"""


@pytest.fixture
def ask(python, tmp_path):
    """Run a program below the harness in `tmp_path`; give what it put in `told`."""

    def run(program, env=None, first=""):
        source = f"{first}\n{HARNESS.format(agent=str(AGENT))}{textwrap.dedent(program)}"
        source += "\nimport json; print(json.dumps(told))\n"
        done = subprocess.run(
            [python, "-c", source],
            cwd=tmp_path,
            env=support.clean_environment(tmp_path.parent / "home") | (env or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


def reasons(told):
    return [reason for _, reason in told]


# --- files that are read ------------------------------------------------------------------


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


# --- probes -------------------------------------------------------------------------------


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


# --- what the run does itself -----------------------------------------------------------------


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


# --- imports --------------------------------------------------------------------------------


def test_modules_that_come_and_go(ask, tmp_path):
    """A new module that was looked for, one that shadows, one that is gone; others don't count."""
    (tmp_path / "mine.py").touch()
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").touch()
    (tmp_path / "pkg" / "sub.py").touch()
    told = ask(
        """
        step(); import mine, pkg.sub
        step(); import colorsys
        step()
        try: import faster
        except ImportError: pass
        try: from pkg import quick
        except ImportError: pass
        import importlib
        try: importlib.import_module("pkg.other")
        except ImportError: pass
        def one(*names): return fork(lambda: [save(n, "") for n in names])
        told = [
            one("unrelated.py", "pkg/unrelated.py"),
            one("faster.py"), one("colorsys.py"), one("pkg/quick.py", "pkg/other.py"),
            fork(lambda: os.remove("mine.py")), fork(lambda: os.remove("pkg/__init__.py")),
        ]
        """
    )
    new = [
        told[0],
        *([x for x in after if x not in before] for before, after in itertools.pairwise(told)),
    ]
    assert new[0] == []
    assert new[1] == [[3, "faster.py is new and had been looked for by import"]]
    assert new[2][0][0] == 2
    assert new[2][0][1].startswith("colorsys.py is new and would be imported instead of /")
    assert new[3] == [
        [3, "pkg/other.py is new and had been looked for by import"],
        [3, "pkg/quick.py is new and had been looked for by import"],
    ]
    assert [1, "mine.py is gone and had been looked for by import"] in new[4]
    assert [1, "pkg/__init__.py is gone and had been looked for by import"] in new[5]


def test_a_folder_that_does_not_shadow(ask):
    """A plain folder named like a package (some make one for their output) isn't imported."""
    told = ask(
        """
        step(); import colorsys
        told = [
            fork(lambda: os.mkdir("colorsys")),
            fork(lambda: save("colorsys/__init__.py", "")),
        ]
        """
    )
    assert told[0] == []
    assert told[1][0][0] == 1


def test_a_module_taken_from_its_cache_counts_by_its_source(ask, tmp_path):
    """The second import opens no source; caches themselves are no inputs."""
    (tmp_path / "mine.py").write_text("x = 1")
    program = """
        step(); import mine
        import shutil
        told = [os.path.exists("__pycache__"), fork(lambda: shutil.rmtree("__pycache__")),
                fork(lambda: save("mine.py", "x = 2"))]
        """
    for _ in range(2):
        (tmp_path / "mine.py").write_text("x = 1")
        os.utime(tmp_path / "mine.py", (1, 1))
        told = ask(program)
        assert told == [True, [], [[1, "mine.py was changed and had been read"]]]
        ask("import mine; told = 0")


def test_installed_packages(ask, tmp_path):
    """What pip does between two iterations counts from the start; a cache in site-packages doesn't."""
    site = tmp_path / "lib" / "site-packages"
    site.mkdir(parents=True)
    (site / "a-1.dist-info").mkdir()
    told = ask(
        """
        step()
        told = [
            fork(), fork(lambda: os.mkdir("lib/site-packages/__pycache__")),
            fork(lambda: os.mkdir("lib/site-packages/b-1.dist-info")),
        ]
        """,
        env={"PYTHONPATH": str(site)},
    )
    assert told == [[], [], [[0, "packages were installed or removed in lib/site-packages"]]]


# --- outside of Python, other things ------------------------------------------------------------


def test_what_c_code_has_open_or_mapped_at_a_mark(ask, tmp_path):
    """Opened where no event tells of it: it counts since the mark before."""
    (tmp_path / "open.bin").write_bytes(b"x")
    (tmp_path / "mapped.bin").write_bytes(b"x" * 4096)
    told = ask(
        """
        import ctypes, mmap
        libc = ctypes.CDLL(None)
        step(); first = fork()
        step()
        libc.open(b"open.bin", os.O_RDONLY)
        fd = libc.open(b"mapped.bin", os.O_RDONLY)
        held = mmap.mmap(fd, 4096, mmap.MAP_PRIVATE, mmap.PROT_READ)
        os.close(fd)
        step()
        told = [first, fork(), fork(lambda: (save("open.bin", "y"), save("mapped.bin", "y")))]
        """
    )
    assert told[:2] == [[], []]
    assert told[2] == [
        [1, "mapped.bin was changed and had been read"],
        [1, "open.bin was changed and had been read"],
    ]


def test_databases_and_commands(ask, tmp_path):
    """A database is opened in C; a command's files are taken as read where its words name them."""
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "b.txt").write_text("x")
    (tmp_path / "data.db").touch()
    told = ask(
        """
        import sqlite3, subprocess
        step(); sqlite3.connect("data.db").close(); sqlite3.connect(":memory:").close()
        step(); subprocess.run(["cat", "a.txt"], stdout=subprocess.DEVNULL)
        step(); subprocess.run("cat < b.txt", shell=True, stdout=subprocess.DEVNULL)
        told = fork(lambda: (save("data.db", "z"), save("a.txt", "y"), save("b.txt", "y")))
        """
    )
    assert [at for at, _ in told] == [1, 2, 3]


def test_what_is_worth_watching(ask, tmp_path):
    """The user's own files, found or not; not Python's, the machine's, or what the run writes."""
    (tmp_path / "a.txt").write_text("x")
    (tmp_path / "mine.py").touch()
    told = ask(
        """
        import mine, decimal, json
        open("a.txt").close(); os.path.exists("sub/b.txt"); os.listdir(".")
        open("out.txt", "w").close(); os.path.realpath("a.txt")
        open("/etc/passwd").close(); open("/proc/self/maps").close()
        told = inputs.paths()
        """
    )
    root = str(tmp_path)
    assert {root, f"{root}/a.txt", f"{root}/sub/b.txt", f"{root}/mine.py"} <= set(told)
    assert f"{root}/out.txt" not in told
    assert [path for path in told if not path.startswith(root)] == []


def test_too_many_files_are_said_so(ask):
    """The table doesn't grow without bound: what comes after is unknown, and that is told."""
    told = ask(
        """
        from _zeroin_agent.warm.used import uses
        uses.MOST = 100
        step()
        for i in range(90): os.path.exists(f"f{i}")
        fine = fork()
        step()
        for i in range(90): os.path.exists(f"g{i}")
        told = [fine, fork(), len(uses.TABLE)]
        """
    )
    assert told == [[], [[2, "more than 100 files were used"]], 100]


def test_the_drivers_folder_is_ignored(ask, tmp_path):
    """What the agent and the driver speak by is no input."""
    (tmp_path / "inbox").mkdir()
    told = ask(
        """
        inputs.ignore("inbox")
        f = open("inbox/a", "a"); os.path.exists("inbox/b")
        told = fork(lambda: (os.remove("inbox/a"), save("inbox/b", "")))
        """
    )
    assert told == []


def test_other_handlers_hear_other_events(ask):
    """The table is open to others; one that raises does no harm."""
    told = ask(
        """
        told = []
        inputs.on_event["mine"] = lambda args: told.append(list(args))
        inputs.on_event["bad"] = lambda args: 1 / 0
        sys.audit("mine", 1, 2); sys.audit("bad"); sys.audit("unknown")
        """
    )
    assert told == [[1, 2]]


def test_threads_may_do_all_at_once(ask):
    """Four threads that open and look: all is recorded, nothing fails."""
    told = ask(
        """
        import threading
        step()
        def work(n):
            for i in range(200):
                os.path.exists(f"{n}-{i}")
                with open(f"{n}-{i}.out", "w") as f: f.write("x")
                open(f"{n}-{i}.out").close()
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for t in threads: t.start()
        for t in threads: t.join()
        from _zeroin_agent.warm.used import uses
        told = [len([p for p in uses.TABLE if "-" in os.path.basename(p)]), fork()]
        """
    )
    assert told == [1600, []]


# --- the program doesn't notice -------------------------------------------------------------------

ORDINARY = """
import copy, errno, glob, importlib, inspect, os, pathlib, pickle, pydoc, shutil, sys, tempfile, traceback
out = []
for name in ("stat", "lstat", "access", "readlink"):
    f = getattr(os, name)
    out.append([repr(f), f.__name__, f.__qualname__, f.__module__, str(inspect.signature(f))])
    out.append([f in s for s in (os.supports_fd, os.supports_dir_fd, os.supports_follow_symlinks,
                                 os.supports_effective_ids)])
    out.append([inspect.isbuiltin(f), callable(f), f == f, f != 1, pydoc.render_doc(f)])
    out.append([pickle.loads(pickle.dumps(f)) == f, copy.deepcopy(f) == f, f in {f: 1}])
class Holder:
    look = os.stat
def failing(call):
    try:
        return repr(call())
    except Exception:
        return traceback.format_exc()
out += [failing(call) for call in (
    lambda: Holder().look("missing"),
    lambda: os.stat("missing"), lambda: os.stat("missing", follow_symlinks=False),
    lambda: os.lstat(pathlib.Path("missing")), lambda: os.stat(), lambda: os.stat(1.5),
    lambda: os.stat("a", "b"), lambda: os.stat("nul\\0"), lambda: os.stat(b"missing"),
    lambda: os.path.getsize("missing"), lambda: pathlib.Path("missing").stat(),
    lambda: os.path.exists("nul\\0"), lambda: os.path.exists(0), lambda: os.access("missing", 1),
    lambda: os.access(), lambda: os.readlink("."), lambda: pathlib.Path("missing").resolve(strict=True),
    lambda: open("missing"), lambda: os.listdir("missing"), lambda: os.mkdir("."),
)]
os.makedirs("tree/sub"); pathlib.Path("tree/sub/a.txt").write_text("x"); os.symlink("a.txt", "tree/sub/l")
shutil.copytree("tree", "copy", symlinks=True)
out.append(sorted(glob.glob("copy/**", recursive=True)))
out.append(sorted(map(str, pathlib.Path("copy").rglob("*"))))
out.append([os.path.realpath("copy/sub/l") == os.path.abspath("copy/sub/a.txt"),
            os.path.samefile("copy/sub/l", "copy/sub/a.txt"), shutil.rmtree.avoids_symlink_attacks])
with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
    out.append([os.listdir(folder), file.write(b"x")])
out.append([[sorted(d), sorted(f)] for _, d, f in os.walk("copy")])
out.append([[sorted(d), sorted(f)] for _, d, f, _ in os.fwalk("copy")])
shutil.rmtree("tree"); shutil.move("copy", "moved")
pathlib.Path("made.py").write_text("x = 1")
sys.path.insert(0, os.getcwd()); importlib.invalidate_caches()
out.append([importlib.import_module("made").x, importlib.util.find_spec("nosuch")])
out.append(type(os.stat(".")).__name__)
print(out)
"""


def test_a_program_behaves_the_same(python, tmp_path):
    """repr, help, signature, pickling, tracebacks, pathlib, shutil, tempfile, glob, importlib."""
    results = []
    for name, before in (("plain", ""), ("seen", HARNESS.format(agent=str(AGENT)))):
        home = tmp_path / name
        home.mkdir()
        # Compiled by a fixed name, so that tracebacks are alike.
        source = (
            f"{before}\nexec(compile({ORDINARY!r}, 'program.py', 'exec'), {{'__name__': 'x'}})\n"
        )
        done = subprocess.run(
            [python, "-c", source],
            cwd=home,
            env=support.clean_environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        results.append(done.stdout.replace(str(home), "HOME"))
    assert results[0] == results[1]
    assert "FileNotFoundError" in results[0]
