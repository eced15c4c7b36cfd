"""Settings that come with a project's files: what they may say, and what only the user may."""

from __future__ import annotations

import os
import sqlite3

import pytest

from zeroin.tools import config, trusting

LIMITS = "store_max = '3M'\noutput_max = '4k'\n"


def environment(tmp_path):
    """A home of one's own."""
    return {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}


@pytest.fixture
def asking(tmp_path):
    """A project whose files set limits."""
    root = tmp_path / "asking"
    (root / ".zeroin").mkdir(parents=True)
    (root / "pyproject.toml").write_text(f"[tool.zeroin]\n{LIMITS}secrets = ['MY_ID']\n")
    (root / ".zeroin/config.toml").write_text("cache-max = '1'\ncode = false\n")
    return root


def load(root, environ):
    """The settings, and what was said about them."""
    said = []
    return config.load(str(root), environ, said.append), said


def test_limits_of_the_record_need_consent(asking, tmp_path):
    """Once for these values; other values need it again, and it can be taken back."""
    environ = environment(tmp_path)
    plain = config.Config()
    found, (text,) = load(asking, environ)
    assert found == plain._replace(secrets=("MY_ID",), code=False)
    assert "store_max = '3M' (pyproject.toml)" in text
    assert "cache_max = '1' (config.toml)" in text
    assert text.endswith("(to agree: zeroin trust)")
    report = trusting.agree(str(asking), environ, print)
    assert [one.name for one in report.settings] == ["store_max", "output_max", "cache_max"]
    found, said = load(asking, environ)
    assert (found.store_max, found.output_max, found.cache_max, said) == (3_000_000, 4000, 1, [])
    text = (asking / "pyproject.toml").read_text()
    (asking / "pyproject.toml").write_text(text.replace("3M", "4M"))
    assert load(asking, environ)[0].store_max == plain.store_max
    (asking / "pyproject.toml").write_text(text)
    assert load(asking, environ)[0].store_max == 3_000_000
    trusting.forget(str(asking), environ)
    assert load(asking, environ)[0].store_max == plain.store_max


def test_the_users_own_settings_need_none(asking, tmp_path):
    """Neither the file in the home folder nor variables."""
    environ = environment(tmp_path) | {"ZEROIN_OUTPUT_MAX": "5k"}
    (tmp_path / "home/.config/zeroin").mkdir(parents=True)
    (tmp_path / "home/.config/zeroin/config.toml").write_text("store_max = '2M'\n")
    found, _ = load(asking, environ)
    assert (found.store_max, found.output_max) == (2_000_000, 5000)


@pytest.mark.parametrize("pattern", ["/etc/*", "../x", "a/../../b", "~/.ssh/*"])
def test_a_project_names_nothing_outside_of_it(tmp_path, pattern):
    """Such a pattern is left out, and said; the others count."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text(f"[tool.zeroin]\ninclude = ['a.yaml', '{pattern}']\n")
    found, (text,) = load(root, environment(tmp_path))
    assert (found.include, repr(pattern) in text) == (("a.yaml",), True)


def test_a_link_or_a_fifo_is_no_file_of_settings(tmp_path):
    """Nothing is read through the one, and nobody waits for the other."""
    root, other = tmp_path / "project", tmp_path / "other"
    (root / ".zeroin").mkdir(parents=True)
    other.write_text("nonsense = 1\n")
    (root / ".zeroin/config.toml").symlink_to(other)
    os.mkfifo(root / "pyproject.toml")
    assert load(root, environment(tmp_path)) == (config.Config(), [])


def test_a_run_says_what_it_does_not_heed(project, zeroin):
    """In one line with the command that agrees, which works as it stands; old attempts stay."""
    for _ in range(49):
        zeroin("run", "--", "true", cwd=project)
    (project / "pyproject.toml").write_text("[tool.zeroin]\nstore_max = '1k'\n")
    done = zeroin("run", "--", "true", cwd=project)
    assert (
        "  warning: not heeded, since it came with the project: store_max = '1k' (pyproject.toml) "
        "(to agree: zeroin trust)\n" in done.stderr
    )
    db = sqlite3.connect(project / ".zeroin/store.db")
    assert db.execute("SELECT count(*) FROM attempts").fetchone() == (50,)
    db.close()
    told = zeroin("trust", cwd=project)
    assert told.stdout.splitlines() == [
        "heeded from now on: store_max = '1k' (pyproject.toml)",
        "take it back: zeroin trust --forget",
    ]
    assert "warning" not in zeroin("run", "--", "true", cwd=project).stderr
    assert zeroin("gc", cwd=project).stdout.startswith("took 31 attempts")
    assert zeroin("trust", "--forget", cwd=project).returncode == 0
    assert "not heeded" in zeroin("run", "--", "true", cwd=project).stderr


def test_outside_of_projects_there_is_nothing_to_agree_to(tmp_path, zeroin):
    """It is said, with exit code 2."""
    done = zeroin("trust", cwd=tmp_path)
    assert (done.returncode, "in no project" in done.stderr) == (2, True)
