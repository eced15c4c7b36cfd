"""Whatever is killed, whenever: nothing of the user's changes, and nothing is left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import support
from kill_storm import Storm

SEED = int(os.environ.get("ZEROIN_STORM_SEED") or 1)


@pytest.mark.slow
@pytest.mark.limit(600)
def test_short_storm_as_ourselves(tmp_path):
    """30 kills of all verbs: files, processes, mounts, groups, temporary files, record are whole."""
    environ = support.clean_environment(tmp_path)
    driver = support.driver_command(f"3.{sys.version_info[1]}")
    mark = {support.TEST_ID: os.environ[support.TEST_ID]}
    storm = Storm(
        tmp_path / "storm",
        driver,
        support.bare_python(),
        SEED,
        env={"PATH": environ["PATH"]} | mark,
    )
    storm.prepare()
    report = storm.rage(30)
    assert report.violations == [], "\n".join(report.lines())
    assert report.landed == 30


@pytest.mark.slow
@pytest.mark.limit(600)
def test_short_storm_as_plain_user(plain):
    """15 kills, by a user who is not root."""
    env = {"PYTHONPATH": str(support.SRC), "PATH": "/usr/bin:/bin"}
    env[support.TEST_ID] = os.environ[support.TEST_ID]
    storm = Storm(
        Path(plain.base) / "storm",
        [plain.python, "-m", "zeroin"],
        plain.python,
        SEED + 1,
        env=env,
        identity=support.as_nobody(),
    )
    storm.prepare()
    report = storm.rage(15)
    assert report.violations == [], "\n".join(report.lines())
    assert report.landed == 15
