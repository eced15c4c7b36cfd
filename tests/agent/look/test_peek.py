"""`peek`: the expressions' own text, on every Python, wherever it is called from."""

from __future__ import annotations

import os
import re

import pytest
from looking import is_newer, lines, run, start

import support

FORMS = """
    import zeroin
    from zeroin import peek
    from zeroin import peek as p
    x, ys, name = 3, [1, 2], "ab"

    def main():
        peek(x); peek(x + 1); peek(len(ys))
        return peek(x) + peek(peek(x) * 2)

    main()
    peek(x, ys,
         name)
    peek(
        ys[0]
        + ys[1],
    )
    print(f"{peek(x)} {peek(ys)!r:>10} {p(name)}")
    (lambda q: peek(q * 2))(4)
    [peek(i) for i in ys]
    peek("here"), peek(f"at {x}"), peek(7)
    peek(*ys), peek(x, *ys, name), peek(total=x + 1), peek(x, size=2)
    zeroin.peek(x), (zeroin
        .peek(name))
    peek("ä", "日本" + name, x)
    peek(x if x else (
        1), {"a": [1,
        2]})

    class A:
        __hidden = 5
        def show(self):
            return peek(self.__hidden)

    A().show()
    if (n := peek(len(ys))) > 1: pass
    peek(max(ys, key=lambda y: -y))
    assert peek(x) == 3 and peek() is None and peek(1, 2) == (1, 2) and peek(a=1) == 1
"""

EXPECTED = """\
train.py:8 main  x = 3
train.py:8 main  x + 1 = 4
train.py:8 main  len(ys) = 2
train.py:9 main  x = 3
train.py:9 main  x = 3
train.py:9 main  peek(x) * 2 = 6
train.py:12  x = 3 · ys = [1, 2] · name = 'ab'
train.py:14  ys[0] + ys[1] = 3
train.py:18  x = 3
train.py:18  ys = [1, 2]
train.py:18  name = 'ab'
train.py:19 <lambda>  q * 2 = 8
train.py:20  i = 1
train.py:20  i = 2
train.py:21  here
train.py:21  at 3
train.py:21  7
train.py:22  ys[0] = 1 · ys[1] = 2
train.py:22  x = 3 · ys[0] = 1 · ys[1] = 2 · name = 'ab'
train.py:22  total = 4
train.py:22  x = 3 · size = 2
train.py:23  x = 3
train.py:XX  name = 'ab'
train.py:25  ä · "日本" + name = '日本ab' · x = 3
train.py:26  x if x else ( 1) = 3 · {"a": [1, 2]} = {'a': [1, 2]}
train.py:33 A.show  self.__hidden = 5
train.py:36  len(ys) = 2
train.py:37  max(ys, key=lambda y: -y) = 1
train.py:38  x = 3
train.py:38  reached at HH:MM:SS.mmm
train.py:38  1 · 2
train.py:38  a = 1""".splitlines()


def test_every_form_of_a_call(python, tmp_path):
    """Several calls on a line, nested, over lines, in f-strings, lambdas, stars, names, marks."""
    told = lines(python, tmp_path, FORMS)
    told = [re.sub(r"\d\d:\d\d:\d\d\.\d\d\d", "HH:MM:SS.mmm", line) for line in told]
    # Which line a method call on two lines is at, differs between Pythons.
    told = [re.sub(r"py:2[34]  name", "py:XX  name", line) for line in told]
    expected = [
        line if is_newer(python, 11) else line.replace("A.show", "show") for line in EXPECTED
    ]
    assert told == expected


def test_generators_coroutines_threads_and_decorators(python, tmp_path):
    """The function is named, and a thread that is not the main one; values come back."""
    told = lines(
        python,
        tmp_path,
        """
        import asyncio, threading
        from zeroin import peek
        def steps():
            for i in range(2):
                peek((yield i))
        g = steps(); next(g); g.send("sent")
        async def fetch():
            return peek(await asyncio.sleep(0, "slept"))
        asyncio.run(fetch())
        thread = threading.Thread(target=lambda: peek(5 + 5), name="loader")
        thread.start(); thread.join()
        @peek
        def decorated(): pass
        """,
    )
    assert told[:3] == [
        "train.py:6 steps  (yield i) = 'sent'" if "(yield" in told[0] else told[0],
        "train.py:9 fetch  await asyncio.sleep(0, \"slept\") = 'slept'",
        "[loader] train.py:11 <lambda>  5 + 5 = 10",
    ]
    assert "yield i" in told[0]
    assert "<function decorated" in told[3]


