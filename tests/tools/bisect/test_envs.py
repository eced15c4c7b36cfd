"""`bisect envs` with an index made here."""

import json
import os
import subprocess

import pytest

import packages
from zeroin.run import interpreter
from zeroin.run.pins import Pin, Store
from zeroin.run.uv import Uv

NAMES = [f"p{number:02}" for number in range(20)]
CODE = "version = '{}'\n"


@pytest.fixture
def index(tmp_path):
    """Twenty packages with two releases each, and one with many; top needs mid needs base."""
    index = packages.Index(tmp_path / "index")
    for name in NAMES:
        for version in ("1.0", "2.0"):
            index.add(name, version, {f"{name}.py": CODE.format(version)})
    for version in ("1.0", "1.1", "1.2", "2.0", "2.1", "2.2"):
        index.add("shop", version, {"shop.py": CODE.format(version)})
    for name, below in (("top", "mid"), ("mid", "base"), ("base", "")):
        for version in ("1.0", "2.0"):
            needs = [f"{below}=={version}"] if below else []
            index.add(name, version, {f"{name}.py": CODE.format(version)}, requires=needs)
    index.add("late", "1.0", {"late.py": CODE.format("1.0")})
    return index


@pytest.fixture
def project(tmp_path, zeroin, index):
    """Two locks in all of which everything differs, and an empty environment."""
    folder = tmp_path / "project"
    folder.mkdir()
    packages.make_environment(folder / ".venv", {**zeroin.env, **index.env})
    for file, version in (("old.txt", "1.0"), ("new.txt", "2.0")):
        lines = [f"{name}=={version}" for name in NAMES]
        lines.append(f"shop=={'1.0' if version == '1.0' else '2.2'}")
        lines += [f"{name}=={version}" for name in ("top", "mid", "base")]
        (folder / file).write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture
def bisect(zeroin, index, project):
    def ask(*words, env=None):
        path = f"{project / '.venv' / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
        told = {"PATH": path, **index.env, **(env or {})}
        return zeroin("bisect", "envs", *words, cwd=project, env=told, timeout=200)

    return ask


def answered(done):
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def failing(project, *conditions):
    """A script that fails if all of the conditions hold."""
    names = sorted({condition.partition(".")[0] for condition in conditions})
    test = " and ".join(conditions)
    text = f"import {', '.join(names)}\nif {test}:\n    raise ValueError('broken')\n"
    (project / "use.py").write_text(text)
    return ["--", "python", "use.py"]


def shorten_locks(project):
    """Leave six packages, where it takes many runs and not many packages."""
    for file, version in (("old.txt", "1.0"), ("new.txt", "2.0")):
        lines = [f"{name}=={version}\n" for name in NAMES[4:10]]
        (project / file).write_text("".join(lines))


def names(told):
    return {culprit["name"] for culprit in told["culprits"]}


def test_one_package(bisect, project):
    """It is named, with what to put back, and the first bad release."""
    command = failing(project, "shop.version >= '2'")
    done = bisect("old.txt", "new.txt", *command)
    assert done.returncode == 0
    line = "put back shop 2.2 → 1.0 and it works · breaks alone: yes · moves with it: nothing"
    assert line in done.stdout
    assert "first bad: shop 2.0" in done.stdout
    assert "1.2 works" in done.stdout


def test_as_json(bisect, project):
    """All keys; no more tries than it takes."""
    told = answered(
        bisect("old.txt", "new.txt", "--json", *failing(project, "p07.version > '1.5'"))
    )
    assert told["verdict"] == "found"
    assert told["confirmed"]
    (culprit,) = told["culprits"]
    assert (culprit["name"], culprit["old"], culprit["new"]) == ("p07", "1.0", "2.0")
    assert culprit["about"]["breaks_alone"] is True
    assert told["tries"] <= 12
    keys = {"verdict", "first_bad", "last_good", "candidates", "skipped", "tries", "seconds"}
    assert keys | {"confidence", "confirmed"} <= told.keys()


def test_two_that_break_only_together(bisect, project):
    """Both are named."""
    command = failing(project, "p03.version > '1.5'", "p15.version > '1.5'")
    done = bisect("old.txt", "new.txt", *command)
    assert "no, only together with" in done.stdout
    told = answered(bisect("old.txt", "new.txt", "--json", *command))
    assert names(told) == {"p03", "p15"}
    assert told["tries"] <= 25


def test_two_that_break_each_alone(bisect, project):
    """Both have to be put back."""
    text = "import p03, p15\nif '2.0' in (p03.version, p15.version):\n    raise ValueError('x')\n"
    (project / "use.py").write_text(text)
    told = answered(bisect("old.txt", "new.txt", "--json", "--", "python", "use.py"))
    assert names(told) == {"p03", "p15"}
    assert all(culprit["about"]["put_back"] for culprit in told["culprits"])


