"""`zeroin loop --from-failure`: on at the failure with the new code, and never called a cold run."""

import textwrap

import pytest

from looping import Looping

# With a snapshot before each item, however busy the machine is.
ITEMS = """\
import time
from zeroin import checkpoint

done = []


def work(i):
    time.sleep(0.02)
    if i == 40:
        raise ValueError(i)
    done.append(i)


def main():
    time.sleep(0.3)
    for i in range(50):
        checkpoint()
        work(i)
    print("all", len(done))


main()
"""


@pytest.fixture
def looping(zeroin, project):
    """Start a loop that prints JSON; all of them end with the test."""
    opened = []

    def start(source, *options, **more):
        (project / "train.py").write_text(textwrap.dedent(source))
        opened.append(Looping(zeroin, project, *options, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.__exit__()


def test_at_the_failing_item(looping, python):
    """A function that is called for each of 50 items fails at the 40th: it goes on near there."""
    loop = looping(ITEMS, "--from-failure", command=[python, "train.py"])
    assert loop.line()["exit_code"] == 1
    loop.edit("train.py", ITEMS.replace("i == 40", "i == 400"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.3 + 39 * 0.02
    assert "all 50\n" in loop.shown


def test_without_it_before_the_first_item(looping):
    """The changed function had run: a cold run's outcome needs all items."""
    loop = looping(ITEMS)
    loop.line()
    loop.edit("train.py", ITEMS.replace("i == 40", "i == 400"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "resumed")
    assert second["reason"] == "train.py:9 was changed and had run"
    assert second["resumed_at"] in ("train.py:15", "train.py:16")  # before the first item


def test_the_label_is_in_the_line(terminal, zeroin, project):
    """For people as well."""
    (project / "train.py").write_text(ITEMS)
    words = [*zeroin.driver, "loop", "--from-failure", "--", "python", "train.py"]
    env = zeroin.env | {"NO_COLOR": "1"}
    shown = terminal(words, cwd=project, env=env, rows=30, cols=140)
    shown.expect("q: quit")
    (project / "train.py").write_text(ITEMS.replace("i == 40", "i == 400"))
    shown.expect("not a cold run")
    shown.send("q")
    assert shown.wait() == 0


def test_what_was_passed_for_good_goes_back(looping):
    """A changed line that would never run again would be changed without effect."""
    source = """\
        import time

        def main():
            factor = 1
            time.sleep(0.3)
            for i in range(20):
                time.sleep(0.02)
                if i == 15:
                    print("product", i * factor)

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("factor = 1", "factor = 2"))
    second = loop.line()
    assert (second["mode"], "had run" in second["reason"]) == ("from-failure", True)
    assert second["saved_seconds"] < 0.5
    assert "product 30\n" in loop.shown


def test_a_constant_of_the_module_goes_back(looping):
    """It was made when the module was loaded."""
    source = ITEMS.replace("done = []", "done = []\nLIMIT = 40").replace("i == 40", "i == LIMIT")
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("LIMIT = 40", "LIMIT = 400"))
    second = loop.line()
    assert (second["outcome"], second["saved_seconds"] < 1.0) == ("passed", True)
    assert "all 50\n" in loop.shown


def test_data_that_was_read_goes_back(looping, project):
    """Only code can be brought in."""
    (project / "limit").write_text("40")
    source = ITEMS.replace("done = []", "done = []\nLIMIT = int(open('limit').read())")
    loop = looping(source.replace("i == 40", "i == LIMIT"), "--from-failure")
    loop.line()
    loop.edit("limit", "400")
    second = loop.line()
    assert (second["outcome"], "limit" in second["reason"]) == ("passed", True)
    assert "all 50\n" in loop.shown


def test_the_body_of_a_loop_that_is_under_way(looping):
    """The next pass runs the new code; those before stay as they were."""
    source = """\
        import time
        from zeroin import checkpoint

        def main():
            total = 0
            time.sleep(0.2)
            for i in range(40):
                checkpoint()
                time.sleep(0.02)
                if i == 35:
                    raise ValueError(total)
                total += 1
            print("total", total)

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("i == 35", "i == 350"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.2 + 34 * 0.02
    assert "total 40\n" in loop.shown


def test_a_generator_that_has_begun_goes_back(looping):
    """It can't be changed while it waits."""
    source = """\
        import time

        def items():
            for i in range(30):
                time.sleep(0.02)
                yield i + 1

        def main():
            time.sleep(0.2)
            print("sum", sum(items()))
            raise KeyError

        main()
        """
    source = textwrap.dedent(source)
    loop = looping(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("yield i + 1", "yield i + 2"))
    loop.line()
    assert "sum 495\n" in loop.shown


def test_again_and_again(looping):
    """Each edit goes on near the failure of the run before."""
    source = ITEMS.replace("i == 40", "i in (40, 44, 48)")
    loop = looping(source, "--from-failure")
    assert loop.line()["headline"].endswith(": 40")
    loop.edit("train.py", source.replace("(40, 44, 48)", "(44, 48)"))
    second = loop.line()
    assert (second["headline"].endswith(": 44"), second["mode"]) == (True, "from-failure")
    loop.edit("train.py", source.replace("(40, 44, 48)", "(48,)"))
    third = loop.line()
    assert (third["headline"].endswith(": 48"), third["mode"]) == (True, "from-failure")
    loop.edit("train.py", source.replace("(40, 44, 48)", "()"))
    last = loop.line()
    assert (last["outcome"], last["mode"]) == ("passed", "from-failure")
    assert last["saved_seconds"] > 0.3 + 47 * 0.02
    assert "all 50\n" in loop.shown


# --- --strict -----------------------------------------------------------------------------------

TOOLS = """\
import time
loaded = time.monotonic_ns()

def late():
    return 1
"""
USES_TOOLS = """\
from zeroin import checkpoint
import time
begun = time.monotonic_ns()
checkpoint()
import tools
checkpoint()
print("begun", begun)
print("loaded", tools.loaded)
checkpoint()
print("late", tools.late())
"""


def _said(text, word):
    return [line.split()[1] for line in text.splitlines() if line.startswith(f"{word} ")]


@pytest.mark.parametrize("strict", [True, False])
def test_strict_loads_a_changed_file_again(looping, project, python, strict):
    """Though the function that changed had not run: no body is put in, its module is made anew."""
    (project / "tools.py").write_text(TOOLS)
    loop = looping(USES_TOOLS, *["--strict"] * strict, command=[python, "train.py"])
    assert loop.line()["outcome"] == "passed"
    loop.edit("tools.py", TOOLS.replace("return 1", "return 2"))
    line = loop.line()
    assert (line["mode"], line["outcome"]) == ("resumed", "passed")
    assert ("--strict" in line["reason"]) is strict
    first, second = _said(loop.shown, "loaded")
    assert (first != second) is strict  # else it is a test of nothing
    begun = _said(loop.shown, "begun")
    assert begun[0] == begun[1]  # but no further back than that
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_begins_anew_for_the_script_itself(looping):
    """It was loaded first."""
    source = USES_TOOLS.replace("import tools", "").replace("tools.loaded", "0")
    source = "def late():\n    return 1\n\n" + source.replace("tools.late", "late")
    loop = looping(source, "--strict")
    loop.line()
    loop.edit("train.py", source.replace("return 1", "return 2"))
    line = loop.line()
    assert "--strict" in line["reason"]
    first, second = _said(loop.shown, "begun")
    assert first != second
    assert _said(loop.shown, "late") == ["1", "2"]


def test_strict_goes_on_where_no_code_has_changed(looping, project):
    """A comment changes no body, so nothing has to be loaded again."""
    (project / "tools.py").write_text(TOOLS)
    loop = looping(USES_TOOLS, "--strict", "--verify")
    loop.line()
    loop.edit("tools.py", TOOLS + "# done\n")
    assert loop.line()["mode"] == "resumed"
    first, second = _said(loop.shown, "loaded")
    assert first == second


def test_strict_is_the_opposite_of_from_failure(zeroin, project):
    """Both at once can't be."""
    done = zeroin("loop", "--strict", "--from-failure", "--", "true", cwd=project)
    assert done.returncode == 2
    assert "--strict" in done.stderr
