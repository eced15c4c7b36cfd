"""The documentation says what the product does: pages, commands, links, JSON keys, settings."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import TYPE_CHECKING, Any

import pytest

import support
from left_out import heavy
from zeroin import errors
from zeroin.fronts.cli import VERBS
from zeroin.fronts.cli.options import split_command
from zeroin.tools.config import Config
from zeroin.tools.sizes import parse_size

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCS = support.ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
REFERENCE = DOCS / "reference"
ROOT_PAGES = [support.ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md")]


def named(page: Path) -> str:
    return str(page.relative_to(support.ROOT))


# --- the reference of verbs -----------------------------------------------------------------


def test_every_verb_has_its_page_and_it_is_up_to_date():
    """scripts/reference.py would change nothing, and the index lists what `--help` lists."""
    script = support.ROOT / "scripts" / "reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    index = (REFERENCE / "README.md").read_text()
    assert [f"| [{verb}]({verb}.md) | {text} |" in index for verb, text in VERBS.items()] == [
        True
    ] * len(VERBS)


def test_a_stale_page_is_noticed(tmp_path):
    """`--check` names it, exits with 1 and leaves it as it is."""
    copy = tmp_path / "scripts" / "reference.py"
    copy.parent.mkdir()
    copy.write_text((support.ROOT / "scripts" / "reference.py").read_text())
    pages = tmp_path / "docs" / "reference"
    pages.mkdir(parents=True)

    def call(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(copy), *args]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert call().returncode == 0
    assert call("--check").returncode == 0
    (pages / "log.md").write_text("old\n")
    done = call("--check")
    assert (done.returncode, "stale" in done.stderr, "log.md" in done.stderr) == (1, True, True)
    assert (pages / "log.md").read_text() == "old\n"


# --- commands -------------------------------------------------------------------------------

KEYWORDS = ("do", "then", "else", "time", "!")
ENDS = ("|", "||", "&&", ";", "&")


def blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Give the code blocks of a page: the language and the lines."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        yield found[1], found[2].splitlines()


def typed(text: str) -> Iterator[str]:
    """Give the lines of a page that a reader would type."""
    for language, lines in blocks(text):
        if language == "console":
            yield from (line[2:] for line in lines if line.startswith("$ "))
        elif language == "sh":
            yield from lines


def simple_commands(line: str) -> Iterator[list[str]]:
    """Cut a shell line at pipes and the like, without redirections."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    words: list[str] = []
    tokens = iter(lexer)
    for token in tokens:
        if token in ENDS:
            yield words
            words = []
        elif token[0] in "<>":
            next(tokens, None)
            if words and words[-1].isdigit():  # the 2 of 2>&1
                words.pop()
        else:
            words.append(re.sub(r"\$\w+", "1", token))  # the n of a loop
    yield words


def our_commands(page: Path) -> list[list[str]]:
    """Give the words of every command of ours in a page's code blocks."""
    found = []
    for line in typed(page.read_text(encoding="utf-8")):
        for words in simple_commands(line):
            while words and (words[0] in KEYWORDS or re.match(r"\w+=", words[0])):
                words.pop(0)
            if words and words[0] in ("zeroin", "zin"):
                found.append(words[1:])
    return found


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_command_line_parses(page):
    """With the parser of its verb; what follows `--` is the user's own."""
    for verb, *args in our_commands(page):
        if verb.startswith("--"):
            assert verb in ("--version", "--help")
            continue
        assert verb in VERBS
        own, command = split_command(args)
        module = import_module(f"zeroin.fronts.cli.{verb}")
        if own and own[0] in getattr(module, "AXES", ()):
            module, own = module.axis(own[0]), own[1:]
        module.parser().parse_args(own)
        runs = (
            verb in ("run", "loop", "limit", "bisect", "leak", "nan")
            or (verb == "files" and "-p" not in own)
            or (verb == "shrink" and "--interesting" not in own)
        )
        assert bool(command) == runs or not getattr(module, "NEEDS_COMMAND", True), args


def test_commands_are_found():
    """The test above would notice a wrong option: it looks at many commands of each verb."""
    verbs = [words[0] for page in PAGES for words in our_commands(page)]
    assert len(verbs) > 100
    assert set(VERBS) <= set(verbs)
    assert list(simple_commands("A=1 zeroin again 3 --code 2>&1 | tail -n 3  # why")) == [
        ["A=1", "zeroin", "again", "3", "--code"],
        ["tail", "-n", "3"],
    ]


@pytest.mark.parametrize("page", [*PAGES, *ROOT_PAGES], ids=named)
def test_only_verbs_that_exist_are_spoken_of(page):
    """Also in the middle of a sentence."""
    words = re.findall(r"`(?:zeroin|zin) ([a-z]+)", page.read_text(encoding="utf-8"))
    assert set(words) <= set(VERBS)


