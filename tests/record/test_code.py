"""The shadow snapshot: exact, whole, and without a trace in the user's repository."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from zeroin.record import code
from zeroin.record.code import Change, CodeError, GitMissingError, Shadow, TookTooLongError

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(folder: Path, *args: str) -> str:
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    who = ("-c", "user.name=A", "-c", "user.email=a@b.invalid", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *who, *args], cwd=folder, env=env, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        put(folder, name + ".py", content)


def put(folder: Path, name: str, content: str | bytes = "x\n", *, old: bool = False) -> Path:
    """Write a file; an `old` one is no candidate for being read again by git."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    if old:
        os.utime(path, (1e9, 1e9))
    return path


def everything_in(folder: Path) -> dict[str, object]:
    """Say all there is to say about a folder: names, modes, times, contents."""
    state: dict[str, object] = {}
    for base, folders, files in os.walk(folder):
        for name in [".", *folders, *files]:
            path = os.path.join(base, name)
            info = os.lstat(path)
            content = Path(path).read_bytes() if stat.S_ISREG(info.st_mode) else None
            state[path] = (info.st_mode, info.st_mtime_ns, info.st_ctime_ns, info.st_size, content)
    return state


def contents(shadow: Shadow, tree: str) -> dict[str, bytes]:
    return {path: shadow.read(tree, path) for path in shadow.files(tree)}


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path_factory, monkeypatch):
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def plain(tmp_path):
    """Make a project without git."""
    root = tmp_path / "project"
    root.mkdir()
    return root


@pytest.fixture
def repo(plain):
    """Make a project with git: one commit of a.py, b.py and sub/c.py, older than this second."""
    git(plain, "init", "-q", "-b", "main")
    put(plain, "a.py", "a = 1\n", old=True)
    put(plain, "b.py", "b = 1\n", old=True)
    put(plain, "sub/c.py", "c = 1\n", old=True)
    git(plain, "add", "-A")
    git(plain, "commit", "-q", "-m", "first")
    return plain


def shadow_of(root: Path, **options) -> Shadow:
    return Shadow(str(root / ".zeroin"), str(root), **options)


class TestWhatIsInIt:
    def test_the_work_tree_as_it_is(self, repo):
        """Modified, untracked and deleted files count as they lie on disk; ignored ones don't."""
        write(repo, a="a = 2\n", new="n\n")
        (repo / "b.py").unlink()
        put(repo, ".gitignore", "*.log\n")
        put(repo, "run.log")
        shadow = shadow_of(repo)
        assert contents(shadow, shadow.snapshot().tree) == {
            ".gitignore": b"*.log\n",
            "a.py": b"a = 2\n",
            "new.py": b"n\n",
            "sub/c.py": b"c = 1\n",
        }

    def test_without_git(self, plain):
        """A project without git is recorded just the same, without environments and caches."""
        put(plain, "src/m.py", "m\n")
        for junk in ("__pycache__/m.pyc", ".venv/x.py", "node_modules/x.js", "odd [env]/lib.py"):
            put(plain, junk)
        put(plain, "odd [env]/pyvenv.cfg")
        shadow = shadow_of(plain)
        assert contents(shadow, shadow.snapshot().tree) == {"src/m.py": b"m\n"}

    @pytest.mark.parametrize("name", ["our store", ".state/ours"])
    def test_the_store_is_never_in_it(self, repo, name):
        """A store inside the project under any name does not record itself."""
        shadow = Shadow(str(repo / name), str(repo))
        first = shadow.snapshot()
        assert shadow.snapshot() == first
        assert shadow.files(first.tree) == ["a.py", "b.py", "sub/c.py"]

    def test_an_empty_project(self, plain):
        """Nothing at all is a snapshot too."""
        assert shadow_of(plain).snapshot() == (EMPTY_TREE, [])

    def test_an_empty_folder_of_a_repository(self, repo):
        """A root without files inside a repository with files gives the empty tree."""
        (repo / "bare").mkdir()
        assert shadow_of(repo / "bare").snapshot() == (EMPTY_TREE, [])

    def test_ignore_rules_of_every_kind_are_heard(self, repo, monkeypatch):
        """.gitignore, .git/info/exclude and the user's global ignore file all keep files out."""
        put(repo, ".gitignore", "one\n")
        put(repo, ".git/info/exclude", "two\n")
        put(Path(os.environ["HOME"]), ".gitconfig", "[core]\n\texcludesFile = ~/ig\n")
        put(Path(os.environ["HOME"]), "ig", "three\n")
        for name in ("one", "two", "three", "four"):
            put(repo, name)
        shadow = shadow_of(repo)
        found = shadow.files(shadow.snapshot().tree)
        assert found == [".gitignore", "a.py", "b.py", "four", "sub/c.py"]

    def test_a_file_ignored_later_leaves(self, repo):
        """Once the user ignores a file we had recorded, it is recorded no longer; `git add -f` is."""
        shadow = shadow_of(repo)
        put(repo, "secrets.txt")
        put(repo, "forced.txt")
        assert "secrets.txt" in shadow.files(shadow.snapshot().tree)
        git(repo, "add", "forced.txt")
        put(repo, ".gitignore", "*.txt\n")
        found = shadow.files(shadow.snapshot().tree)
        assert "secrets.txt" not in found
        assert "forced.txt" in found

    def test_include_is_no_deeper_than_it_says(self, repo):
        """A star in `include` stands for a name, not for a path."""
        put(repo, ".gitignore", "*.cfg\n")
        put(repo, "top.cfg")
        put(repo, "deep/down.cfg")
        shadow = shadow_of(repo, include=["*.cfg"])
        assert [p for p in shadow.files(shadow.snapshot().tree) if p.endswith("cfg")] == ["top.cfg"]

    def test_include(self, repo):
        """`include` brings ignored files back, also new, changed and deleted ones."""
        put(repo, ".gitignore", ".env*\nconf/\n")
        put(repo, ".env", "A=1\n")
        put(repo, "conf/deep/x.yaml")
        shadow = shadow_of(repo, include=[".env", "conf/**/*.yaml"])
        one = shadow.snapshot().tree
        assert {".env", "conf/deep/x.yaml"} <= set(shadow.files(one))
        put(repo, ".env", "A=2\n")
        (repo / "conf/deep/x.yaml").unlink()
        two = shadow.snapshot().tree
        assert [(c.path, c.kind) for c in shadow.changes(one, two)] == [
            (".env", "M"),
            ("conf/deep/x.yaml", "D"),
        ]
        narrower = shadow_of(repo)
        assert ".env" not in narrower.files(narrower.snapshot().tree)

    def test_only_some_paths(self, plain):
        """With `paths` those files alone are recorded, relative or absolute, ignored or not."""
        put(plain, ".gitignore", "*\n")
        put(plain, "s.py", "s\n")
        put(plain, "lib/t.py", "t\n")
        put(plain, "other.py")
        shadow = shadow_of(plain)
        taken = shadow.snapshot(["s.py", str(plain / "lib/t.py"), "../out.py", "missing.py"])
        assert contents(shadow, taken.tree) == {"s.py": b"s\n", "lib/t.py": b"t\n"}
        assert [line.split(" (")[0] for line in taken.left_out] == ["../out.py"]

    def test_an_edit_of_the_same_size_in_the_same_second(self, plain):
        """A change that neither size nor whole seconds show is seen."""
        shadow = shadow_of(plain)
        trees = set()
        for number in range(5):
            write(plain, a=f"a = {number}\n")
            trees.add(shadow.snapshot().tree)
        assert len(trees) == 5

    def test_a_file_becomes_a_folder_and_a_link_and_back(self, repo):
        """Changes of kind between file, folder and link are followed in every direction."""
        shadow = shadow_of(repo)
        first = shadow.snapshot().tree
        (repo / "a.py").unlink()
        put(repo, "a.py/inner", "i\n")
        shutil.rmtree(repo / "sub")
        put(repo, "elsewhere/c.py", "c = 1\n")
        (repo / "sub").symlink_to("elsewhere")
        assert contents(shadow, shadow.snapshot().tree) == {
            "a.py/inner": b"i\n",
            "b.py": b"b = 1\n",
            "elsewhere/c.py": b"c = 1\n",
            "sub": b"elsewhere",
        }
        for gone in ("a.py", "elsewhere"):
            shutil.rmtree(repo / gone)
        (repo / "sub").unlink()
        write(repo, a="a = 1\n")
        put(repo, "sub/c.py", "c = 1\n")
        assert shadow.snapshot().tree == first


