"""`bisect settings`: which keys of a file, or which variables, break it."""

from __future__ import annotations

import json
import subprocess
import tomllib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zeroin.axes.changes.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

    import support

TRAIN = """\
import json
import sys

config = json.load(open(sys.argv[1]))
print(config)
assert config["lr"] * config["model"]["width"] < 100, "diverged"
"""
GOOD = {"lr": 0.1, "model": {"width": 10, "depth": 2, "act": "relu"}, "seed": 1, "opt": "sgd"}


def ask(zeroin: support.Zeroin, cwd: Path, *args: str, code: int = 0) -> dict:
    before, _, command = " ".join(args).partition(" -- ")
    done = zeroin("bisect", "settings", *before.split(), "--json", "--", *command.split(), cwd=cwd)
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def names(told: dict) -> list[tuple[str, str | None, str | None]]:
    assert told["verdict"] == "found"
    assert told["confirmed"]
    return [(one["name"], one["old"], one["new"]) for one in told["culprits"]]


@pytest.fixture
def folder(project: Path) -> Path:
    (project / "train.py").write_text(TRAIN)
    (project / "good.json").write_text(json.dumps(GOOD, indent=2))
    return project


def bad(folder: Path, **changes: object) -> None:
    (folder / "bad.json").write_text(json.dumps({**GOOD, "seed": 7, "extra": [1], **changes}))


def test_one_key(zeroin: support.Zeroin, folder: Path) -> None:
    """One key of several broke it: it is named with its old and new value, in few tries."""
    bad(folder, lr=10.0, opt="adam", model={"width": 12, "depth": 3, "act": "gelu"})
    told = ask(zeroin, folder, "good.json bad.json -- python train.py bad.json")
    assert names(told) == [("lr", "0.1", "10.0")]
    assert told["about"]["changes"] == 7
    assert told["about"]["replaced"] == ["bad.json"]
    assert told["tries"] <= 14


def test_keys_that_break_it_together(zeroin: support.Zeroin, folder: Path) -> None:
    """Two keys break it only together: both are named, and nothing else."""
    bad(folder, lr=2.0, model={"width": 60, "depth": 3, "act": "gelu"})
    told = ask(zeroin, folder, "good.json bad.json -- python train.py bad.json")
    assert names(told) == [("lr", "0.1", "2.0"), ("model.width", "10", "60")]


def test_a_message_that_holds_all_settings(zeroin: support.Zeroin, folder: Path) -> None:
    """What else is in the message is not what breaks it."""
    text = TRAIN.replace('"diverged"', "config").replace("assert", "def check():\n    assert")
    (folder / "train.py").write_text(f"{text}check()\n")
    bad(folder, lr=10.0, opt="adam")
    told = ask(zeroin, folder, "good.json bad.json -- python train.py bad.json")
    assert names(told) == [("lr", "0.1", "10.0")]


def test_a_key_that_hides_another(zeroin: support.Zeroin, folder: Path) -> None:
    """With one more key it works, with two more it fails again: the one key is still found."""
    (folder / "bad.json").write_text('{"a": 1, "b": 1, "c": 1}')
    (folder / "good.json").write_text('{"a": 0, "b": 0, "c": 0}')
    (folder / "train.py").write_text(
        "import json, sys\nc = json.load(open(sys.argv[1]))\n"
        "assert not (c['a'] and (not c['b'] or c['c'])), 'broken'\n"
    )
    told = ask(zeroin, folder, "good.json bad.json -j 1 -- python train.py bad.json")
    assert names(told)[0] == ("a", "0", "1")
    assert [one["about"]["set"] for one in told["culprits"]].count(0) == 1


def test_removed_and_retyped_keys(zeroin: support.Zeroin, folder: Path) -> None:
    """A key that went, and one that became a string, are differences like any other."""
    bad(folder, lr="0.1")
    told = ask(zeroin, folder, "good.json bad.json -- python train.py bad.json")
    assert names(told) == [("lr", "0.1", '"0.1"')]
    without = {key: value for key, value in GOOD.items() if key != "lr"}
    (folder / "bad.json").write_text(json.dumps({**without, "seed": 3}))
    told = ask(zeroin, folder, "good.json bad.json -- python train.py bad.json")
    assert names(told) == [("lr", "0.1", None)]


