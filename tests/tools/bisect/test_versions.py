"""`bisect versions` with an index made here."""

import json
import os
from pathlib import Path

import pytest

import packages
import support

WORKS = "def total():\n    return 7\n"
BROKEN = "def total():\n    raise TypeError('no total')\n"
USE = "import shop, base\nprint(shop.total(), base.version)\n"


@pytest.fixture
def index(tmp_path):
    """Shop breaks with 3.0, which is yanked; 2.9 came late; base moves with 3.0."""
    index = packages.Index(tmp_path / "index")
    for version in ("1.0", "1.1", "2.0", "3.0", "3.1", "2.9", "3.2"):
        is_new = version.startswith("3")
        index.add(
            "shop",
            version,
            {"shop.py": (BROKEN if is_new else WORKS) + f"version = '{version}'\n"},
            requires=["base>=2" if is_new else "base"],
            scripts={"shop-total": "shop:total"},
            **({"yanked": "wrong"} if version == "3.0" else {}),
        )
    for version in ("1.0", "2.0", "2.5"):
        index.add("base", version, {"base.py": f"version = '{version}'\n"})
    return index


@pytest.fixture
def env(zeroin, index):
    return {**zeroin.env, **index.env}


@pytest.fixture
def project(tmp_path, env):
    """An environment with the newest shop, and a script."""
    folder = tmp_path / "project"
    folder.mkdir()
    packages.make_environment(folder / ".venv", env, "shop==3.2", "base==2.0")
    (folder / "use.py").write_text(USE)
    return folder


@pytest.fixture
def bisect(zeroin, index, project):
    """Ask; the environment is active unless another PATH is given."""

    def ask(*words, env=None, cwd=project):
        path = f"{project / '.venv' / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
        told = {"PATH": path, **index.env, **(env or {})}
        return zeroin("bisect", "versions", *words, cwd=cwd, env=told, timeout=120)

    return ask


def answered(done):
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in folder.rglob("*")
        if ".zeroin" not in path.parts
    }


def test_the_first_bad_release(bisect, project):
    """In the order of versions, yanked or not; nothing of the user's is changed."""
    before = listing(project)
    done = bisect("shop", "--good", "1.0", "--json", "--", "python", "use.py")
    told = answered(done)
    assert done.returncode == 0
    assert (told["verdict"], told["last_good"], told["first_bad"]) == ("found", "2.9", "3.0")
    assert told["confirmed"]
    assert told["about"]["yanked"] is True
    assert told["candidates"] == ["3.0"]
    assert listing(project) == before


def test_both_ends_are_found(bisect):
    """The bad one is what is installed; for the good one it is gone back."""
    done = bisect("shop", "--", "python", "use.py")
    assert "first bad: shop 3.0 (yanked)" in done.stdout
    assert "confirmed: 2.9 works, 3.0 fails the same way" in done.stdout
    assert "TypeError at shop.py total()" in done.stderr or "TypeError at use.py" in done.stderr
    assert done.returncode == 0


def test_other_packages_stay(bisect, project):
    """The try has base as it is installed, neither the newest nor the oldest."""
    (project / "use.py").write_text(USE + "assert base.version == '2.0', 'another base'\n")
    assert answered(bisect("shop", "--json", "--", "python", "use.py"))["first_bad"] == "3.0"


def test_what_has_to_move_does_and_is_told(bisect, project, env, index):
    """A base that 3.0 does not take is moved with it, and only then."""
    packages.make_environment(project / "old", env, "shop==2.9", "base==1.0")
    done = bisect("shop", "--bad", "3.2", "--python", "old", "--json", "--", "python", "use.py")
    told = answered(done)
    assert told["first_bad"] == "3.0"
    assert told["about"]["moved"] == [{"name": "base", "old": "1.0", "new": "2.5"}]


def test_more_requirements(bisect):
    """They hold for each try."""
    words = ("shop", "--with", "base>2.1", "--json", "--", "python", "-c")
    code = "import base, shop\nassert base.version == '2.5'\nshop.total()"
    assert answered(bisect(*words, code))["first_bad"] == "3.0"


@pytest.mark.parametrize("how", ["script", "absolute", "module", "shell"])
def test_commands_run_in_the_environment_of_the_try(bisect, project, how):
    """However the command names its Python: none of them is that of the user's environment."""
    command = {
        "script": ["shop-total"],
        "absolute": [str(project / ".venv" / "bin" / "python"), "use.py"],
        "module": ["python3", "-m", "shop_use"],
        "shell": ["sh", "-c", "python use.py"],
    }[how]
    (project / "shop_use.py").write_text(USE)
    if how == "script":
        command = ["sh", "-c", "shop-total; test $? -ne 1"]
    done = bisect("shop", "--good", "2.0", "--json", "--", *command)
    assert answered(done)["first_bad"] == "3.0"