class TestRawBytes:
    @pytest.mark.parametrize("touched", [False, True])
    def test_line_endings(self, repo, touched):
        """CRLF files are recorded as they are on disk, though the user's git stores LF."""
        git(repo, "config", "core.autocrlf", "true")
        put(repo, ".gitattributes", "*.txt text eol=crlf\n")
        put(repo, "w.txt", b"one\r\ntwo\r\n", old=True)
        put(repo, "a.py", b"a = 1\r\n", old=True)
        git(repo, "add", "-A")
        git(repo, "commit", "-q", "-m", "crlf")
        if touched:
            os.utime(repo / "w.txt")
        shadow = shadow_of(repo)
        found = contents(shadow, shadow.snapshot().tree)
        assert (found["w.txt"], found["a.py"]) == (b"one\r\ntwo\r\n", b"a = 1\r\n")
        assert shadow.snapshot().tree == shadow.snapshot().tree

    def test_filters_never_run(self, repo, tmp_path):
        """A clean filter such as LFS is not run, and files it had replaced are recorded whole."""
        put(repo, ".gitattributes", "*.bin filter=lfs\n")
        git(repo, "config", "filter.lfs.clean", "sed s/real/pointer/g")
        put(repo, "m.bin", "really real\n", old=True)
        git(repo, "add", "-A")
        assert git(repo, "show", ":m.bin") == "pointerly pointer"
        put(Path(os.environ["HOME"]), ".gitconfig", '[filter "lfs"]\n clean=false\n required\n')
        shadow = shadow_of(repo)
        assert shadow.read(shadow.snapshot().tree, "m.bin") == b"really real\n"

    def test_checkout(self, repo, tmp_path):
        """A checkout has the same bytes, executable bits and links, and refuses a full folder."""
        put(repo, ".gitattributes", "* text eol=crlf\n*.bin filter=lfs\n")
        put(repo, "run.sh", "#!/bin/sh\n").chmod(0o755)
        put(repo, "m.bin", b"\x00\r\n\xff")
        (repo / "link").symlink_to("/nowhere at all")
        shadow = shadow_of(repo)
        out = tmp_path / "out" / "deep"
        tree = shadow.snapshot().tree
        shadow.checkout(tree, str(out))
        assert (out / "run.sh").read_bytes() == b"#!/bin/sh\n"
        assert (out / "run.sh").stat().st_mode & 0o111
        assert not (out / "a.py").stat().st_mode & 0o111
        assert (out / "m.bin").read_bytes() == b"\x00\r\n\xff"
        assert os.readlink(out / "link") == "/nowhere at all"
        again = Shadow(str(tmp_path / "second"), str(out)).snapshot().tree
        assert again == tree
        with pytest.raises(CodeError, match="not empty"):
            shadow.checkout(tree, str(out))