def test_what_has_to_move_with_it(bisect, project):
    """Packages that pin one another are never mixed, and the answer says what goes along."""
    text = "import top, mid, base\nassert top.version == mid.version == base.version, 'mixed'\n"
    text += "if mid.version == '2.0':\n    raise ValueError('broken')\n"
    (project / "use.py").write_text(text)
    told = answered(
        bisect("old.txt", "new.txt", "--json", "--no-release", "--", "python", "use.py")
    )
    (culprit,) = told["culprits"]
    moved = {one["name"] for one in culprit["about"]["moves_with_it"]}
    assert {culprit["name"], *moved} == {"top", "mid", "base"}
    done = bisect("old.txt", "new.txt", "--no-release", "--", "python", "use.py")
    assert done.stdout.count("2.0 → 1.0") == 3


def test_what_it_needs_is_put_back_with_it(bisect, project, index):
    """A release is never tried without what it asks for."""
    index.add("web", "1.0", {"web.py": "import late\nversion = 1\n"}, requires=["late"])
    index.add("web", "2.0", {"web.py": "version = 2\n"})
    for file, text in (("old.txt", "web==1.0\nlate==1.0\n"), ("new.txt", "web==2.0\n")):
        (project / file).write_text(text)
    done = bisect("old.txt", "new.txt", *failing(project, "web.version > 1"))
    assert "put back web 2.0 → 1.0 and it works" in done.stdout
    assert "moves with it: late (none) → 1.0" in done.stdout
    assert "tells nothing" not in done.stderr


@pytest.mark.parametrize("way", ["added", "removed"])
def test_packages_that_came_or_went(bisect, project, way):
    """They count as changes."""
    file = project / ("new.txt" if way == "added" else "old.txt")
    file.write_text(file.read_text() + "late==1.0\n")
    there = "is not None" if way == "added" else "is None"
    (project / "use.py").write_text(
        "import importlib.util\n"
        f"if importlib.util.find_spec('late') {there}:\n    raise ValueError('broken')\n"
    )
    done = bisect("old.txt", "new.txt", "--", "python", "use.py")
    change = "1.0 → (none)" if way == "added" else "(none) → 1.0"
    assert f"put back late {change} and it works" in done.stdout
    ends = ("(none)", "1.0") if way == "added" else ("1.0", "(none)")
    assert "confirmed: {} works, {} fails the same way".format(*ends) in done.stdout


def test_the_other_way_round(bisect, project):
    """Good and bad are swapped: said, and answered."""
    command = failing(project, "p07.version < '2'")
    done = bisect("old.txt", "new.txt", *command)
    assert "old.txt fails and new.txt works: searched the other way round" in done.stdout
    assert "put back p07 1.0 → 2.0 and it works" in done.stdout


def test_nothing_is_installed_for_a_try(bisect, project, zeroin, index):
    """With all releases in the store, the index is not needed any more."""
    env = {**zeroin.env, **index.env}
    python = interpreter.at(str(project / ".venv"), "/", env)
    store = Store(Uv(env, str(project)), python, env)
    lines = (project / "old.txt").read_text() + (project / "new.txt").read_text()
    assert store.fill(Pin(*line.split("==")) for line in lines.splitlines()) == {}
    subprocess.run(["rm", "-r", index.folder], check=True)
    command = failing(project, "p07.version > '1.5'")
    told = answered(bisect("old.txt", "new.txt", "--no-release", "--json", *command))
    assert names(told) == {"p07"}


def test_two_virtual_environments(bisect, project, zeroin, index):
    """Packages are taken from where they are: no index is needed."""
    env = {**zeroin.env, **index.env}
    for folder, version in (("works", "1.0"), ("fails", "2.0")):
        wanted = [f"{name}=={version}" for name in NAMES[:8]]
        packages.make_environment(project / folder, env, *wanted)
    away = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}
    command = failing(project, "p03.version > '1.5'")
    told = answered(bisect("works", "fails", "--no-release", "--json", *command, env=away))
    assert names(told) == {"p03"}


@pytest.mark.parametrize("here", ["this", "."])
def test_a_virtual_environment_and_this(bisect, project, zeroin, index, here):
    """What the command names is `this`, not the environment that is given beside it."""
    env = {**zeroin.env, **index.env}
    for folder, version in (("works", "1.0"), ("fails", "2.0")):
        wanted = [f"{name}=={version}" for name in NAMES[:4]]
        packages.make_environment(project / folder, env, *wanted)
    words = ("--no-release", "--json", "--", "fails/bin/python")
    told = answered(bisect("works", here, *words, *failing(project, "p03.version > '1.5'")[2:]))
    assert names(told) == {"p03"}