def test_without_a_file(python, tmp_path):
    """`python -c` has the text; code of exec has none, and only the value is told."""
    code = "from zeroin import peek\nx = 4\npeek(x), peek(x * 2)\nexec('peek(x, 5)')"
    for options in (["-c"], ["-B", "-X", "utf8", "-Wignore", "-c"], ["-Bc"]):
        done = start([python, *options, code, "an argument"], tmp_path)
        assert done.stderr.splitlines() == [
            "<string>:3  x = 4",
            "<string>:3  x * 2 = 8",
            "<string>:1  4 · 5",
        ], options


def test_in_a_prompt(python, tmp_path):
    """The interactive Python has the text of what was typed, not of something like it."""
    env = support.clean_environment(tmp_path) | {"PYTHONPATH": str(support.SRC), "TERM": "dumb"}
    with support.Terminal([python, "-q"], cwd=tmp_path, env=env) as terminal:
        terminal.expect(">>> ")
        terminal.line("from zeroin import peek; x = 20")
        terminal.expect(">>> ")
        terminal.line("y = peek(x + 1)")
        terminal.expect(re.compile(r":1  x \+ 1 = 21\r?\n"))
        terminal.line("exec('y = peek(x + 2)')")
        terminal.expect(re.compile(r":1  22\r?\n"))
        terminal.line("exit()")
        assert terminal.wait() == 0


def test_doctest(python, tmp_path):
    """What a doctest calls has its text."""
    source = '''
        """
        >>> from zeroin import peek
        >>> x = 1
        >>> peek(x + 1), peek(x)
        (2, 1)
        """
        import doctest
        assert doctest.testmod().failed == 0
    '''
    assert [line.partition("  ")[2] for line in lines(python, tmp_path, source)] == [
        "x + 1 = 2",
        "x = 1",
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    peek(one)\n    peek(two)", "    peek(two)\n    peek(one)"),
        ("    three = 3\n", "    # a comment\n    three = 3\n"),
        ("    peek(one)", "    peek(other)"),
    ],
    ids=["swapped", "shifted", "renamed"],
)
def test_a_file_that_was_edited_meanwhile(python, tmp_path, before, after):
    """Text that may not be this call's is not shown; what did not change has its text."""
    source = """
        from zeroin import peek
        import sys
        def show(one, two):
            three = 3
            peek(one)
            peek(two)
            peek(three)
        with open(sys.argv[0]) as file:
            text = file.read()
        with open(sys.argv[0], "w") as file:
            file.write(text.replace(sys.argv[1], sys.argv[2]))
        show(1, 2)
    """
    told = lines(python, tmp_path, source, before, after)
    assert told == [f"train.py:{n + 5} show  {n}" for n in (1, 2, 3)]
    told = lines(python, tmp_path, source, "nothing", "nothing")
    assert told[1] == "train.py:7 show  two = 2"


def test_called_by_another_function(python, tmp_path):
    """The arguments of a call are told where it is peek's own: not those of `map(peek, xs)`."""
    told = lines(
        python,
        tmp_path,
        """
        import functools, zeroin
        from zeroin import peek
        class Held: pass
        Held.look = held = Held(); held.look = peek
        xs = [3]
        list(map(peek, xs)), sorted(xs, key=peek), list(filter(peek, xs))
        functools.reduce(peek, [1, 2])
        functools.partial(peek, xs)()
        def call(function, value): function(value)
        call(peek, xs)
        held.look(xs), zeroin.peek(xs)
        """,
    )
    assert told == [
        *["train.py:7  3"] * 3,
        "train.py:8  1 · 2",
        "train.py:9  [3]",
        "train.py:10 call  value = [3]",
        *["train.py:12  xs = [3]"] * 2,
    ]


# --- any object -----------------------------------------------------------------------------------

NASTY = """
    import sys, time
    from zeroin import peek
    class Raises:
        def __repr__(self): raise ValueError("no")
    class Interrupts:
        def __repr__(self): raise KeyboardInterrupt
    class Exits:
        def __repr__(self): sys.exit(7)
    class Slow:
        def __repr__(self): time.sleep(30); return "late"
    class Huge:
        def __repr__(self): return "x" * 100_000_000
    class Lies:
        __class__ = property(lambda self: 1 / 0)
        def __getattribute__(self, name): raise RuntimeError(name)
        def __bool__(self): raise RuntimeError
        def __eq__(self, other): raise RuntimeError
        def __hash__(self): raise RuntimeError
    class Meta(type):
        def __hash__(cls): raise RuntimeError
        def __eq__(cls, other): raise RuntimeError
        def __instancecheck__(cls, one): raise RuntimeError
    class Odd(metaclass=Meta): pass
    itself = []; itself.append(itself)
    big, table = list(range(10**6)), dict.fromkeys(range(10**5))
    for one in (Raises(), Interrupts(), Exits(), Slow(), Huge(), Lies(), Odd(), Odd, itself,
                big, table, "a\\nb\\x1b[31m", "x" * 10**6, 10**5000, object(), b"\\0", "\\ud800"):
        assert peek(one) is one
    print("survived")
"""