# --- links ----------------------------------------------------------------------------------


def links(page: Path) -> list[str]:
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    targets = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text))
    return [target for target in targets if "://" not in target]


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, *ROOT_PAGES], ids=named)
def test_every_relative_link_resolves(page):
    """To a file that is there, and to a heading of it."""
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_can_be_reached_from_the_index():
    """A page that nobody links to is not read."""
    found, queue = set(), [DOCS / "README.md"]
    while queue:
        page = queue.pop()
        if page not in found:
            found.add(page)
            targets = ((page.parent / link.partition("#")[0]).resolve() for link in links(page))
            queue += [target for target in targets if target.suffix == ".md"]
    assert set(PAGES) - found == set()


# --- settings, messages, exit codes ---------------------------------------------------------


def rows(text: str) -> list[list[str]]:
    """Give the cells of all tables, without their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    heads = {n for n, row in enumerate(cells) if set("".join(row)) <= set("- |")}
    return [row for n, row in enumerate(cells) if n not in heads and n + 1 not in heads]


def test_every_setting_is_documented_with_its_default():
    """And no other is."""
    documented = {
        name.strip("`"): default.strip("`")
        for name, default, *_ in rows((REFERENCE / "config.md").read_text().partition("\n## ")[0])
    }
    read = {
        name: parse_size(documented[name])
        if type(default) is int
        else type(default)(json.loads(documented[name]))
        for name, default in Config._field_defaults.items()
    }
    assert read == Config._field_defaults
    assert set(documented) == set(Config._fields)


def test_every_exit_code_is_documented():
    """By its number."""
    text = (REFERENCE / "exit-codes.md").read_text()
    codes = {v for v in vars(errors).values() if type(v) is int}
    assert {code for code in codes if not re.search(rf"^\| {code}\b", text, re.MULTILINE)} == set()


def find_texts(value: Any) -> Iterator[str]:
    """Give the texts among the constants of compiled code, and of all code inside of it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("latin-1")
    elif isinstance(value, (tuple, frozenset)):
        for one in value:
            yield from find_texts(one)
    elif isinstance(value, CodeType):
        yield from find_texts(value.co_consts)


def test_every_message_is_said_somewhere():
    """Each fixed part of a documented message stands in a text of the source."""
    texts = [os.strerror(number).lower() for number in errno.errorcode]
    for file in support.SRC.rglob("*.py"):  # mostly compiled already
        texts += find_texts(SourceFileLoader(file.stem, str(file)).get_code(file.stem))
    source = "\n".join(texts)
    for message, *_ in rows((REFERENCE / "messages.md").read_text()):
        for quoted in re.findall(r"`([^`]+)`", message):
            parts = [part.strip(": ") for part in re.split(r"…|<secret \w+>", quoted)]
            assert all(part in source for part in parts), quoted


# --- JSON -----------------------------------------------------------------------------------

LINK = re.compile(r"\(#(\w+)\)")


def sections() -> dict[str, dict[str, str]]:
    """Read json.md: for each heading its keys, with what their type says."""
    found: dict[str, dict[str, str]] = {}
    text = (REFERENCE / "json.md").read_text(encoding="utf-8")
    for part in re.split(r"^#{2,3} ", text, flags=re.MULTILINE)[1:]:
        keys: dict[str, str] = {}
        inherited = re.search(r"All keys of \[\w+\]\(#(\w+)\)", part)
        if inherited:
            keys |= found[inherited[1]]
        keys |= {row[0].strip("`"): row[1] for row in rows(part)}
        found[part.partition("\n")[0].strip()] = keys
    return found


class Seen:
    """Compares real output with the page, and notes which keys were there."""

    def __init__(self) -> None:
        self.sections = sections()
        self.keys: dict[str, set[str]] = {name: set() for name in self.sections}

    def take(self, value: Any, section: str) -> None:
        if isinstance(value, list):
            for item in value:
                self.take(item, section)
        if not isinstance(value, dict):
            return
        known = self.sections[section]
        assert set(value) <= set(known), f"not documented in {section}"
        self.keys[section] |= set(value)
        for key, item in value.items():
            inner = LINK.search(known[key])
            if inner:
                self.take(item, inner[1])
            else:
                assert not holds_objects(item) or known[key] == "map", f"{section}.{key}"

    def leave_out(self, prefix: str) -> None:
        """Don't ask for what this machine can't show."""
        self.sections = {k: v for k, v in self.sections.items() if not k.startswith(prefix)}

    def missing(self) -> dict[str, set[str]]:
        left = {name: set(keys) - self.keys[name] for name, keys in self.sections.items()}
        return {name: keys for name, keys in left.items() if keys}