def test_the_command_names_an_environment_that_is_not_given(bisect, project, zeroin, index):
    """It is run in that of the try all the same."""
    env = {**zeroin.env, **index.env}
    for folder, version in (("works", "1.0"), ("fails", "2.0")):
        packages.make_environment(project / folder, env, f"p03=={version}", f"p04=={version}")
    packages.make_environment(project / "third", env)
    words = ("--no-release", "--json", "--", "third/bin/python")
    told = answered(bisect("works", "fails", *words, *failing(project, "p03.version > '1.5'")[2:]))
    assert names(told) == {"p03"}


def test_an_attempt_and_this(bisect, project, zeroin, index):
    """What was installed when an attempt was made, against what is now."""
    command = failing(project, "p03.version > '1.5'")
    python = install(project, zeroin, index, *(f"{name}==1.0" for name in NAMES[:6]))
    path = {"PATH": f"{python.parent}{os.pathsep}{zeroin.env['PATH']}"}
    path["PYTHONDONTWRITEBYTECODE"] = "1"  # both releases may be installed within a second
    assert zeroin("run", *command, cwd=project, env=path).returncode == 0
    install(project, zeroin, index, *(f"{name}==2.0" for name in NAMES[:6]))
    told = answered(bisect("attempt:1", "this", "--no-release", "--json", *command))
    assert names(told) == {"p03"}
    done = bisect("attempt:7", "this", *command)
    assert "there is no attempt 7" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("old.txt", "old.txt", 2, "have the same 24 packages"),
        ("old.txt", "nothing.txt", 2, "no such file"),
        ("old.txt", "empty.txt", 2, "no packages in it"),
        ("old.txt", "loose.txt", 2, "p00 is not pinned"),
        ("old.txt", "folder", 2, "no virtual environment"),
        ("attempt:1", "new.txt", 1, "nothing has been recorded in this folder yet"),
    ],
)
def test_what_cannot_be_read(bisect, project, old, new, code, said):
    """A message each, and the code of a wrong question."""
    (project / "empty.txt").write_text("# nothing\n")
    (project / "loose.txt").write_text("p00>=1\n")
    (project / "folder").mkdir()
    done = bisect(old, new, *failing(project, "p07.version > '1.5'"))
    assert said in done.stderr
    assert done.returncode == code


def test_both_work_or_both_fail(bisect, project):
    """Then it is not for the packages, and that is the answer."""
    shorten_locks(project)
    done = bisect("old.txt", "new.txt", "--", "python", "-c", "pass")
    assert "it works with both, old.txt and new.txt, 13 runs each" in done.stdout
    again = "zeroin bisect envs old.txt new.txt --repeat 50 -- python -c pass"
    assert f"next: it may fail only sometimes: {again}\n" in done.stdout
    assert done.returncode == 1
    done = bisect("old.txt", "new.txt", "--", "python", "-c", "1 / 0")
    assert "it fails in the same way with both" in done.stdout
    assert done.returncode == 1


def test_an_index_out_of_reach(bisect, project):
    """That is said, with the code for what can't be tested."""
    away = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple", "UV_OFFLINE": "0"}
    away["UV_HTTP_RETRIES"] = "0"
    done = bisect("old.txt", "new.txt", *failing(project, "p07.version > '1.5'"), env=away)
    assert done.returncode == 125
    assert "the package index does not answer" in done.stderr


def test_a_release_that_cannot_be_had(bisect, project):
    """It is in no try, that is said, and the rest is answered."""
    old = project / "old.txt"
    old.write_text(old.read_text().replace("p05==1.0", "p05==0.9"))
    done = bisect("old.txt", "new.txt", *failing(project, "p07.version > '1.5'"))
    assert "p05 0.9 can't be installed, and is in no try" in done.stdout
    assert "put back p07" in done.stdout


def install(project, zeroin, index, *wanted):
    env = {**zeroin.env, **index.env}
    uv = Uv(env, str(project))._program
    python = project / ".venv" / "bin" / "python"
    subprocess.run([uv, "pip", "install", "-q", "-p", python, *wanted], env=env, check=True)
    return python


