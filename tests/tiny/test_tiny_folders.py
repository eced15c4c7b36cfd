"""Files of a folder, of a zip file, of a tar file."""

import io
import os
import tarfile
import zipfile

import pytest


@pytest.fixture
def tree(tmp_path):
    """A hundred ordinary files, and some that are odd."""
    root = tmp_path / "data"
    for n in range(100):
        (root / f"c{n % 3}").mkdir(parents=True, exist_ok=True)
        (root / f"c{n % 3}" / f"{n}.txt").write_text(f"text {n:05}")
    (root / "c0" / "empty.txt").write_text("")
    (root / "c1" / "Ü b.TXT").write_text("odd name!!")
    (root / "c2" / "run.sh").write_text("#!/bin/sh")
    (root / "c2" / "run.sh").chmod(0o755)
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "a.bin").write_bytes(b"x" * 1000)
    (root / "nothing").mkdir()
    (root / "link").symlink_to("c0/0.txt")
    return root


def below(root):
    """All that is there, with what it is."""
    found = {}
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            own = os.path.relpath(path, root)
            if os.path.islink(path):
                found[own] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[own] = (file.read(), os.stat(path).st_mode, os.stat(path).st_mtime_ns)
            elif not os.listdir(path):
                found[own] = "empty"
    return found


ODD = {"c0/empty.txt", "c1/Ü b.TXT", "c2/run.sh", "deep/er/a.bin", "nothing", "link"}


def test_every_kind_of_file_is_there(zeroin, tree):
    """Empty, odd, executable, deep, links as links, empty folders: with all that they are."""
    done = zeroin("tiny", "data", "data", "-n", "16", cwd=tree.parent)
    assert done.stdout.startswith("data.tiny  16 files of 106"), done.stderr
    all_files, left = below(tree), below(tree.parent / "data.tiny")
    assert len(left) == 16
    assert left.keys() >= ODD
    assert left == {name: all_files[name] for name in left}
    assert {name.split("/")[0] for name in left} >= {"c0", "c1", "c2"}


def test_a_folder_is_not_written_over(zeroin, tree):
    """Nor into itself: exit code 2."""
    (tree.parent / "data.tiny").mkdir()
    (tree.parent / "data.tiny" / "mine").write_text("x")
    for words, said in (([], "there is something in it"), (["-o", "data/new"], "lies in")):
        done = zeroin("tiny", "data", "data/", *words, cwd=tree.parent)
        assert (done.returncode, said in done.stderr) == (2, True), done.stderr
    assert os.listdir(tree.parent / "data.tiny") == ["mine"]


def test_members_of_a_zip_file(tree, tiny, tmp_path):
    """With how each was packed, its rights and its time."""
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.comment = b"ours"
        for folder, _, names in os.walk(tree):
            for name in names:
                path = os.path.join(folder, name)
                kind = zipfile.ZIP_DEFLATED if name.endswith(".txt") else zipfile.ZIP_STORED
                archive.write(path, os.path.relpath(path, tree), kind)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:  # its times are even seconds
        old = {info.filename: info for info in archive.infolist()}
    report = tiny(tmp_path / "a.zip", 14)
    assert (report.noun, report.rows) == ("file", 14)
    with zipfile.ZipFile(report.result) as archive:
        assert archive.comment == b"ours"
        assert set(archive.namelist()) >= ODD - {"nothing", "link"}
        for info in archive.infolist():
            before = old[info.filename]
            for key in ("CRC", "compress_type", "external_attr", "date_time"):
                assert getattr(info, key) == getattr(before, key)
        assert archive.testzip() is None


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz"])
def test_members_of_a_tar_file(tree, tiny, tmp_path, name):
    """Links too; a second name of a file that is left out becomes that file."""
    with tarfile.open(tmp_path / name, "w:gz" if "gz" in name else "w") as archive:
        archive.add(tree, "data")
        second = tarfile.TarInfo("data/second")
        second.type, second.linkname = tarfile.LNKTYPE, "data/c1/52.txt"
        archive.addfile(second)
    report = tiny(tmp_path / name, 14)
    assert report.result == str(tmp_path / name.replace("a.", "a.tiny."))
    with tarfile.open(report.result, "r:gz" if "gz" in name else "r:") as archive:
        names = archive.getnames()
        assert set(names) >= {f"data/{one}" for one in ODD - {"nothing"}}
        assert "data/c1/52.txt" not in names
        assert archive.extractfile("data/second").read() == b"text 00052"
        assert archive.getmember("data/link").linkname == "c0/0.txt"
        assert archive.getmember("data/c2/run.sh").mode & 0o777 == 0o755


def test_broken_archives(zeroin, tmp_path):
    """Exit code 2."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        info = tarfile.TarInfo("a")
        info.size = 5000
        archive.addfile(info, io.BytesIO(bytes(5000)))
    (tmp_path / "a.tar").write_bytes(packed.getvalue()[:1000])
    done = zeroin("tiny", "data", "a.tar", cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert "Traceback" not in done.stderr