def test_any_object(python, tmp_path):
    """Reprs that raise, interrupt, exit, hang or never end, and objects that lie: all are told."""
    done = run(python, tmp_path, NASTY)
    told = done.stderr.splitlines()
    assert (done.returncode, done.stdout, len(told)) == (0, "survived\n", 17)
    assert all(line.startswith("train.py:29  one = ") and len(line) < 250 for line in told)
    assert told[8].endswith("[<itself>]")
    assert told[9].endswith("list(1,000,000): [0, 1, 2, 3, 4, 5, 6, 7, …]")
    assert told[11].endswith(r"'a\nb\x1b[31m'")


def test_secrets(python, tmp_path):
    """What is called a password, or is one of the environment's, is masked."""
    source = """
        import os
        from zeroin import peek
        password, config = "hunter2hunter2", {"api_key": "sk-123456789abc", "n": 1}
        peek(password, config, os.environ["HF_TOKEN"], "x" + os.environ["HF_TOKEN"])
        harmless = os.environ["HF_TOKEN"]
        peek(harmless)
        peek(f"logged in with {harmless}")
        tokens = 3
        peek(tokens)
        peek(url := "postgres://ada:abcdefghijkl@host/shop", ["http://host:80/a@b"])
        peek("https://ada:abcdefghijkl@host")
    """
    done = run(python, tmp_path, source, env={"HF_TOKEN": "hf_abcdefghijkl"})
    assert "hunter2" not in done.stderr
    assert "sk-123" not in done.stderr
    assert "abcdefghijkl" not in done.stderr
    assert "tokens = 3" in done.stderr
    assert done.stderr.count("<secret>") == 9
    assert "'postgres://ada:<secret>@host/shop'\n" in done.stderr
    assert "['http://host:80/a@b']" in done.stderr


def test_a_program_that_handles_the_end_of_children(python, tmp_path):
    """No child is started for a repr where the program would hear of it."""
    source = """
        import os, signal
        from zeroin import peek
        ended = []
        signal.signal(signal.SIGCHLD, lambda *_: ended.append(os.waitpid(-1, 0)))
        class Point:
            def __init__(self): self.x = 3
            def __repr__(self): return "asked"
        peek(Point())
        assert not ended
    """
    assert lines(python, tmp_path, source) == ["train.py:9  Point() = Point(x=3)"]


def test_called_by_the_interpreter(python, tmp_path):
    """There is no frame at the exit of the program."""
    source = "import atexit\nfrom zeroin import peek\natexit.register(peek, [3])\n"
    assert lines(python, tmp_path, source) == ["called by Python itself  [3]"]


# --- where lines go -------------------------------------------------------------------------------


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>&1 >/dev/null | true"])
def test_a_stderr_that_takes_nothing(python, tmp_path, redirection):
    """Closed, full, or nobody reads it: the program goes on, and its value is the same."""
    (tmp_path / "train.py").write_text(
        "from zeroin import peek, section, log\n"
        "with section('a'):\n"
        "    x = sum(peek(i) for i in range(2000))\n"
        "open('out', 'w').write(str(x))\n"
    )
    done = start(["sh", "-c", f"{python} train.py {redirection}; true"], tmp_path)
    assert (done.returncode, (tmp_path / "out").read_text()) == (0, "1999000")


def test_a_full_pipe_that_does_not_block(python, tmp_path):
    """Lines are lost then; nothing is raised and nothing hangs."""
    source = """
        import os, sys
        from zeroin import peek
        from zeroin.agent.look import out
        out.PATIENCE = 0.001
        os.set_blocking(2, False)
        for i in range(900):  # of which the pipe takes 600
            peek(i, "x" * 90)
        print("done")
    """
    reading, writing = os.pipe()
    try:
        done = run(python, tmp_path, source, stderr=writing)
    finally:
        os.close(reading)
        os.close(writing)
    assert (done.returncode, done.stdout) == (0, "done\n")


