"""`zeroin bisect` as a user would run it."""

import json
from types import SimpleNamespace

import pytest

from repositories import BAD, GOOD, Repository


@pytest.fixture
def repository(tmp_path, zeroin):
    """An empty repository with a repro that is not committed."""
    made = Repository(tmp_path / "repo", zeroin.env)
    made.write("repro.py", "from pkg.core import add\nassert add(1) == 2\n")
    return made


@pytest.fixture
def bisect(zeroin, tmp_path):
    """Run `zeroin bisect --json`; nothing of ours is left in the temporary folder."""
    temporary = tmp_path / "t"
    temporary.mkdir()

    def run(*words, cwd, env=None, timeout=60):
        own = ["--json", *words[1:]]
        done = zeroin(
            "bisect", words[0], *own, cwd=cwd, env={"TMPDIR": str(temporary), **(env or {})},
            timeout=timeout,
        )  # fmt: skip
        assert list(temporary.iterdir()) == []
        assert done.returncode != 3, done.stderr
        told = json.loads(done.stdout) if done.stdout else {}
        return SimpleNamespace(code=done.returncode, told=told, err=done.stderr)

    return run


@pytest.fixture
def hundred(repository):
    """A hundred commits; the 38th breaks it."""
    texts = [
        {"src/pkg/core.py": GOOD if n < 37 else BAD, "number.txt": f"{n}\n"} for n in range(100)
    ]
    texts[37]["message"] = "Divide instead (#26681)\n\nWith a body."
    repository.shas = repository.commits(*texts)
    return repository