class TestOddThings:
    def test_names(self, plain, tmp_path):
        """Newlines, tabs, quotes, bytes that aren't UTF-8, dashes, colons, globs: all are names."""
        names = [
            "a\nb",
            "tab\t",
            '"q"',
            os.fsdecode(b"\xff\xfe"),
            "-rf",
            "--",
            ":(top)x",
            "*",
            "é ü",
        ]
        names += ["d\n/-x", " lead", "trail ", "a\\b", "#c", "!n", "git~1", "nul", "a\\.git"]
        for number, name in enumerate(names):
            put(plain, name, f"{number}\n")
        shadow = shadow_of(plain)
        old = shadow.snapshot()
        assert sorted(shadow.files(old.tree)) == sorted(names)
        assert all(shadow.read(old.tree, n) == f"{i}\n".encode() for i, n in enumerate(names))
        for name in names:
            put(plain, name, "other\n")
        new = shadow.snapshot()
        changes = shadow.changes(old.tree, new.tree)
        assert sorted(changes) == sorted(Change(name, 1, 1, "M") for name in names)
        for name in names:
            assert shadow.patch(old.tree, new.tree, paths=[name]).count("\n+other") == 1
        shadow.checkout(new.tree, str(tmp_path / "out"))
        assert sorted(shadow.files(new.tree)) == sorted(
            os.path.relpath(os.path.join(base, name), tmp_path / "out")
            for base, _, files in os.walk(tmp_path / "out")
            for name in files
        )

    def test_sockets_and_pipes(self, repo):
        """Sockets and FIFOs are no code; one that took a file's place takes the file out."""
        os.mkfifo(repo / "pipe")
        (repo / "a.py").unlink()
        os.mkfifo(repo / "a.py")
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(os.path.relpath(repo / "sock"))
            shadow = shadow_of(repo)
            taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["b.py", "sub/c.py"]
        assert taken.left_out == ["a.py (not a file)"]

    def test_links_are_never_followed(self, plain, tmp_path):
        """Links to files, folders, themselves and nothing are recorded as links."""
        put(tmp_path, "outside/secret.py", "s\n")
        targets = {
            "out": "../outside",
            "loop": "loop",
            "none": "nothing",
            "f": "../outside/secret.py",
        }
        for name, target in targets.items():
            (plain / name).symlink_to(target)
        shadow = shadow_of(plain)
        found = contents(shadow, shadow.snapshot().tree)
        assert found == {name: target.encode() for name, target in targets.items()}

    def test_nested_repositories(self, repo):
        """A repository inside is left out and said so, with commits or without."""
        for name in ("with", "without"):
            put(repo, f"{name}/x.py")
            git(repo / name, "init", "-q")
        git(repo / "with", "add", "-A")
        git(repo / "with", "commit", "-q", "-m", "m")
        shadow = shadow_of(repo)
        taken = shadow.snapshot()
        assert not any(path.startswith("with/") for path in shadow.files(taken.tree))
        assert "with/ (a repository of its own)" in taken.left_out
        assert shadow.snapshot() == taken

    def test_submodules(self, repo, tmp_path):
        """A submodule is recorded by its commit, also after it moved on, is gone or isn't there."""
        other = tmp_path / "other"
        other.mkdir()
        git(other, "init", "-q")
        write(other, o="1\n")
        git(other, "add", "-A")
        git(other, "commit", "-q", "-m", "o")
        git(repo, "submodule", "--quiet", "add", str(other), "mod")
        git(repo, "commit", "-q", "-m", "with module")
        shadow = shadow_of(repo)
        one = shadow.snapshot()
        assert "mod" in shadow.files(one.tree)
        git(repo / "mod", "commit", "-q", "--allow-empty", "-m", "on")
        two = shadow.snapshot()
        assert [(c.path, c.kind) for c in shadow.changes(one.tree, two.tree)] == [("mod", "M")]
        shadow.checkout(two.tree, str(tmp_path / "out"))
        assert (tmp_path / "out/mod").is_dir()
        inside = Shadow(str(tmp_path / "s2"), str(repo / "mod"))
        assert inside.files(inside.snapshot().tree) == ["o.py"]
        assert inside.base_commit() == git(repo / "mod", "rev-parse", "HEAD")
        shutil.rmtree(repo / "mod")
        assert "mod" not in shadow.files(shadow.snapshot().tree)

    def test_conflicts_and_odd_index_entries(self, repo):
        """Conflicts, intent-to-add, assume-unchanged and skip-worktree don't hide the disk."""
        git(repo, "checkout", "-q", "-b", "side")
        write(repo, a="side\n")
        git(repo, "commit", "-qam", "side")
        git(repo, "checkout", "-q", "main")
        write(repo, a="main\n")
        git(repo, "commit", "-qam", "main")
        with pytest.raises(subprocess.CalledProcessError):
            git(repo, "merge", "side")
        write(repo, later="later\n")
        git(repo, "add", "-N", "later.py")
        git(repo, "update-index", "--assume-unchanged", "b.py")
        put(repo, "b.py", "b = 2\n", old=True)
        git(repo, "update-index", "--skip-worktree", "sub/c.py")
        put(repo, "sub/c.py", "c = 2\n", old=True)
        shadow = shadow_of(repo)
        found = contents(shadow, shadow.snapshot().tree)
        assert found["a.py"].startswith(b"<<<<<<<")
        del found["a.py"]
        assert found == {
            "b.py": b"b = 2\n",
            "later.py": b"later\n",
            "sub/c.py": b"c = 2\n",
        }

    @pytest.mark.parametrize("sparse_index", ["--sparse-index", "--no-sparse-index"])
    def test_sparse_checkouts(self, repo, sparse_index):
        """What a sparse checkout keeps off the disk is not in the snapshot."""
        git(repo, "sparse-checkout", "init", "--cone", sparse_index)
        assert not (repo / "sub").exists()
        shadow = shadow_of(repo)
        assert shadow.files(shadow.snapshot().tree) == ["a.py", "b.py"]

    def test_behind_a_link_nobody_tracks(self, repo, tmp_path):
        """A folder replaced by an ignored link takes its files out: they are not the project's."""
        shadow = shadow_of(repo)
        put(repo, ".gitignore", "sub\n")
        shadow.snapshot()
        put(tmp_path, "elsewhere/c.py", "c = 3\n")
        shutil.rmtree(repo / "sub")
        (repo / "sub").symlink_to(tmp_path / "elsewhere")
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == [".gitignore", "a.py", "b.py"]
        assert shadow.snapshot() == (taken.tree, [])

    def test_a_repository_that_ignores_us(self, repo):
        """A project in a folder that the repository around it ignores is recorded on its own."""
        put(repo, ".gitignore", "scratch/\n")
        put(repo, "scratch/deep/s.py", "s\n")
        shadow = shadow_of(repo / "scratch/deep")
        assert contents(shadow, shadow.snapshot().tree) == {"s.py": b"s\n"}

    def test_sha256_repositories(self, plain):
        """A repository with the other hash is recorded, borrowing nothing."""
        git(plain, "init", "-q", "--object-format=sha256")
        write(plain, a="1\n")
        git(plain, "add", "-A")
        git(plain, "commit", "-qm", "m")
        git(plain, "gc", "-q")
        shadow = shadow_of(plain)
        assert contents(shadow, shadow.snapshot().tree) == {"a.py": b"1\n"}
        assert shadow.base_commit() == git(plain, "rev-parse", "HEAD")

    def test_files_that_come_and_go(self, plain):
        """Files that vanish between listing and reading never make a snapshot fail."""
        done = threading.Event()

        def flicker() -> None:
            while not done.is_set():
                for number in range(40):
                    put(plain, f"t{number}.py", str(number))
                for number in range(40):
                    (plain / f"t{number}.py").unlink()

        write(plain, stays="s\n")
        flickering = threading.Thread(target=flicker)
        flickering.start()
        try:
            shadow = shadow_of(plain)
            trees = [shadow.snapshot(timeout=60).tree for _ in range(25)]
        finally:
            done.set()
            flickering.join()
        assert all("stays.py" in shadow.files(tree) for tree in trees)
        assert len(set(trees)) > 1
        assert shadow.files(shadow.snapshot().tree) == ["stays.py"]


