"""Reading tracebacks that were printed, on every interpreter that prints them."""

import subprocess
import textwrap

import pytest

from zeroin.cycle import printed
from zeroin.cycle.signature import of_crash

PROGRAM = textwrap.dedent("""
    def parse(text):
        return {"a": 1}[text]

    def load():
        try:
            parse("label")
        except KeyError as error:
            raise RuntimeError("can't load, try 1 of 3") from error

    load()
""")


def printed_by(python, tmp_path, source):
    script = tmp_path / "script.py"
    script.write_text(source)
    return subprocess.run([python, script], capture_output=True, text=True, check=False).stderr


def test_chain(python, tmp_path):
    """Types, functions and messages of a whole chain."""
    crash = printed.last_crash("noise\n" + printed_by(python, tmp_path, PROGRAM))
    assert crash is not None
    assert [(link.type, link.message) for link in crash.chain] == [
        ("KeyError", "'label'"),
        ("RuntimeError", "can't load, try 1 of 3"),
    ]
    assert (
        str(of_crash(crash))
        == "KeyError at parse(): 'label' → RuntimeError at load(): can't load, try # of #"
    )


def test_syntax_error_of_the_script(python, tmp_path):
    """There is no word "Traceback" then."""
    crash = printed.last_crash(printed_by(python, tmp_path, "x = (1,\ny = 2 3\n"))
    assert crash is not None
    assert crash.last.type == "SyntaxError"


def test_what_was_printed_before(python, tmp_path):
    """The whole chain is cut off, not its last link."""
    text = "noise\n" + printed_by(python, tmp_path, PROGRAM)
    assert printed.before_last_crash(text) == "noise\n"
    assert printed.before_last_crash("no traceback") == "no traceback"


def test_groups(python, tmp_path):
    """Members of a group count, also without the agent."""
    if "3.9" in python or "3.10" in python:
        pytest.skip("exception groups came with 3.11")

    def printed_group(members):
        source = f"def f(): raise ExceptionGroup('two', [{members}])\nf()\n"
        crash = printed.last_crash(printed_by(python, tmp_path, source))
        assert crash is not None
        return str(of_crash(crash))

    one = printed_group("KeyError('a'), ValueError('b')")
    assert one == "ExceptionGroup at f(): two (# sub-exceptions) [KeyError: 'a'; ValueError: b]"
    assert one == printed_group("ValueError('b'), KeyError('a')")
    assert one != printed_group("KeyError('a'), ValueError('c')")


def test_the_last_of_several(python, tmp_path):
    """A logged error and then another: the last one ended it."""
    crash = printed.last_crash(
        printed_by(python, tmp_path, PROGRAM) + "\nmore\n" + printed_by(python, tmp_path, "1/0")
    )
    assert crash is not None
    assert [link.type for link in crash.chain] == ["ZeroDivisionError"]


def test_remote_traceback_is_folded_in(python, tmp_path):
    """A pool's worker sends its traceback as text: its function counts, not the pool's."""
    source = textwrap.dedent("""
        from concurrent.futures import ProcessPoolExecutor
        def work(x): raise ValueError("no")
        if __name__ == "__main__":
            with ProcessPoolExecutor(1) as pool: list(pool.map(work, [1]))
    """)
    text = printed_by(python, tmp_path, source)
    frames = printed.frames_of(text.split("The above exception")[0])
    assert frames[-1].name == "work"


def test_colours_and_progress_bars_go():
    """A terminal's output is read as a person sees it."""
    assert printed.plain("\x1b[31mred\x1b[0m\n10%\r100%\r\n") == "red\n100%\n"


def test_last_error_line_of_nothing():
    """No output, no line."""
    assert printed.last_error_line("") == ""