def holds_objects(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(holds_objects, value))
    return isinstance(value, dict)


PROGRAMS = {
    "resized.py": """\
import array

a = array.array("d", [1, 2, 3])  # (2,) f64
b = array.array("d", [1, 2, 3])  # (2,) f64
c = array.array("d", [1, 2, 3])  # (2,) f64
""",
    "shaped.py": "import array\nx = array.array('d', [1])  # (2,) f64\nx = 1 / (x[0] - 1)\n",
    "not_finite.py": """\
import numpy, torch

w = torch.nn.Parameter(torch.zeros(2))
opt = torch.optim.SGD([w], 0.1)
model = torch.nn.Sequential(torch.nn.Linear(2, 2))
unused = 1 / w.detach()
w.sum().backward()
opt.step()
numpy.log(-numpy.ones(2))
y = model(torch.from_numpy(numpy.array([[1.0, numpy.nan]], "float32")))
y.sum().backward()
opt.zero_grad()
x = w / 0 + 1
x.div_(torch.zeros(2)).sub_(x.detach().clone())
x.sum().backward()
model[0].weight.grad = None
opt.zero_grad()
torch.sqrt(w * 0).sum().backward()
opt.step()


class Log(torch.nn.Linear):
    def forward(self, x):
        return torch.log(0 * self.weight + x)


Log(2, 2)(torch.zeros(2)).sum().backward()
""",
    "group.py": """\
def deep(left):
    if not left:
        error = ValueError("at the bottom")
        error.add_note("look here")
        raise error
    deep(left - 1)


try:
    deep(100)
except ValueError as error:
    raise ExceptionGroup("several", [error]) from KeyError("plum")
""",
    "pooled.py": """\
import multiprocessing


def divide(number):
    return 1 / number


if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        pool.map(divide, [1, 0])
""",
    "broken.py": "def f(:\n",
    "imports.py": "import broken\n",
    "test_it.py": """\
import unittest


class Case(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(1 + 1, 3)
""",
    "sleeps.py": "import time\n\ntime.sleep(60)\n",
    "dies.py": "raise SystemExit(3)\n",
    "reads.py": "open('made', 'w').close()\nopen('not there')\n",
    "data.jsonl": '{"a": 1}\n{"b": 2}\n',
    "rows.py": """\
import json

rows = [json.loads(line) for line in open("data.jsonl")]
print(rows[0]["a"], [row for row in rows if "b" in row][0]["c"])
""",
}


def commits(folder: Path, env: dict[str, str], *texts: str) -> None:
    """Commit one text of lib.py after the other."""
    for text in texts:
        (folder / "lib.py").write_text(text)
        for words in (("add", "lib.py"), ("commit", "-q", "-m", text)):
            subprocess.run(["git", *words], cwd=folder, env=env, check=True)


GROWS = """\
class Node:
    def __init__(self):
        self.me, self.data = self, bytearray(9_000)

kept = []
for _ in range(60):
    kept.append([Node(), bytearray(90_000)])
    Node()
"""


def ask_which(ask: Any, project: Path) -> None:
    """Questions that have all keys in their answers."""
    text = "class A:\n    def f(self):\n        pass\n\n\nclass B(A):\n    @property\n    def f(self):\n        pass\n"
    (project / "classes.py").write_text(text + "\n\nB().f\n")
    (project / "build" / "lib").mkdir(parents=True)
    (project / "build" / "lib" / "classes.py").write_text(text)
    patch = "import classes\n\n\ndef f(self):\n    pass\n\n\nclasses.A.f = f\n"
    (project / "patches.py").write_text(patch)
    ask("which", "which", "classes.B", "--json")
    ask("which", "which", "classes.B.f", "--json", "--", "python", "classes.py")
    ask("which", "which", "patches:classes.A.f", "--json")
    ask("which", "which", "imports.f", "--json")
    (project / "several.py").write_text("def f(): pass\ndef f(): pass\nf()\n")
    words = ("several.py:f", "--no-stop", "--json", "--", "python", "several.py")
    ask("which", "which", *words)


@heavy("torch")
@pytest.mark.slow
def test_json_keys_of_nan(zeroin, project, warm_torch):
    """Every key of a real report of `nan` is in json.md, and every key of json.md is in one."""
    seen = Seen()
    (project / "not_finite.py").write_text(PROGRAMS["not_finite.py"])
    done = zeroin("nan", "--json", "--go-on", "--", warm_torch, "not_finite.py", cwd=project)
    seen.take(json.loads(done.stdout), "nan")
    assert {name: keys for name, keys in seen.missing().items() if name.startswith("nan")} == {}