class TestBounds:
    def test_large_files(self, repo):
        """A file over the bound is left out with its size, and back when it is small again."""
        shadow = shadow_of(repo, max_file=1_000)
        write(repo, a="a" * 2_100)
        put(repo, "data/big.bin", b"b" * 210_000)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["b.py", "sub/c.py"]
        assert sorted(taken.left_out) == [
            "a.py (2.1 kB: over 1 kB)",
            "data/big.bin (210 kB: over 1 kB)",
        ]
        assert shadow.snapshot() == taken
        write(repo, a="a = 3\n")
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 3\n"

    def test_large_files_of_the_user_cost_nothing(self, repo):
        """A large file that the user's git has unchanged stays in: it is borrowed, not copied."""
        put(repo, "big.bin", os.urandom(300_000))
        git(repo, "add", "-A")
        shadow = shadow_of(repo, max_file=1_000)
        taken = shadow.snapshot()
        assert "big.bin" in shadow.files(taken.tree)
        assert shadow.read(taken.tree, "big.bin") == (repo / "big.bin").read_bytes()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000

    def test_too_many_files(self, repo):
        """Too many files of one kind are left out together, always; scripts still get in."""
        for number in range(300):
            put(repo, f"images/{number}.txt")
        put(repo, "images/labels.py")
        put(repo, "x/y.py")
        shadow = shadow_of(repo, max_files=50)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == [
            "a.py",
            "b.py",
            "images/labels.py",
            "sub/c.py",
            "x/y.py",
        ]
        assert taken.left_out == ["images/*.txt (300 files: over 50 in all)"]
        assert shadow.snapshot() == taken
        write(repo, script="s\n")
        assert "script.py" in shadow.files(shadow.snapshot().tree)

    def test_files_that_pile_up(self, plain):
        """The bound is on all untracked files, not on those of one snapshot."""
        shadow = shadow_of(plain, max_files=50)
        for batch in range(5):
            for number in range(20):
                put(plain, f"out{batch}/{number}.txt")
            taken = shadow.snapshot()
        assert len(shadow.files(taken.tree)) == 40
        assert len(taken.left_out) == 3

    def test_too_many_bytes(self, plain):
        """Over the bound for all bytes the largest files are left out, the same ones each time."""
        for number in range(1, 9):
            put(plain, f"{number}.txt", b"x" * 100 * number)
        shadow = shadow_of(plain, max_total=1_000)
        taken = shadow.snapshot()
        assert shadow.files(taken.tree) == ["1.txt", "2.txt", "3.txt", "4.txt"]
        assert taken.left_out[0] == "5.txt (500 B: over 1 kB in all)"
        assert shadow.snapshot() == taken

    @pytest.mark.slow
    def test_a_hundred_thousand_files(self, plain):
        """100,000 untracked files in many folders are bounded within the time-out."""
        for folder in range(100):
            (plain / f"d{folder}").mkdir()
            for number in range(1_000):
                os.close(os.open(plain / f"d{folder}/{number}", os.O_CREAT | os.O_WRONLY))
        write(plain, code="c\n")
        shadow = shadow_of(plain)
        taken = shadow.snapshot(timeout=60)
        found = shadow.files(taken.tree)
        assert "code.py" in found
        assert len(found) <= 20_000
        assert len(taken.left_out) == 81

    def test_time_out(self, plain):
        """A snapshot ends at its time-out, and the next one goes on where it stopped."""
        for number in range(3 * code.taking._CHUNK):
            put(plain, f"{number % 50}/{number}.py", f"{number}\n")
        shadow = shadow_of(plain)
        started, tries, tree, timeout = time.monotonic(), 0, "", 0.15
        with pytest.raises(TookTooLongError, match="in time"):
            shadow.snapshot(timeout=0.02)
        assert time.monotonic() - started < 2
        while not tree:
            tries += 1
            with contextlib.suppress(TookTooLongError):
                tree = shadow.snapshot(timeout=timeout).tree
            timeout *= 1.3
        assert len(shadow.files(tree)) == 3 * code.taking._CHUNK
        assert not [name for name in os.listdir(shadow.folder) if name.startswith("work.")]

    def test_progress_survives_a_time_out(self, plain, monkeypatch):
        """The files hashed before the time was up are in the index that the next one starts from."""
        for number in range(30):
            write(plain, **{f"m{number}": f"{number}\n"})
        monkeypatch.setattr(code.taking, "_CHUNK", 10)
        real, calls = code.taking.Taking._add, []

        def stop_at_third(self, paths):
            calls.append(paths)
            if len(calls) == 3:
                self.deadline = 0.0
            real(self, paths)

        monkeypatch.setattr(code.taking.Taking, "_add", stop_at_third)
        with pytest.raises(TookTooLongError):
            shadow_of(plain).snapshot()
        taken = shadow_of(plain).snapshot()
        assert sum(len(paths) for paths in calls[3:]) == 10
        assert len(shadow_of(plain).files(taken.tree)) == 30

    def test_a_time_out_leaves_no_false_tree(self, repo, monkeypatch):
        """Cut short after the index was changed, a snapshot does not pass the old tree off as new."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        write(repo, a="a = 2\n")
        real = code.taking.Taking._write_tree
        monkeypatch.setattr(
            code.taking.Taking,
            "_write_tree",
            lambda self: setattr(self, "deadline", 0) or real(self),
        )
        with pytest.raises(TookTooLongError):
            shadow.snapshot()
        monkeypatch.undo()
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 2\n"


SETUPS = {
    "plain": [],
    "split index": ["update-index --split-index"],
    "untracked cache": [
        "config core.untrackedCache true",
        "update-index --untracked-cache",
        "status",
    ],
    "fsmonitor": ["config core.fsmonitor .git/spy", "config core.fsmonitorHookVersion 2"],
    "hooks": ["config core.hooksPath .git"],
    "lfs": ["config filter.lfs.clean .git/spy", "config filter.lfs.process .git/spy"],
    "autocrlf": ["config core.autocrlf true"],
    "index v4": ["update-index --index-version 4"],
    "packed": ["gc -q"],
    "external diff": ["config diff.external .git/spy", "config core.pager .git/spy"],
}


class TestTheUsersRepository:
    @pytest.mark.parametrize("setup", SETUPS)
    def test_stays_as_it_was(self, repo, setup, tmp_path):
        """No byte, mode or time in .git changes, and nothing configured there is run."""
        put(repo, ".gitattributes", "*.bin filter=lfs\n")
        git(repo, "add", "-A")
        for command in SETUPS[setup]:
            git(repo, *command.split())
        spy = f"#!/bin/sh\ntouch {tmp_path}/ran\n"
        for name in ("spy", "post-index-change", "reference-transaction", "pre-auto-gc"):
            put(repo, f".git/{name}", spy).chmod(0o755)
        (tmp_path / "ran").unlink(missing_ok=True)
        before = everything_in(repo / ".git")
        shadow = shadow_of(repo)
        first = shadow.snapshot().tree
        os.utime(repo / "a.py")  # known content: git would freshen the object it finds
        write(repo, b="new\n")
        put(repo, "m.bin", "bin\n")
        second = shadow.snapshot().tree
        put(repo, "sub/c.py", "c = 2\n")
        put(repo, "sub/c.py", "c = 1\n")
        shadow.snapshot()
        shadow.keep("1", first)
        assert [c.path for c in shadow.changes(first, second)] == ["b.py", "m.bin"]
        shadow.patch(first, second, binary=True)
        shadow.checkout(second, str(tmp_path / "out"))
        shadow.ignored()
        shadow.base_commit()
        shadow.gc()
        assert everything_in(repo / ".git") == before
        assert not (tmp_path / "ran").exists()

    def test_the_shells_git_variables_are_not_heard(self, repo, tmp_path, monkeypatch):
        """GIT_DIR, GIT_INDEX_FILE and the like of a hook's environment lead nowhere else."""
        expected = shadow_of(repo).snapshot().tree
        decoy = tmp_path / "decoy"
        decoy.mkdir()
        git(decoy, "init", "-q")
        for name in ("DIR", "WORK_TREE", "INDEX_FILE", "OBJECT_DIRECTORY", "COMMON_DIR"):
            monkeypatch.setenv(f"GIT_{name}", str(decoy / ".git"))
        before = everything_in(decoy)
        shadow = Shadow(str(tmp_path / "store"), str(repo))
        assert shadow.snapshot().tree == expected
        assert shadow.base_commit() == git(repo, "rev-parse", "HEAD")
        assert everything_in(decoy) == before

    def test_a_folder_inside_it(self, repo):
        """A root below the top of the repository: its own files alone, the rules from above."""
        put(repo, ".gitignore", "*.log\n/sub/private\n")
        put(repo, "sub/x.log")
        put(repo, "sub/private")
        put(repo, "sub/new.py", "n\n")
        before = everything_in(repo / ".git")
        shadow = shadow_of(repo / "sub")
        one = shadow.snapshot()
        assert contents(shadow, one.tree) == {"c.py": b"c = 1\n", "new.py": b"n\n"}
        put(repo, "sub/c.py", "c = 2\n")
        write(repo, a="not ours\n")
        changes = shadow.changes(one.tree, shadow.snapshot().tree)
        assert changes == [Change("c.py", 1, 1, "M")]
        assert set(shadow.ignored()) == {"private", "x.log", ".zeroin/"}
        assert everything_in(repo / ".git") == before

    def test_a_linked_worktree(self, repo, tmp_path):
        """In a linked worktree the common objects are borrowed and its own index is used."""
        git(repo, "branch", "other")
        git(repo, "worktree", "add", "-q", str(tmp_path / "wt"), "other")
        write(tmp_path / "wt", a="a = 9\n")
        before = everything_in(repo / ".git")
        shadow = shadow_of(tmp_path / "wt")
        taken = shadow.snapshot()
        found = contents(shadow, taken.tree)
        assert found == {"a.py": b"a = 9\n", "b.py": b"b = 1\n", "sub/c.py": b"c = 1\n"}
        blob = git(repo, "rev-parse", "HEAD:b.py")
        assert not (Path(shadow.folder) / "objects" / blob[:2] / blob[2:]).exists()
        assert everything_in(repo / ".git") == before

    def test_one_git_call_when_nothing_changed(self, repo, tmp_path, monkeypatch):
        """Nothing changed: one call of git; one file changed: three."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        real = shutil.which("git")
        put(
            tmp_path, "bin/git", f'#!/bin/sh\necho x >> {tmp_path}/calls\nexec {real} "$@"\n'
        ).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
        shadow_of(repo).snapshot()
        assert (tmp_path / "calls").read_text().count("x") == 1
        write(repo, a="a = 5\n")
        shadow_of(repo).snapshot()
        assert (tmp_path / "calls").read_text().count("x") == 4

    def test_a_split_index(self, repo):
        """Both halves of a split index are used, and the user's half is not needed afterwards."""
        git(repo, "update-index", "--split-index")
        assert list((repo / ".git").glob("sharedindex.*"))
        shadow = shadow_of(repo)
        expected = shadow.snapshot()
        blob = git(repo, "rev-parse", "HEAD:a.py")
        assert not (Path(shadow.folder) / "objects" / blob[:2] / blob[2:]).exists()
        for half in Path(shadow.folder).glob("sharedindex.*"):
            half.unlink()
        for index in Path(shadow.folder).glob("index.*[!.tree]"):
            assert b"sharedindex" not in index.read_bytes()
            assert b"link\0" not in index.read_bytes()
        assert shadow.snapshot() == expected

    def test_base_commit(self, repo, tmp_path):
        """The commit checked out: on a branch, detached, packed; None before one or without git."""
        shadow = shadow_of(repo)
        head = git(repo, "rev-parse", "HEAD")
        assert shadow.base_commit() == head
        git(repo, "pack-refs", "--all")
        assert shadow.base_commit() == head
        git(repo, "checkout", "-q", "--detach")
        assert shadow_of(repo / "sub").base_commit() == head
        bare = tmp_path / "none"
        bare.mkdir()
        assert shadow_of(bare).base_commit() is None
        git(bare, "init", "-q")
        assert shadow_of(bare).base_commit() is None

    def test_ignored(self, repo):
        """Ignored entries are named once, folders as a whole, also next to tracked files."""
        put(repo, ".gitignore", "data/\n*.log\n")
        put(repo, "data/x/y.bin")
        put(repo, "sub/c.log")
        put(repo, ".venv/lib/x.py")
        assert set(shadow_of(repo).ignored()) == {"data/", "sub/c.log", ".venv/", ".zeroin/"}