def test_fails_always_but_in_another_way(bisect, project):
    """Exit code 1 with every release: the one since which it fails so is the answer."""
    (project / "use.py").write_text(USE + "raise SystemError('as always')\n")
    told = answered(bisect("shop", "--good", "1.0", "--json", "--", "python", "use.py"))
    assert (told["last_good"], told["first_bad"]) == ("2.9", "3.0")


def test_another_failure_between(bisect, index):
    """It tells nothing, and is no answer."""
    index.add("shop", "2.5", {"shop.py": "import nothing_like_it\n"}, requires=["base"])
    told = answered(bisect("shop", "--good", "1.0", "--json", "--", "python", "use.py"))
    assert (told["last_good"], told["first_bad"]) == ("2.9", "3.0")


def test_releases_that_cannot_be_tested(bisect, index):
    """Those that don't fit this Python, or don't install, are skipped, with the reason."""
    index.add("shop", "2.95", {"shop.py": WORKS}, python=">=3.99")
    index.add("shop", "2.96", {"shop.py": WORKS}, requires=["not-there>=1"])
    told = answered(bisect("shop", "--good", "1.0", "--json", "--", "python", "use.py"))
    assert (told["verdict"], told["candidates"]) == ("range", ["2.95", "2.96", "3.0"])
    reasons = {one["name"]: one["reason"] for one in told["skipped"]}
    assert reasons["2.95"] == "needs Python >=3.99"
    assert "not-there" in reasons["2.96"]


def test_only_the_middle_fails(bisect, index):
    """Both ends work: the release that broke it is named, and that it was repaired."""
    index.add("shop", "4.0", {"shop.py": WORKS}, requires=["base"])
    done = bisect("shop", "--good", "1.0", "--bad", "4.0", "--json", "--", "python", "use.py")
    told = answered(done)
    assert told["first_bad"] == "3.0"
    assert "both ends work" in told["notes"][-1]
    assert "since shop 4.0" in told["notes"][-1]


def test_only_the_middle_fails_and_each_try_is_said_as_it_went(bisect, index):
    """Also those that are made to find since when it works again."""
    for version in ("4.0", "4.1", "4.2", "4.3"):
        index.add("shop", version, {"shop.py": WORKS}, requires=["base"])
    done = bisect("shop", "--good", "1.0", "--bad", "4.3", "-j", "1", "--", "python", "use.py")
    tried = [line.split()[2:4] for line in done.stderr.splitlines() if line[:3].strip().isdigit()]
    went = {version: word for version, word in tried if version.startswith("4")}
    assert set(went.values()) == {"works"}
    assert len(went) > 1


def test_what_repaired_it(bisect, index):
    """With --fixed, the first one that works again."""
    index.add("shop", "4.0", {"shop.py": WORKS}, requires=["base"])
    words = ("--good", "3.0", "--bad", "4.0", "--fixed", "--", "python", "use.py")
    done = bisect("shop", *words)
    assert "first fixed: shop 4.0" in done.stdout


def test_a_pre_release_has_it_already(bisect, index):
    """The answer is the release; which of its pre-releases is said beside."""
    for version, code in (("3.0a1", WORKS), ("3.0rc1", BROKEN)):
        index.add("shop", version, {"shop.py": code}, requires=["base"])
    done = bisect("shop", "--good", "1.0", "--", "python", "use.py")
    assert "first bad: shop 3.0" in done.stdout
    assert "its pre-release 3.0rc1 has it already" in done.stdout


def test_a_requirement_that_excludes_what_is_installed(bisect):
    """The installed release is not quietly another one then: it can't be tested."""
    done = bisect("shop", "--good", "1.0", "--with", "shop<3", "--", "python", "use.py")
    assert done.returncode == 125
    assert "shop 3.2 can't be tested" in done.stderr
    assert done.stderr.endswith("\n  name another release: --bad VERSION\n")


def test_a_python_of_its_own(bisect, project):
    """A command that starts another one by its path gets none of the releases: that is said."""
    python = project / ".venv" / "bin" / "python"
    done = bisect("shop", "--good", "1.0", "--", "sh", "-c", f"{python} use.py")
    assert done.returncode == 125
    assert "shop was imported from" in done.stderr
    assert "let the command start python without a path" in done.stderr
    done = bisect("shop", "--good", "1.0", "--", "sh", "-c", "python use.py")
    assert done.returncode == 0


def test_imported_from_elsewhere(bisect, project):
    """A copy beside the script hides all releases: that is said, and nothing is answered."""
    (project / "shop.py").write_text(BROKEN)
    done = bisect("shop", "--good", "1.0", "--", "python", "use.py")
    assert done.returncode == 125
    assert f"shop was imported from {project / 'shop.py'}" in done.stderr
    assert "take that out of PYTHONPATH" in done.stderr
    assert "first bad" not in done.stdout
    (project / "shop.py").unlink()
    done = bisect("shop", "--good", "1.0", "--", "python", "use.py")
    assert "first bad: shop 3.0" in done.stdout, "what could not be tested is asked again"