@pytest.mark.slow
def test_json_keys_are_the_documented_ones(zeroin, project):
    """Every key of real output is in json.md, and every key of json.md is in real output."""
    seen = Seen()
    for name, text in PROGRAMS.items():
        (project / name).write_text(text)
    for version in ("1", "2"):
        (project / f"lib{version}" / f"thing-{version}.0.dist-info").mkdir(parents=True)

    def ask(section: str, *args: str) -> list[dict[str, Any]]:
        done = zeroin(*args, cwd=project)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        assert answers, done.stderr
        assert all(answer["schema"] == 1 for answer in answers)
        seen.take(answers, section)
        return answers

    def run(*args: str) -> None:
        (report,) = ask("run", *args)
        ask("show", "show", str(report["id"]), "--json")

    for name in ("group.py", "imports.py", "dies.py", "pooled.py"):
        run("run", "--json", "--", "python", name)
    run("run", "--json", "--", "python", "-m", "unittest", "test_it.py")
    run("run", "--json", "--timeout", "1s", "--", "python", "sleeps.py")
    run("limit", "--json", "disk=.:1M", "--", "touch", "written")
    options = ["--env", "PYTHONPATH=lib1", "--reset", "true", "--restore", "out", "--seed", "1"]
    options += ["--peek", "--log", "info", "--at", "dies.py:1", "peek=1"]
    run("run", "--json", *options, "--sync", "--timeout", "60", "--", "python", "train.py")
    (project / "train.py").write_text("print('more')\n")
    run("run", "--json", "--env", "PYTHONPATH=lib2", "--", "python", "train.py")
    run("again", "8", "--code", "--json")
    (once,) = ask("loop", "loop", "--once", "--json", "--profile", "--", "python", "train.py")
    ask("show", "show", str(once["id"]), "--json")
    ask("shrink", "shrink", "--json", "data.jsonl", "--", "python", "rows.py")
    commits(project, zeroin.env, "GOOD = 1", "def broken(", "GOOD = 0")
    check = "import lib; assert lib.GOOD"
    ask("bisect", "bisect", "commits", "HEAD~2", "--json", "--", "python", "-c", check)
    for name, rate in (("good.json", 1), ("bad.json", 0)):
        (project / name).write_text(json.dumps({"rate": rate}))
    check = "import json; 1 / json.load(open('bad.json'))['rate']"
    words = ("settings", "good.json", "bad.json", "--json", "--", "python", "-c", check)
    ask("bisect", "bisect", *words)
    ask("tiny", "tiny", "data", "data.jsonl", "--json")
    ask("diff", "diff", "7", "8", "--json")
    ask("log", "log", "--json")
    ask("oneliner", "show", "8", "--oneliner", "--json")
    ask("files", "files", "--json", "--", "python", "reads.py")
    look = ("--after", "1s", "--end", "--json", "--", "python", "sleeps.py")
    ask("stacks", "stacks", *look)
    ask_which(ask, project)
    (project / "grows.py").write_text(GROWS)
    ask("leak", "leak", "--json", "--", "python", "grows.py")
    ask("shapes", "shapes", "--json", "--check", "shaped.py")
    ask("shapes", "shapes", "--json", "--check", "resized.py")
    seen.leave_out("nan")
    ask("why", "why", "--json")
    zeroin("run", "--", "sh", "-c", "kill -SEGV $$", cwd=project)
    ask("why", "why", "--json")
    ask("why", "why", "--json", "-p", str(os.getpid()))
    ask("watch", "watch", "memory", "--once", "--json", "--", "true")
    ask("gc", "gc", "--to", "1k", "--json")
    ask("doctor", "doctor", "--json")
    for folder in ("src", "copies"):
        (project / folder / "shop").mkdir(parents=True)
        (project / folder / "shop" / "__init__.py").touch()
    (project / "test_copy.py").write_text(
        "import sys\ndef test_copy():\n    sys.path.insert(0, 'copies')\n    import shop\n    assert 0\n"
    )
    options = ["--zeroin-report", "r.json", "--zeroin-flaky", "2", "--zeroin-only-mine"]
    run("run", "--json", "--", sys.executable, "-m", "pytest", *options, "test_copy.py")
    seen.take(json.loads((project / "r.json").read_text()), "pytest")
    done = zeroin("run", "--repeat", "2", "--json", "--", "python", "dies.py", cwd=project)
    *runs, rates = map(json.loads, done.stdout.splitlines())
    seen.take(runs, "run")
    seen.take(rates, "repeat")
    assert seen.missing() == {}