class TestTrouble:
    def test_no_git(self, plain, monkeypatch):
        """Without a git to call the error says so."""
        monkeypatch.setenv("PATH", "/nonexistent")
        with pytest.raises(GitMissingError, match="not installed"):
            shadow_of(plain).snapshot()

    def test_moved_project(self, repo, tmp_path):
        """After the project moved, old snapshots are read from its new place and new ones work."""
        old = shadow_of(repo).snapshot().tree
        moved = tmp_path / "elsewhere: here"
        repo.rename(moved)
        shadow = shadow_of(moved)
        assert shadow.read(old, "a.py") == b"a = 1\n"
        assert shadow.snapshot().tree == old
        write(moved, a="a = 7\n")
        assert shadow.changes(old, shadow.snapshot().tree) == [Change("a.py", 1, 1, "M")]

    @pytest.mark.parametrize("then", ["nothing", "init"])
    def test_the_users_repository_is_gone(self, repo, then, tmp_path):
        """Borrowed code that is gone is a clear error; the next snapshot is whole again."""
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 8\n")
        shutil.rmtree(repo / ".git")
        if then == "init":
            git(repo, "init", "-q")
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.read(old, "a.py")
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.checkout(old, str(tmp_path / "out"))
        with pytest.raises(CodeError, match="part of that code is gone"):
            shadow.patch(old, EMPTY_TREE)
        new = shadow.snapshot().tree
        assert contents(shadow, new) == {
            "a.py": b"a = 8\n",
            "b.py": b"b = 1\n",
            "sub/c.py": b"c = 1\n",
        }

    def test_a_path_that_is_not_there(self, repo):
        """Asking for a file the snapshot hasn't got is an error that names it."""
        shadow = shadow_of(repo)
        tree = shadow.snapshot().tree
        with pytest.raises(CodeError, match=r"nope\.py"):
            shadow.read(tree, "nope.py")

    @pytest.mark.parametrize("index", [b"", b"DIRC garbage", None])
    def test_a_broken_index_of_the_user(self, repo, index):
        """An index that is empty, broken or missing is no reason to fail."""
        if index is None:
            (repo / ".git/index").unlink()
        else:
            (repo / ".git/index").write_bytes(index)
        shadow = shadow_of(repo)
        assert shadow.files(shadow.snapshot().tree) == ["a.py", "b.py", "sub/c.py"]

    def test_a_broken_index_of_ours(self, repo):
        """Our own index is a cache: broken, it is made anew."""
        shadow = shadow_of(repo)
        expected = shadow.snapshot()
        for path in Path(shadow.folder).glob("index.*[!.tree]"):
            info = path.stat()
            path.write_bytes(b"DIRC broken")
            os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
        assert shadow.snapshot() == expected

    def test_locks_of_the_dead(self, repo):
        """Lock files that a killed git left, of the user's or ours, stop nothing."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        put(repo, ".git/index.lock")
        for name in os.listdir(shadow.folder):
            if name.startswith("index."):
                put(Path(shadow.folder), name + ".lock")
        write(repo, a="a = 4\n")
        assert shadow.read(shadow.snapshot().tree, "a.py") == b"a = 4\n"

    def test_many_at_once(self, repo):
        """Snapshots at the same time in one store all succeed with the right tree."""
        for number in range(200):
            put(repo, f"new/{number}.py", f"{number}\n")
        context = multiprocessing.get_context("fork")
        with context.Pool(8) as pool:
            trees = pool.map(_snapshot_of, [str(repo)] * 24)
        git(repo, "add", "-A", "--", ".", ":!.zeroin")
        assert set(trees) == {git(repo, "write-tree")}

    def test_kill_at_any_moment(self, repo):
        """After a kill -9 at any moment the next snapshot is right and leaves nothing behind."""
        for number in range(300):
            put(repo, f"new/{number}.py", f"{number}\n")
        for attempt in range(25):
            write(repo, a=f"a = {attempt} again\n")
            child = os.fork()
            if not child:
                os.setsid()
                with contextlib.suppress(BaseException):
                    shadow_of(repo).snapshot()
                os._exit(0)
            with contextlib.suppress(ChildProcessError, ProcessLookupError):
                time.sleep(attempt * 0.004)  # the moment, not a wait for anything
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                os.killpg(child, signal.SIGKILL)
            shadow = shadow_of(repo)
            tree = shadow.snapshot().tree
            assert shadow.read(tree, "a.py") == f"a = {attempt} again\n".encode()
            assert len(shadow.files(tree)) == 303

    def test_leftovers_go(self, repo, monkeypatch):
        """What a killed snapshot left is cleared away once it can't have an owner any more."""
        shadow = shadow_of(repo)
        shadow.snapshot()
        put(Path(shadow.folder), "work.1.abc")
        shadow.gc()
        assert (Path(shadow.folder) / "work.1.abc").exists()
        monkeypatch.setattr(code.files, "_STALE", -1.0)
        shadow.gc()
        assert not (Path(shadow.folder) / "work.1.abc").exists()

    def test_full_disk(self, tmp_path):
        """A full disk is an error that says so, at once; when there is room all is well again."""
        script = put(tmp_path, "full.py", FULL_DISK)
        command = ["unshare", "--user", "--map-root-user", "--mount", sys.executable, str(script)]
        if subprocess.run([*command[:4], "true"], check=False, capture_output=True).returncode:
            pytest.skip("user namespaces are closed here")
        env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [*command, str(tmp_path)], capture_output=True, text=True, check=False, env=env
        )
        assert done.stdout.splitlines()[-2:] == ["refused: True after 2", "then: 3"], done

    def test_a_store_that_cannot_be_written(self):
        """Not root: a store closed to us is an error, not a snapshot with everything left out."""
        with _unprivileged() as (root, call):
            write(root, a="a = 1\n", b="b = 1\n")

            def take() -> object:
                shadow = shadow_of(root)
                shadow.snapshot()
                write(root, a="a = 2\n", b="b = 2\n")
                for path in [*Path(shadow.folder, "objects").rglob("*")]:
                    path.chmod(path.stat().st_mode & ~0o222)
                Path(shadow.folder, "objects").chmod(0o555)
                try:
                    return str(shadow.snapshot())
                except CodeError as error:
                    return "permission for adding an object" in str(error)

            assert call(take) is True

    def test_unreadable_and_read_only(self):
        """Not root: an unreadable file is left out by name; a read-only repository is no hindrance."""
        with _unprivileged() as (root, call):
            git(root, "init", "-q")
            write(root, a="a = 1\n", b="b = 1\n", secret="s\n")
            put(root, "closed/in.py")
            put(root, "tracked.py")
            git(root, "add", "-A")
            git(root, "commit", "-qm", "m")
            (root / "secret.py").chmod(0)
            os.utime(root / "secret.py")
            (root / "closed").chmod(0)
            for path in (root / ".git").rglob("*"):
                path.chmod(path.stat().st_mode & ~0o222)

            def take() -> object:
                shadow = shadow_of(root)
                write(root, a="a = 2\n")
                taken = shadow.snapshot()
                return shadow.files(taken.tree), sorted(taken.left_out)

            files, left_out = call(take)
        assert files == ["a.py", "b.py", "tracked.py"]
        assert left_out == ["closed/in.py (Permission denied)", "secret.py (not readable)"]