def make_editable(project, python):
    """As an installer leaves a project that is installed in editable mode."""
    (site,) = python.parent.parent.glob("lib/python*/site-packages")
    (project / "src").mkdir()
    (project / "src" / "mine.py").write_text("import p07\nassert p07.version < '1.5', 'broken'\n")
    (site / "mine.pth").write_text(f"{project / 'src'}\n")
    info = site / "mine-0.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 0.1\n")
    told = {"url": f"file://{project}", "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(told))
    names = ("METADATA", "direct_url.json", "RECORD")
    rows = ["mine.pth,,", *(f"{info.name}/{name},," for name in names)]
    (info / "RECORD").write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("new", ["new.txt", "this"])
def test_the_project_itself_is_in_each_try(bisect, project, zeroin, index, new):
    """Installed as editable, it is in no lock, and it is not what changes."""
    wanted = (project / "new.txt").read_text().split()
    make_editable(project, install(project, zeroin, index, *wanted))
    command = ("--no-release", "--json", "--", "python", "-c", "import mine")
    told = answered(bisect("old.txt", new, *command))
    assert names(told) == {"p07"}
    assert any("mine" in note for note in told["notes"])


def test_the_command_is_in_no_lock(bisect, project, zeroin, index):
    """Then it is taken from where it is installed, with what it needs."""
    index.add("helper", "1.0", {"helper.py": ""})
    code = "import helper, p07\ndef main():\n    assert p07.version < '1.5', 'broken'\n"
    how = {"requires": ["helper"], "scripts": {"checker": "checker:main"}}
    index.add("checker", "1.0", {"checker.py": code}, **how)
    install(project, zeroin, index, "checker")
    told = answered(bisect("old.txt", "new.txt", "--no-release", "--json", "--", "checker"))
    assert names(told) == {"p07"}
    assert any("checker, helper" in note for note in told["notes"])


def test_started_by_another_program(bisect, project, zeroin, index):
    """`uv run` would choose an environment by itself: what it starts is run in that of the try."""
    install(project, zeroin, index, *(project / "new.txt").read_text().split())
    (project / "pyproject.toml").write_text("[project]\nname = 'app'\nversion = '1'\n")
    command = failing(project, "p07.version > '1.5'")[1:]
    uv = Uv(zeroin.env, str(project))._program
    told = answered(bisect("old.txt", "this", "--no-release", "--json", "--", uv, "run", *command))
    assert names(told) == {"p07"}


def test_it_fails_sometimes(bisect, project, tmp_path):
    """Every other run fails with the new release: mixes are run until that is told apart."""
    shorten_locks(project)
    (project / "use.py").write_text(
        "import os, p07\n"
        f"turn = {str(tmp_path / 'turn')!r}\n"
        "try: os.mkdir(turn)\n"
        "except FileExistsError: os.rmdir(turn)\n"
        "else: assert p07.version < '2', 'now and then'\n"
    )
    words = ["--no-release", "-j", "1", "--json", "--", "python", "use.py"]
    told = answered(bisect("old.txt", "new.txt", *words))
    assert names(told) == {"p07"}
    assert told["confirmed"]
    assert told["confidence"] < 1


def test_it_does_not_fail_at_first(bisect, project, tmp_path):
    """A program that takes no time is run often before it is said to work with both."""
    shorten_locks(project)
    (project / "use.py").write_text(
        "import p07\n"
        "if p07.version == '2.0':\n"
        f"    with open({str(tmp_path / 'turns')!r}, 'a') as file:\n"
        "        file.write('x')\n"
        "        turn = file.tell()\n"
        "    assert turn < 6 or turn % 3 == 0, 'now and then'\n"
    )
    words = ["--no-release", "-j", "1", "--json", "--", "python", "use.py"]
    assert names(answered(bisect("old.txt", "new.txt", *words))) == {"p07"}


def test_a_reset_is_run_before_each_try(bisect, project):
    """Where the command is run: without it, the command would find nothing."""
    shorten_locks(project)
    name = NAMES[5]
    (project / "use.py").write_text(
        f"import {name}\nassert open('state').read() == 'ready'\n"
        "open('state', 'w').write('used')\n"
        f"if {name}.version >= '2':\n    raise ValueError('broken')\n"
    )
    words = ("old.txt", "new.txt", "--reset", "printf ready > state", "--json")
    told = answered(bisect(*words, "--", "python", "use.py"))
    assert names(told) == {name}
    assert not (project / "state").exists()


def test_a_reset_that_fails_is_no_culprit(bisect, project):
    """An environment in which the reset fails tells nothing, though its exit code is not 0."""
    shorten_locks(project)
    reset = f"python -c 'import {NAMES[5]} as m; assert m.version < str(2)'"
    words = ("old.txt", "new.txt", "--reset", reset, "--json")
    done = bisect(*words, "--", "python", "-c", f"import {NAMES[5]}")
    told = answered(done)
    assert (done.returncode, told["verdict"], told["culprits"]) == (1, "not-reproduced", [])
    assert f"can't be tested: exit 125: the reset failed: {reset}" in told["why"]