def test_to_a_file(python, tmp_path):
    """`peek.to` and ZEROIN_PEEK_FILE append to a file; `off` and `on` switch."""
    source = """
        from zeroin import peek
        peek(1 + 1)
        peek.to("seen.txt"); peek(2 + 1); peek.to(None)
        peek.off(); assert peek(9) == 9; peek.on()
        peek(3 + 1)
        peek.to("/nowhere/at/all")
        peek("kept")
        import io, sys
        peek.to(sys.stdout); peek("out"); peek.to(closed := io.StringIO()); closed.close()
        assert peek("lost") == "lost"
        peek.to(7.5)
    """
    done = run(python, tmp_path, source)
    assert done.stdout == "train.py:10  out\n"
    *told, last = done.stderr.splitlines()
    assert told.pop(2) == (
        "zeroin: peek.to: /nowhere/at/all: No such file or directory: lines go to stderr"
    )
    assert last.startswith("zeroin: peek.to: 7.5: expected str, bytes or os.PathLike")
    assert [line.split("  ")[1] for line in told] == ["1 + 1 = 2", "3 + 1 = 4", "kept"]
    assert (tmp_path / "seen.txt").read_text() == "train.py:4  2 + 1 = 3\n"
    env = {"ZEROIN_PEEK_FILE": "rank-{rank}.txt", "RANK": "3"}
    assert lines(python, tmp_path, "from zeroin import peek\npeek(1)\n", env=env) == []
    assert (tmp_path / "rank-3.txt").read_text() == "[rank 3] train.py:2  1\n"
    env = {"ZEROIN_PEEK_FILE": "/nowhere/x"}
    told = lines(python, tmp_path, "from zeroin import peek\npeek(1)\n", env=env)
    assert told[0].startswith("zeroin: ZEROIN_PEEK_FILE: /nowhere/x: No such file")
    assert told[1] == "train.py:2  1"


def test_off_in_production(python, tmp_path):
    """ZEROIN_PEEK=off: nothing is printed or measured, and everything is returned."""
    source = """
        import sys
        from zeroin import peek, section, sections
        with section("a"):
            assert peek(1) == 1 and peek(1, 2) == (1, 2) and peek() is None
        assert sections() == []
        assert "_zeroin_agent.summary" not in sys.modules
    """
    assert lines(python, tmp_path, source, env={"ZEROIN_PEEK": "off"}) == []


def test_processes_never_mix(python, tmp_path):
    """Ranks and forked workers that share a pipe write whole lines, each with its name."""
    source = """
        import multiprocessing, os, sys
        from zeroin import peek
        def work(n):
            for i in range(300):
                peek(i, "x" * 300, "y" * 300)
        if __name__ == "__main__":
            method = multiprocessing.get_context(sys.argv[1])
            all_ = [method.Process(target=work, args=(n,), name=f"worker-{n}") for n in range(4)]
            [one.start() for one in all_]
            peek("main")
            [one.join() for one in all_]
    """
    for method in ("fork", "spawn"):
        done = run(python, tmp_path, source, method)
        blocks = re.split(r"\n(?=\[|train)", done.stderr.rstrip("\n"))
        assert len(blocks) == 1201
        assert sum(line == "train.py:11  main" for line in blocks) == 1
        for n in range(4):
            mine = [b for b in blocks if b.startswith(f"[worker-{n}] train.py:6 work")]
            assert [re.search(r"i = (\d+)", b)[1] for b in mine] == [str(i) for i in range(300)]
    code = "from zeroin import peek; import os; pid = os.fork(); peek('a'); pid and os.wait()"
    done = start([python, "-W", "ignore", "-c", code], tmp_path)
    assert re.search(r"^\[pid \d+\] <string>:1  a$", done.stderr, re.MULTILINE)


def test_colour_only_on_a_terminal(python, tmp_path):
    """And not there either, if NO_COLOR says so."""
    (tmp_path / "a.py").write_text("from zeroin import peek\nx = 1\npeek(x)\n")
    base = support.clean_environment(tmp_path) | {"PYTHONPATH": str(support.SRC)}
    for more, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
        with support.Terminal([python, "a.py"], cwd=tmp_path, env=base | more) as terminal:
            assert terminal.wait() == 0
            assert ("\x1b[" in terminal.text) == coloured
    assert lines(python, tmp_path, "from zeroin import peek\nx = 1\npeek(x)\n") == [
        "train.py:3  x = 1"
    ]
