"""`zeroin loop --from-failure`: on at the failure with the new code, and never called a cold run."""

import textwrap

# With a snapshot before each item, however busy the machine is.
ITEMS = """\
import time
from zeroin import checkpoint

done = []


def work(i):
    time.sleep(0.002)
    if i == 40:
        raise ValueError(i)
    done.append(i)


def main():
    time.sleep(0.05)
    for i in range(50):
        checkpoint()
        work(i)
    print("all", len(done), sum(done))


main()
"""


def test_at_the_failing_item(scripted, python):
    """A function that is called for each of 50 items fails at the 40th: it goes on near there."""
    loop = scripted(ITEMS, "--from-failure", command=[python, "train.py"])
    assert loop.line()["exit_code"] == 1
    loop.edit("train.py", ITEMS.replace("i == 40", "i == 400"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.05 + 39 * 0.002
    assert "all 50 1225\n" in loop.shown


def test_without_it_before_the_first_item(scripted):
    """The changed function had run: all items must be done by the new one, as in a cold run."""
    loop = scripted(ITEMS)
    loop.line()
    new = ITEMS.replace("i == 40", "i == 400").replace("append(i)", "append(1)")
    loop.edit("train.py", new)
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "resumed")
    assert second["reason"] == "train.py:9 was changed and had run"
    # The first item's line is there for all of them: the sum says that none was kept.
    assert second["resumed_at"] in ("train.py:15", "train.py:16", "train.py:18")
    assert "all 50 50\n" in loop.shown


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


def test_what_was_passed_for_good_goes_back(scripted):
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
    loop = scripted(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("factor = 1", "factor = 2"))
    second = loop.line()
    assert (second["mode"], "had run" in second["reason"]) == ("from-failure", True)
    assert second["saved_seconds"] < 0.5
    assert "product 30\n" in loop.shown


def test_a_constant_of_the_module_goes_back(scripted):
    """It was made when the module was loaded."""
    source = ITEMS.replace("done = []", "done = []\nLIMIT = 40").replace("i == 40", "i == LIMIT")
    loop = scripted(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("LIMIT = 40", "LIMIT = 400"))
    second = loop.line()
    constant = source.splitlines().index("LIMIT = 40") + 1
    place = int((second["resumed_at"] or "train.py:0").rpartition(":")[2])
    assert (second["outcome"], place <= constant) == ("passed", True), second
    assert "all 50 1225\n" in loop.shown


def test_data_that_was_read_goes_back(scripted, project):
    """Only code can be brought in."""
    (project / "limit").write_text("40")
    source = ITEMS.replace("done = []", "done = []\nLIMIT = int(open('limit').read())")
    loop = scripted(source.replace("i == 40", "i == LIMIT"), "--from-failure")
    loop.line()
    loop.edit("limit", "400")
    second = loop.line()
    assert (second["outcome"], "limit" in second["reason"]) == ("passed", True)
    assert "all 50 1225\n" in loop.shown


def test_the_body_of_a_loop_that_is_under_way(scripted):
    """The next pass runs the new code; those before stay as they were."""
    source = """\
        import time
        from zeroin import checkpoint

        def main():
            total = 0
            time.sleep(0.05)
            for i in range(40):
                checkpoint()
                time.sleep(0.002)
                if i == 35:
                    raise ValueError(total)
                total += 1
            print("total", total)

        main()
        """
    source = textwrap.dedent(source)
    loop = scripted(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("i == 35", "i == 350"))
    second = loop.line()
    assert (second["outcome"], second["mode"]) == ("passed", "from-failure")
    assert second["saved_seconds"] > 0.05 + 34 * 0.002
    assert "total 40\n" in loop.shown


def test_a_generator_that_has_begun_goes_back(scripted):
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
    loop = scripted(source, "--from-failure")
    loop.line()
    loop.edit("train.py", source.replace("yield i + 1", "yield i + 2"))
    loop.line()
    assert "sum 495\n" in loop.shown


def test_again_and_again(scripted):
    """Each edit goes on near the failure of the run before."""
    source = ITEMS.replace("i == 40", "i in (40, 44, 48)")
    loop = scripted(source, "--from-failure")
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
    assert last["saved_seconds"] > 0.05 + 47 * 0.002
    assert "all 50 1225\n" in loop.shown