def test_it_is_not_imported(bisect):
    """Then no release can be at fault."""
    done = bisect("shop", "--good", "1.0", "--bad", "2.0", "--", "python", "-c", "pass")
    assert done.returncode == 1
    assert "did not import shop" in done.stdout


def test_tries_write_nothing(bisect, project):
    """What a try writes beside the script is gone with it, also where tries run at once."""
    (project / "use.py").write_text(
        "import os\nassert not os.path.exists('out')\nopen('out', 'w').write('x')\n" + USE
    )
    told = answered(bisect("shop", "--json", "--", "python", "use.py"))
    assert told["first_bad"] == "3.0"
    assert not (project / "out").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nothing-like-it"], 2, "the package index has no such package"),
        (["shop", "--good", "1.7"], 2, "there is no release 1.7 of shop"),
        (["shop==3.2"], 2, "zeroin bisect versions shop --bad 3.2 -- COMMAND"),
        (["shop", "--good", "9"], 2, "near it: 3.0, 3.1, 3.2\n"),
        (["shop", "--repeat", "0"], 2, "--repeat takes a number from 1 on"),
        (["shop", "-j", "0"], 2, "--jobs takes a number from 1 on"),
        (["shop", "--good", "3.2"], 2, "same release"),
        (["shop", "--good", "3.2", "--bad", "1.0"], 2, "older than the good one"),
        (["shop", "--good", "3.0"], 1, "fails in the same way as"),
        (["shop", "--good", "1.0", "--bad", "2.0"], 1, "both ends work"),
        (["shop", "--good", "x.y"], 2, "no version"),
        (["shop", "--python", "nowhere"], 2, "can't be started"),
    ],
)
def test_what_cannot_be_answered(bisect, project, words, code, said):
    """A clear message and the right exit code each; nothing is changed."""
    before = listing(project)
    done = bisect(*words, "--", "python", "use.py")
    assert said in done.stdout + done.stderr
    assert done.returncode == code
    assert listing(project) == before


def test_an_index_out_of_reach(bisect):
    """That is said, with the code for what can't be tested."""
    away = {"UV_DEFAULT_INDEX": "http://127.0.0.1:9/simple"}
    done = bisect("shop", "--good", "1.0", "--", "python", "use.py", env=away)
    assert done.returncode == 125
    assert "the package index does not answer" in done.stderr


def test_it_goes_on_where_it_was(bisect, project, zeroin, index):
    """After Ctrl-C, answers from before are not asked for again."""
    hold, turns = project.parent / "hold", project.parent / "turns"
    hold.touch()
    (project / "use.py").write_text(
        "import os, time\n"
        f"with open({str(turns)!r}, 'a') as file:\n"
        "    file.write('x')\n"
        "    file.flush()\n"
        f"    while file.tell() > 3 and os.path.exists({str(hold)!r}):\n"
        f"        time.sleep(0.01)\n{USE}"
    )
    path = f"{project / '.venv' / 'bin'}{os.pathsep}{zeroin.env['PATH']}"
    words = ["bisect", "versions", "shop", "--good", "1.0", "-j", "1", "--", "python", "use.py"]
    env = {**zeroin.env, "PATH": path, **index.env}
    with support.Terminal([*zeroin.driver, *words], cwd=project, env=env) as terminal:
        terminal.expect("  3  shop", timeout=60)
        terminal.send("\x03")
        assert terminal.wait(timeout=30) == 130
    hold.unlink()
    done = bisect("shop", "--good", "1.0", "-j", "1", "--json", "--", "python", "use.py")
    told = answered(done)
    assert told["first_bad"] == "3.0"
    assert told["resumed"] >= 3


def test_a_reset_is_run_before_each_try(bisect, project):
    """Where the command is run: without it, the command would find nothing."""
    (project / "use.py").write_text(
        "import shop\nassert open('state').read() == 'ready'\n"
        "open('state', 'w').write('used')\nshop.total()\n"
    )
    words = ("shop", "--good", "1.0", "--reset", "printf ready > state", "--json")
    told = answered(bisect(*words, "--", "python", "use.py"))
    assert (told["verdict"], told["first_bad"]) == ("found", "3.0")
    assert not (project / "state").exists()


def test_a_reset_that_fails_is_no_culprit(bisect):
    """A release with which the reset fails tells nothing, though its exit code is not 0."""
    reset = "python -c 'import shop; shop.total()'"
    words = ("shop", "--good", "1.0", "--reset", reset, "--json")
    done = bisect(*words, "--", "python", "-c", "import shop")
    told = answered(done)
    assert (done.returncode, told["verdict"]) == (1, "not-reproduced")
    assert f"3.2 can't be tested: exit 125: the reset failed: {reset}" in told["why"]