def test_a_file_that_the_program_finds_itself(zeroin: support.Zeroin, folder: Path) -> None:
    """The command names no file: both places hold the mixture; --at names another place."""
    bad(folder, lr=10.0)
    (folder / "train.py").write_text(TRAIN.replace("sys.argv[1]", "'bad.json'"))
    told = ask(zeroin, folder, "good.json bad.json -- python train.py")
    assert names(told) == [("lr", "0.1", "10.0")]
    assert told["about"]["replaced"] == ["good.json", "bad.json"]
    (folder / "config.json").write_text("{}")
    (folder / "train.py").write_text(TRAIN.replace("sys.argv[1]", "'config.json'"))
    told = ask(zeroin, folder, "good.json bad.json --at config.json -- python train.py")
    assert names(told) == [("lr", "0.1", "10.0")]
    assert (folder / "config.json").read_text() == "{}"


def test_your_files_stay_and_the_place_is_told(zeroin: support.Zeroin, folder: Path) -> None:
    """Neither file is changed, and which one is replaced is said at the start."""
    bad(folder, lr=10.0)
    before = [(folder / name).read_bytes() for name in ("good.json", "bad.json")]
    command = ("--", "python", "train.py", "bad.json")
    done = zeroin("bisect", "settings", "good.json", "bad.json", *command, cwd=folder)
    assert done.returncode == 0
    assert "in each try, bad.json holds a mixture of the two" in done.stderr
    assert "lr: 0.1 → 10.0" in done.stdout
    assert [(folder / name).read_bytes() for name in ("good.json", "bad.json")] == before


