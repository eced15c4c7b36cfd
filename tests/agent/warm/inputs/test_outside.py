"""What is opened outside of Python, and other things that a run depends on."""


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
