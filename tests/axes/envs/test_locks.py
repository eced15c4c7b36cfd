"""Files that list packages."""

import pytest

from zeroin.axes.envs import locks
from zeroin.axes.envs.locks import Listed
from zeroin.errors import UsageError

HERE = {
    "python_version": "3.11",
    "python_full_version": "3.11.7",
    "sys_platform": "linux",
    "os_name": "posix",
    "platform_system": "Linux",
    "platform_machine": "x86_64",
    "platform_python_implementation": "CPython",
    "implementation_name": "cpython",
    "implementation_version": "3.11.7",
    "platform_release": "6",
    "platform_version": "1",
}
REQUIREMENTS = """\
# made by somebody
--index-url https://example.invalid/simple
Flask==2.2.2 \\
    --hash=sha256:00 \\
    --hash=sha256:11
    # via -r requirements.in
zope.interface==6.0  # a comment
pywin32==306 ; sys_platform == "win32"
typing_extensions==4.8.0 ; python_version < "3.12"
own @ https://example.invalid/own-1.0.zip
-e git+https://example.invalid/mine.git#egg=mine
-r more.txt
"""
UV = """\
version = 1
requires-python = ">=3.9"
[[package]]
name = "app"
version = "0.1.0"
source = { virtual = "." }
dependencies = [
  { name = "requests" },
  { name = "colorama", marker = "sys_platform == 'win32'" },
  { name = "numpy", version = "1.26.0", marker = "python_full_version < '3.12'" },
  { name = "numpy", version = "2.1.0", marker = "python_full_version >= '3.12'" },
]
[package.dev-dependencies]
dev = [{ name = "pytest" }]
[[package]]
name = "requests"
version = "2.31.0"
source = { registry = "https://example.invalid/simple" }
dependencies = [{ name = "idna" }]
[[package]]
name = "idna"
version = "3.4"
source = { registry = "https://example.invalid/simple" }
[[package]]
name = "numpy"
version = "1.26.0"
source = { registry = "https://example.invalid/simple" }
[[package]]
name = "numpy"
version = "2.1.0"
source = { registry = "https://example.invalid/simple" }
[[package]]
name = "colorama"
version = "0.4.6"
source = { registry = "https://example.invalid/simple" }
[[package]]
name = "pytest"
version = "8.0.0"
source = { git = "https://example.invalid/pytest?tag=8.0.0#abc123" }
"""
POETRY = """\
[[package]]
name = "Requests"
version = "2.31.0"
optional = false
[[package]]
name = "colorama"
version = "0.4.6"
markers = "sys_platform == \\"win32\\""
[metadata]
lock-version = "2.1"
"""
PYLOCK = """\
lock-version = "1.0"
created-by = "somebody"
[[packages]]
name = "requests"
version = "2.31.0"
[[packages]]
name = "colorama"
version = "0.4.6"
marker = "sys_platform == 'win32'"
"""
PIPFILE = """\
{"_meta": {}, "default": {"requests": {"version": "==2.31.0", "hashes": []},
 "colorama": {"version": "==0.4.6", "markers": "sys_platform == 'win32'"}},
 "develop": {"pytest": {"version": "==8.0.0"}}}
"""
CONDA = """\
name: shop
channels:
  - conda-forge
dependencies:
  - python=3.11
  - numpy=1.26.0
  - pip:
    - requests==2.31.0
    - "idna==3.4"
"""
ONE = {"requests": Listed("2.31.0")}


@pytest.fixture
def read(tmp_path):
    def read(name, text):
        (tmp_path / name).write_text(text)
        return locks.read(str(tmp_path / name), HERE)

    return read


def test_requirements(read, tmp_path):
    """With hashes, comments, conditions, other files, and what is no pin."""
    (tmp_path / "more.txt").write_text("idna===3.4\n")
    lock = read("requirements.txt", REQUIREMENTS)
    assert lock.packages == {
        "flask": Listed("2.2.2"),
        "zope-interface": Listed("6.0"),
        "typing-extensions": Listed("4.8.0"),
        "own": Listed("0", "https://example.invalid/own-1.0.zip"),
        "idna": Listed("3.4"),
    }
    assert any("editable" in note for note in lock.notes)


def test_what_uv_writes(read):
    """Only what the project needs on this platform and this Python, with its groups."""
    assert read("uv.lock", UV).packages == {
        "requests": Listed("2.31.0"),
        "idna": Listed("3.4"),
        "numpy": Listed("1.26.0"),
        "pytest": Listed("8.0.0", "git+https://example.invalid/pytest"),
    }


def test_what_poetry_writes(read):
    """Names in one spelling; what is for another system is left out."""
    assert read("poetry.lock", POETRY).packages == ONE


def test_a_pylock(read):
    """The format of the standard."""
    assert read("pylock.toml", PYLOCK).packages == ONE


def test_what_pipenv_writes(read):
    """Both sections."""
    assert read("Pipfile.lock", PIPFILE).packages == ONE | {"pytest": Listed("8.0.0")}


def test_the_pip_part_of_a_conda_file(read):
    """The rest is left out, and that is said."""
    lock = read("environment.yml", CONDA)
    assert lock.packages == ONE | {"idna": Listed("3.4")}
    assert "3 lines that are not for pip" in lock.notes[0]
    one = "dependencies:\n  - python\n  - pip:\n    - idna==3.4\n"
    assert "1 line that is not for pip" in read("environment.yml", one).notes[0]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.txt", "requests>=2\n", "a.txt:1: requests is not pinned"),
        ("a.txt", "\n\nrequests\n", "a.txt:3: requests is not pinned"),
        ("a.txt", "requests==2.*\n", "is not pinned"),
        ("a.txt", "what is this?\n", "no pinned package"),
        ("a.txt", "# nothing\n", "no packages in it"),
        ("a.txt", "", "no packages in it"),
        ("uv.lock", "[[package]\n", "can't be read"),
        ("Pipfile.lock", "{", "can't be read"),
    ],
)
def test_what_cannot_be_read(read, name, text, said):
    """The file and the line are named."""
    with pytest.raises(UsageError) as caught:
        read(name, text)
    assert said in caught.value.message


def test_no_such_file(tmp_path):
    """Said as such."""
    with pytest.raises(UsageError, match="no such file"):
        locks.read(str(tmp_path / "nothing.txt"), HERE)