FORMATS = {
    "toml": (
        "lr = 0.1 # small\n[model]\nwidth = 10\nnames = [\n  'a',\n]\n",
        "lr = 10.0\nnew = 1\n[model]\nwidth = 12\nnames = ['b']\n",
        "import tomllib; c = tomllib.load(open('bad.toml', 'rb'))",
        "lr",
    ),
    "ini": (
        "[top]\n; small\nlr = 0.1\nother = 1\n",
        "[top]\nlr = 10.0\nother: 2\n[more]\nx = 1\n",
        "import configparser; p = configparser.ConfigParser(); p.read('bad.ini'); c = {'lr': p.getfloat('top', 'lr')}",
        "top.lr",
    ),
    "yaml": (
        "# all\nmodel:\n  # of it\n  lr: 0.1\n  list:\n  - 1\nname: x\n",
        "model:\n    lr: 10.0\n    list:\n      - 1\n      - 2\nname: y\nmore: 1\n",
        "import re; c = {'lr': float(re.search('lr: (.*)', open('bad.yaml').read())[1])}",
        "model.lr",
    ),
    "env": (
        "# e\nLR=0.1\nexport NAME='a b'\n",
        "LR=10.0\nNAME='a c'\nMORE=1\n",
        "c = {'lr': float(dict(r.split('=') for r in open('bad.env').read().replace('export ', '').split('\\n') if '=' in r)['LR'])}",
        "LR",
    ),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_each_format(zeroin: support.Zeroin, folder: Path, kind: str) -> None:
    """TOML, INI, YAML and dotenv: the key among others, by its whole name."""
    good, new, read, name = FORMATS[kind]
    (folder / f"good.{kind}").write_text(good)
    (folder / f"bad.{kind}").write_text(new)
    (folder / "read.py").write_text(f"{read}\nassert c['lr'] < 1, 'large'\n")
    told = ask(zeroin, folder, f"good.{kind} bad.{kind} -- python read.py")
    assert names(told) == [(name, "0.1", "10.0")]


REFUSED = "for kind in user mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done"


def test_without_namespaces(zeroin: support.Zeroin, folder: Path) -> None:
    """Where the kernel keeps nobody apart, each try has a copy of the project."""
    bad(folder, lr=10.0)
    words = [*zeroin.driver, "bisect", "settings", "good.json", "bad.json", "--json"]
    words += ["--", "python", "train.py", "bad.json"]
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", f'{REFUSED}; exec "$@"', "sh", *words],
        cwd=folder,
        env=zeroin.env,
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    assert names(told) == [("lr", "0.1", "10.0")]
    assert "copy" in told["notes"][0]


def test_variables(zeroin: support.Zeroin, folder: Path) -> None:
    """Of two sets of variables those that break it; one that is not there is not set."""
    (folder / "a.env").write_text("A=1\nMODE=safe\nC=x\n")
    (folder / "b.env").write_text("A=2\nMODE=fast\nD='y z'\n")
    (folder / "run.py").write_text(
        "import os\nassert not (os.environ['MODE'] == 'fast' and 'C' not in os.environ), 'no'\n"
    )
    told = ask(zeroin, folder, "--variables a.env b.env -- python run.py")
    assert names(told) == [("MODE", "safe", "fast"), ("C", "x", None)]


def test_what_can_not_be_answered(zeroin: support.Zeroin, folder: Path) -> None:
    """Equal files, unreadable ones, two that work, that fail, or are swapped: each is said."""

    def said(*args: str, code: int) -> str:
        command = ("--", "python", "train.py", "bad.json")
        done = zeroin("bisect", "settings", *args, *command, cwd=folder)
        assert done.returncode == code, done.stderr
        return done.stderr + done.stdout

    (folder / "bad.json").write_text(json.dumps(GOOD))
    assert "say the same" in said("good.json", "bad.json", code=2)
    assert "no such file" in said("none.json", "bad.json", code=2)
    bad(folder)
    assert "both work" in said("good.json", "bad.json", code=1)
    bad(folder, lr=10.0)
    assert "swap the two" in said("bad.json", "good.json", code=1)
    (folder / "worse.json").write_text(json.dumps({**GOOD, "lr": 20.0}))
    assert "both fail in the same way" in said("worse.json", "bad.json", code=1)
    (folder / "bad.json").write_text("{,}")
    assert "bad.json is not JSON" in said("good.json", "bad.json", code=2)
    (folder / "bad.toml").write_text("x = 1\n")
    assert "is JSON and bad.toml is TOML" in said("good.json", "bad.toml", code=2)


KEYS = st.sampled_from("abcd")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x", "a b", "#"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES), st.dictionaries(KEYS, VALUES), st.integers(0, 2**12))
def test_every_mixture_of_json_can_be_read(old: dict, new: dict, chosen: int) -> None:
    """Any choice of keys gives JSON; none of them the old values, all of them the new ones."""
    settings = Settings(
        json.dumps(old, indent=1).encode(), json.dumps(new).encode(), ("a.json", "b.json")
    )
    made = {n for n in range(len(settings.changes)) if chosen >> n & 1}
    json.loads(settings.content(made))
    assert json.loads(settings.content(set())) == old
    assert json.loads(settings.content(set(range(len(settings.changes))))) == new
    assert bool(settings.changes) == (
        json.dumps(old, sort_keys=True) != json.dumps(new, sort_keys=True)
    )


def toml(tables: dict[str, dict[str, int]]) -> str:
    return "".join(
        f"# {name}\n[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items())
        for name, rows in tables.items()
    )


TABLES = st.dictionaries(KEYS, st.dictionaries(KEYS, st.integers(0, 3), min_size=1), min_size=1)


@given(TABLES, TABLES, st.integers(0, 2**12))
def test_a_mixture_of_toml_holds_just_what_was_chosen(old: dict, new: dict, chosen: int) -> None:
    """Each key has its new value if it was chosen, else its old one."""
    settings = Settings(toml(old).encode(), toml(new).encode(), ("a.toml", "b.toml"))
    made = {n for n in range(len(settings.changes)) if chosen >> n & 1}
    wanted = {f"{t}.{k}": v for t, rows in old.items() for k, v in rows.items()}
    for number in made:
        change = settings.changes[number]
        wanted.pop(change.name, None)
        if change.new is not None:
            wanted[change.name] = int(change.new)
    found = tomllib.loads(settings.content(made).decode())
    assert {f"{t}.{k}": v for t, rows in found.items() for k, v in rows.items()} == wanted


def test_comments_and_spaces_of_the_good_file_stay() -> None:
    """What is not chosen stays as it was written, with its comments and indents."""
    old = b"# all\nmodel:\n  lr: 0.1   # small\n  width: 2\nname: x\n"
    new = b"model:\n      lr: 0.1\n      width: 2\n      depth: 3\nname: y\n"
    settings = Settings(old, new, ("a.yaml", "b.yaml"))
    assert [one.name for one in settings.changes] == ["model.depth", "name"]
    assert settings.content({0}).decode() == (
        "# all\nmodel:\n  lr: 0.1   # small\n  width: 2\n  depth: 3\nname: x\n"
    )


def test_a_reset_that_fails_is_no_culprit(zeroin: support.Zeroin, folder: Path) -> None:
    """A mixture with which the reset fails tells nothing, though its exit code is not 0."""
    bad(folder, lr=10.0)
    reset = "! grep -q 10.0 bad.json"
    words = ("bisect", "settings", "good.json", "bad.json", "--json", "--reset", reset)
    done = zeroin(*words, "--", "true", "bad.json", cwd=folder)
    told = json.loads(done.stdout)
    assert (done.returncode, told["verdict"], told["culprits"]) == (1, "not-reproduced", [])
    assert told["why"] == f"bad.json can't be tested: exit 125: the reset failed: {reset}"
    assert told["tries"] == 3