FULL_DISK = """
import os, subprocess, sys
from zeroin.record.code import Shadow, CodeError
base = sys.argv[1] + "/disk"
root = sys.argv[1] + "/project"
os.makedirs(base), os.makedirs(root)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", base], check=True)
for name in "abc":
    with open(f"{root}/{name}", "wb") as file:
        file.write(os.urandom(400_000))
real, calls = subprocess.run, []
subprocess.run = lambda *args, **options: calls.append(args) or real(*args, **options)
try:
    Shadow(base, root).snapshot()
except (CodeError, OSError) as error:
    print("refused:", "No space left" in str(error), "after", len(calls))
subprocess.run(["mount", "-o", "remount,size=4m", base], check=True)
shadow = Shadow(base, root)
print("then:", len(shadow.files(shadow.snapshot().tree)))
"""


def _snapshot_of(root: str) -> str:
    return shadow_of(Path(root)).snapshot(timeout=60).tree


@contextlib.contextmanager
def _unprivileged():
    """Give a project folder and a way to call a function on it as a user who isn't root."""
    base = Path(tempfile.mkdtemp())
    root = base / "project"
    root.mkdir()

    def call(function):
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            try:
                if os.getuid() == 0:
                    for found in [base, *base.rglob("*")]:
                        os.chown(found, 65534, 65534, follow_symlinks=False)
                    os.setgroups([])
                    os.setgid(65534)
                    os.setuid(65534)
                os.environ["HOME"] = str(base)
                os.write(writer, repr(function()).encode())
            except BaseException as error:
                os.write(writer, repr(f"{error!r}").encode())
            os._exit(0)
        os.close(writer)
        with open(reader, "rb") as said:
            answer = said.read()
        os.waitpid(child, 0)
        return eval(answer)

    try:
        yield root, call
    finally:
        for found in [base, *base.rglob("*")]:
            if found.is_dir():
                found.chmod(0o700)
        shutil.rmtree(base)


class TestChanges:
    def test_kinds(self, repo):
        """Added, modified, deleted, renamed, binary, mode and type changes, each with its lines."""
        put(repo, "long.py", "".join(f"line {n}\n" for n in range(30)))
        put(repo, "m.bin", b"\0\1")
        put(repo, "mode.sh", "#!\n")
        put(repo, "kind", "a file\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 1\nmore\nand more\n", new="1\n2\n")
        (repo / "b.py").unlink()
        (repo / "long.py").rename(repo / "sub/moved.py")
        with (repo / "sub/moved.py").open("a") as file:
            file.write("end\n")
        put(repo, "m.bin", b"\0\2\3")
        (repo / "mode.sh").chmod(0o755)
        (repo / "kind").unlink()
        (repo / "kind").symlink_to("target")
        new = shadow.snapshot().tree
        assert shadow.changes(old, new) == [
            Change("a.py", 2, 0, "M"),
            Change("b.py", 0, 1, "D"),
            Change("kind", 1, 1, "M"),
            Change("m.bin", None, None, "M"),
            Change("mode.sh", 0, 0, "M"),
            Change("new.py", 2, 0, "A"),
            Change("sub/moved.py", 1, 0, "R", "long.py"),
        ]
        assert shadow.changes(old, old) == []

    def test_patch_applies(self, repo, tmp_path):
        """A binary patch turns the old checkout into the new one; bytes that aren't UTF-8 too."""
        put(repo, "m.bin", b"\0\1")
        put(repo, "latin.py", b"# caf\xe9\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        put(repo, "m.bin", os.urandom(300))
        put(repo, "latin.py", b"# th\xe9\n")
        (repo / "a.py").rename(repo / "z.py")
        new = shadow.snapshot().tree
        out = tmp_path / "out"
        shadow.checkout(old, str(out))
        patch = os.fsencode(shadow.patch(old, new, binary=True))
        subprocess.run(["git", "apply"], cwd=out, input=patch, check=True)
        assert Shadow(str(tmp_path / "s"), str(out)).snapshot().tree == new
        only = shadow.patch(old, new, paths=["latin.py"])
        assert only.count("diff --git") == 1

    def test_attributes_of_the_project_hide_nothing(self, repo):
        """`-diff` in .gitattributes does not turn a text file's change into a binary one."""
        put(repo, ".gitattributes", "*.py -diff\n")
        shadow = shadow_of(repo)
        old = shadow.snapshot().tree
        write(repo, a="a = 2\n")
        assert shadow.changes(old, shadow.snapshot().tree) == [Change("a.py", 1, 1, "M")]


class TestKeeping:
    def _aged(self, shadow: Shadow) -> None:
        for path in (Path(shadow.folder) / "objects").rglob("*"):
            os.utime(path, (1e9, 1e9))

    def test_gc(self, repo):
        """`gc` takes what was forgotten and leaves what is kept; snapshots go on as before."""
        shadow = shadow_of(repo)
        trees = []
        for number in range(3):
            write(repo, a=f"attempt {number}\n")
            trees.append(shadow.snapshot().tree)
            shadow.keep(str(number), trees[-1])
        shadow.forget(["1", "never-there"])
        self._aged(shadow)
        shadow.gc()
        assert shadow.read(trees[0], "a.py") == b"attempt 0\n"
        with pytest.raises(CodeError):
            shadow.read(trees[1], "a.py")
        shadow.forget(["0"])
        self._aged(shadow)
        shadow.gc()
        with pytest.raises(CodeError):
            shadow.read(trees[0], "a.py")
        assert shadow.snapshot().tree == trees[2]
        assert shadow.read(trees[2], "a.py") == b"attempt 2\n"

    def test_the_new_pack_stays(self, repo, monkeypatch):
        """However old the clock makes it look, what is kept is not swept away."""
        shadow = shadow_of(repo)
        write(repo, a="kept\n")
        tree = shadow.snapshot().tree
        shadow.keep("1", tree)
        monkeypatch.setattr(code.files, "_GRACE", -3_600.0)
        shadow.gc()
        assert shadow.read(tree, "a.py") == b"kept\n"

    def test_the_last_tree_is_never_a_memory_only(self, repo):
        """Nothing kept and all collected: an unchanged project still gets a tree that exists."""
        shadow = shadow_of(repo)
        write(repo, a="a = 3\n")
        tree = shadow.snapshot().tree
        self._aged(shadow)
        shadow.gc()
        assert shadow.snapshot().tree == tree
        assert shadow.read(tree, "a.py") == b"a = 3\n"

    def test_young_objects_stay(self, repo):
        """A snapshot that isn't kept yet survives a `gc` that comes in between."""
        shadow = shadow_of(repo)
        write(repo, a="young\n")
        tree = shadow.snapshot().tree
        write(repo, a="younger\n")
        shadow.snapshot()
        shadow.gc()
        assert shadow.read(tree, "a.py") == b"young\n"

    def test_gc_without_the_users_repository(self, repo):
        """When borrowed objects are gone for good, `gc` still gives space back."""
        shadow = shadow_of(repo)
        put(repo, "new.txt", os.urandom(200_000))
        shadow.keep("1", shadow.snapshot().tree)
        shutil.rmtree(repo / ".git")
        (repo / "new.txt").unlink()
        shadow.keep("2", shadow.snapshot().tree)
        shadow.forget(["1"])
        self._aged(shadow)
        shadow.gc()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000

    def test_gc_with_kept_code_that_is_gone(self, repo):
        """A kept snapshot whose borrowed code is gone doesn't stop `gc` either."""
        shadow = shadow_of(repo)
        write(repo, b="ours\n")
        half = shadow.snapshot().tree
        shadow.keep("half", half)
        put(repo, "new.txt", os.urandom(200_000))
        shadow.keep("whole", shadow.snapshot().tree)
        shutil.rmtree(repo / ".git")
        shadow.forget(["whole"])
        self._aged(shadow)
        shadow.gc()
        kept = sum(p.stat().st_size for p in Path(shadow.folder).rglob("*") if p.is_file())
        assert kept < 50_000
        assert shadow.read(half, "b.py") == b"ours\n"

    @pytest.mark.parametrize("name", ["", "../x", "a/b", "a..b", ".x", "x.lock", "a\n", "-"])
    def test_names(self, repo, name):
        """A name that isn't a plain word is refused before it becomes a path."""
        shadow = shadow_of(repo)
        with pytest.raises(CodeError, match="can't name"):
            shadow.keep(name, EMPTY_TREE)
        assert shadow.forget(["12", "a-b_c.d"]) is None
