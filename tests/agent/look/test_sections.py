"""`section`: time and memory of a part of a program, and whether it leaves something behind."""

from __future__ import annotations

import json
import re
from textwrap import dedent

import pytest
from looking import lines, run

MB = 1_000_000


def measured(python, folder, source, **options):
    """Run a program that ends in `tell()`; what it printed, and the rows by name."""
    asked = "asyncio, " if "asyncio" in source else ""  # it takes longer than most programs here
    head = f"import {asked}gc, json, os, sys, threading, time\n"
    head += "from zeroin import section, sections\n"
    tail = "print(json.dumps([row.as_dict() for row in sections(quiet=True)]))\n"
    done = run(python, folder, head + dedent(source) + "\n" + tail, **options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    return done.stderr.splitlines(), {row["name"]: row for row in rows}


def test_peaks_of_nested_sections(python, tmp_path):
    """Each has the peak inside it; that of an inner one is not lost to the outer."""
    told, rows = measured(
        python,
        tmp_path,
        """
        sections.exact()
        with section("outer"):
            first = bytearray(300_000_000); del first
            with section("inner"):
                kept = bytearray(50_000_000)
                with section("innermost"):
                    other = bytearray(100_000_000); del other
            with section("later"):
                pass
        """,
    )
    assert rows["outer"]["peak"] / MB == pytest.approx(300, abs=15)
    assert rows["outer/inner"]["peak"] / MB == pytest.approx(150, abs=15)
    assert rows["outer/inner/innermost"]["peak"] / MB == pytest.approx(100, abs=15)
    assert rows["outer/later"]["peak"] / MB == pytest.approx(0, abs=5)
    assert rows["outer"]["resident"] / MB == pytest.approx(50, abs=15)
    assert rows["outer/inner"]["in_use"] / MB == pytest.approx(50, abs=5)
    assert [line.split()[0] for line in told] == [
        "outer/inner/innermost",
        "outer/inner",
        "outer/later",
        "outer",
    ]
    assert re.fullmatch(
        r"outer  [\d.]+ m?s( \(cpu [\d.]+ ms\))?  \+[\d.]+ MB \(peak \+\d{3} MB\)  train.py:5",
        told[3],
    )


def test_in_use_and_retained_are_told_apart(python, tmp_path):
    """Memory that is not touched yet is in use; what only the allocator holds is retained."""
    told, rows = measured(
        python,
        tmp_path,
        """
        import ctypes
        libc = ctypes.CDLL(None)
        libc.calloc.restype = ctypes.c_void_p
        with section("untouched"):
            libc.calloc(200_000_000, 1)
        with section("retained"):
            many = [bytes(2000) for _ in range(50_000)]
            pin = bytes(2000)  # at the top of the heap, so that it can't be given back
            del many
        """,
    )
    assert rows["untouched"]["in_use"] / MB == pytest.approx(200, abs=5)
    assert rows["untouched"]["resident"] / MB < 20
    assert "+200 MB in use, not touched yet" in told[0]
    assert rows["retained"]["retained"] / MB > 50
    assert "retained by the allocator" in told[1]


def test_time(python, tmp_path):
    """Waiting takes time and no processor; the share is of the time since the first section."""
    _, rows = measured(
        python,
        tmp_path,
        """
        with section("waits"):
            time.sleep(0.2)
        with section("works"):
            until = time.process_time() + 0.2
            while time.process_time() < until: pass
        """,
    )
    assert rows["waits"]["seconds"] >= 0.2
    assert rows["waits"]["cpu_seconds"] < 0.1
    assert rows["works"]["cpu_seconds"] >= 0.2
    assert 0 < rows["waits"]["share"] < 1


def test_decorators(python, tmp_path):
    """Functions, coroutines, generators of both kinds: what they are, return and take stays."""
    told, rows = measured(
        python,
        tmp_path,
        """
        import inspect
        @section("plain")
        def plain(a, *, b=2):
            "Says."
            return a + b
        @section
        async def fetch(x):
            await asyncio.sleep(0.01)
            return x
        @section("steps")
        def steps(n):
            got = []
            for i in range(n):
                time.sleep(0.01)
                try:
                    got.append((yield i))
                except KeyError:
                    got.append("key")
            return got
        @section("pages")
        async def pages():
            for i in range(3):
                await asyncio.sleep(0.01)
                try:
                    got = yield i
                except KeyError:
                    got = "key"
                assert got in (None, "sent", "key")
        assert (plain(1), plain(1, b=5), plain.__name__, plain.__doc__) == (3, 6, "plain", "Says.")
        assert inspect.iscoroutinefunction(fetch) and inspect.isgeneratorfunction(steps)
        assert inspect.isasyncgenfunction(pages)
        async def main():
            assert await asyncio.gather(*map(fetch, range(5))) == [0, 1, 2, 3, 4]
            assert [i async for i in pages()] == [0, 1, 2]
            g = pages()
            assert [await g.__anext__(), await g.asend("sent"), await g.athrow(KeyError())] == [0, 1, 2]
            await g.aclose()
        asyncio.run(main())
        g = steps(3)
        assert [next(g), g.send("a"), g.throw(KeyError())] == [0, 1, 2]
        try: g.send("z")
        except StopIteration as end: assert end.value == ["a", "key", "z"]
        for i in steps(3):
            time.sleep(0.05)  # not the generator's
        g = steps(5); next(g); g.close()
        try: section("c")(int)
        except TypeError as error: assert "not a class" in str(error)
        else: raise AssertionError
        """,
    )
    assert {name: row["calls"] for name, row in rows.items()} == {
        "plain": 2,
        "fetch": 5,
        "steps": 3,
        "pages": 2,
    }
    assert 0.07 <= rows["steps"]["seconds"] < 0.2
    assert not any(row["failed"] for row in rows.values())
    assert len(told) == 12


def test_methods_and_partial_functions(python, tmp_path):
    """What wraps a function stays what it is, and the function is measured under its name."""
    _, rows = measured(
        python,
        tmp_path,
        """
        from functools import partial
        class Shop:
            @section
            @classmethod
            def open(cls): return cls
            @section("close")
            @staticmethod
            def closed(): return 2
            @section
            @property
            def size(self): return 3
        async def fetch(x): return x
        assert Shop.open() is Shop and Shop().open() is Shop
        assert Shop.closed() == Shop().closed() == 2 and Shop().size == 3
        assert section(partial(max, 1))(2) == 2
        assert asyncio.run(section("async")(partial(fetch, 4))()) == 4
        """,
    )
    assert {name: row["calls"] for name, row in rows.items()} == {
        "Shop.open": 2,
        "close": 2,
        "Shop.size": 1,
        "max": 1,
        "async": 1,
    }


def test_exceptions_pass_through_and_are_marked(python, tmp_path):
    """The line names the exception, the row counts it."""
    told, rows = measured(
        python,
        tmp_path,
        """
        for kind in (ValueError, SystemExit, KeyboardInterrupt):
            try:
                with section("bad"):
                    raise kind("x")
            except BaseException as error:
                assert type(error) is kind and error.__traceback__.tb_next is None
        """,
    )
    assert [line.split("✗ ")[1].split()[0] for line in told] == [
        "ValueError",
        "SystemExit",
        "KeyboardInterrupt",
    ]
    assert (rows["bad"]["calls"], rows["bad"]["failed"]) == (3, 3)


def test_threads_tasks_and_processes_are_apart(python, tmp_path):
    """One's section is no parent of another's; a forked child begins with nothing."""
    _, rows = measured(
        python,
        tmp_path,
        """
        shared = section("shared")
        barrier = threading.Barrier(3)
        def work():
            with section("thread"), shared:
                barrier.wait()
                time.sleep(0.01)
        with section("main"):
            threads = [threading.Thread(target=work) for _ in range(3)]
            [one.start() for one in threads]; [one.join() for one in threads]
            async def task(n):
                with section(f"task"):
                    await asyncio.sleep(0.01 * n)
                    with section("step"):
                        await asyncio.sleep(0.01)
            async def all_(): await asyncio.gather(task(1), task(2), task(3))
            asyncio.run(all_())
            child = os.fork()
            if not child:
                with section("child"): pass
                assert [row.name for row in sections()] == ["child"], sections()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        """,
        env={"PYTHONWARNINGS": "ignore"},
    )
    assert {name: row["calls"] for name, row in rows.items()} == {
        "main": 1,
        "thread": 3,
        "thread/shared": 3,
        "main/task": 3,
        "main/task/step": 3,
    }


def test_sections_that_end_in_another_order(python, tmp_path):
    """One that has ended is no parent of what comes later; one that goes on still is."""
    _, rows = measured(
        python,
        tmp_path,
        """
        a, b = section("a"), section("b")
        a.__enter__(); b.__enter__()
        a.__exit__(None, None, None)
        with section("in b"): pass
        b.__exit__(None, None, None)
        with section("after"): pass
        def generator(name):
            with section(name): yield
        first, second = generator("first"), generator("second")
        next(first); next(second); first.close(); second.close()
        with section("later"): pass
        @section
        def steps():
            yield
            yield
        with section("maker"): made = steps(); next(made)
        with section("taker"):
            next(made)
            with section("inner"): pass
        """,
    )
    assert set(rows) == {
        *("a", "a/b", "a/b/in b", "after", "first", "first/second", "later"),
        *("maker", "taker", "taker/inner"),
    }


def test_a_section_inside_of_itself(python, tmp_path):
    """Recursion is one section, and its time is that of the outermost run."""
    told, rows = measured(
        python,
        tmp_path,
        """
        @section("walk")
        def walk(depth):
            with section("step", quiet=True):
                if depth: walk(depth - 1)
        walk(300)
        with section("two\\nlines\\x1b[31m"): pass
        """,
    )
    assert {name: row["calls"] for name, row in rows.items()} == {
        "walk": 301,
        "walk/step": 301,
        r"two\nlines\x1b[31m": 1,
    }
    assert rows["walk"]["share"] <= 1
    assert max(map(len, told)) < 120


def test_shares_of_the_time(python, tmp_path):
    """They are of the time since the first section began, whichever of them ended first."""
    source = """
        with section("before"): time.sleep(0.01)
        sections.clear()
        with section("epoch"):
            time.sleep(0.05)
            with section("batch"): pass
    """
    _, rows = measured(python, tmp_path, source)
    assert 0 < rows["epoch"]["share"] <= 1
    assert rows["epoch/batch"]["share"] < rows["epoch"]["share"]


LEAKS = """
    held, cache = [], {}
    for i in range(12):
        with section("bytes"):
            held.append(bytearray(3_000_000))
    for i in range(12):
        with section("objects"):
            held.append([[i] for _ in range(500)])
    for i in range(30):
        with section("cache", quiet=True):
            cache.setdefault(i % 3, bytearray(4_000_000))
            temporary = bytearray(1_000_000)
    for i in range(20):
        with section("settles", quiet=True):
            held.append(bytearray(40_000_000 // (i + 1) ** 2 + 200))
    for i in range(12):
        with section("batch", quiet=True):
            batch = [bytes(100) for _ in range(5000)]
    for i in range(12):
        with section("freed elsewhere", quiet=True):
            buffer = bytearray(5_000_000 + i)
        del buffer
    for i in range(12):
        with section("retained", quiet=True):
            many = [bytes(2000) for _ in range(1000 * (i + 1))]
            del many
    for i in range(12):
        held.append(bytearray(2_000_000))
        with section("innocent", quiet=True):
            pass
"""


def test_leaks(python, tmp_path):
    """What grows each time is named with its size; caches, temporaries and others' are not."""
    told, rows = measured(python, tmp_path, LEAKS)
    verdicts = {name: row["verdict"] for name, row in rows.items() if row["verdict"]}
    assert list(verdicts) == ["bytes", "objects"]
    assert verdicts["bytes"] == "grows 3.0 MB each time: a leak?"
    assert re.fullmatch(
        r"grows 1,0\d\d small Python blocks each time: a leak\?", verdicts["objects"]
    )
    said = [line for line in told if "leak" in line]
    assert [line.partition("  ")[0] for line in said] == ["bytes", "objects"]
    assert said[0] == "bytes  grows 3.0 MB each time: a leak?  train.py:6"


GARBAGE = """
    class Model:
        def __init__(self, data):
            self.data = data
            self.me = self
        def __del__(self):
            freed.append(1)
    gc.disable()
    freed, held, before = [], [], gc.get_stats()[2]["collections"]
    for i in range(12):
        with section("large"):
            model = Model(bytearray(3_000_000))
    assert not freed
    for i in range(12):
        with section("old", quiet=True):
            model = Model([[k] for k in range(1000)])
            gc.collect(1)  # from now on it is as old as all else
    for i in range(12):
        with section("small", quiet=True):
            for k in range(300):
                one = [k]; one.append(one)
    for i in range(12):
        with section("leak"):
            held.append(bytearray(20_000_000))
    assert gc.get_stats()[2]["collections"] == before
    del model
    gc.collect()
"""


def test_garbage_in_cycles_is_no_leak(python, tmp_path):
    """It is told apart without the collector: nothing is freed, no finalizer is run."""
    told, rows = measured(python, tmp_path, GARBAGE)
    verdicts = {name: row["verdict"].partition(" each time: ")[2] for name, row in rows.items()}
    waits = "garbage in cycles, which waits for the collector"
    assert verdicts == {"large": waits, "old": waits, "small": waits, "leak": "a leak?"}
    said = [line for line in told if "each time" in line]
    assert said == [
        f"large  grows 3.0 MB each time: {waits}  train.py:13",
        "leak  grows 20.0 MB each time: a leak?  train.py:25",
    ]


def test_methods_are_named_with_their_class(python, tmp_path):
    """One that calls the method of that name of another class is no recursion."""
    told, rows = measured(
        python,
        tmp_path,
        """
        class Layer:
            @section
            def forward(self): return 1
        class Model:
            @section
            def forward(self): return Layer().forward() + Layer().forward()
        Model().forward()
        def outer():
            @section
            def inner(): return 1
            return inner()
        outer()
        print(section("x"), file=sys.stderr)
        """,
    )
    calls = {name: row["calls"] for name, row in rows.items()}
    assert calls == {"Model.forward": 1, "Model.forward/Layer.forward": 2, "inner": 1}
    assert told[-1] == "<section x>"


def test_the_table(python, tmp_path):
    """Aligned, parents first, and the rows come back as data; `clear` begins anew."""
    told = lines(
        python,
        tmp_path,
        """
        from zeroin import section, sections
        for i in range(2):
            with section("epoch", quiet=True):
                for j in range(3):
                    with section("a long name", quiet=True): pass
        rows = sections()
        assert [row.name for row in rows] == ["epoch", "epoch/a long name"]
        assert rows[1].calls == 6 and repr(rows) == "<2 sections>"
        sections.clear()
        assert sections() == []
        """,
    )
    assert told[0].split() == [
        "section",
        "calls",
        "total",
        "mean",
        "share",
        "cpu",
        "memory",
        "peak",
    ]
    assert [re.split(r"  +", line.strip())[:2] for line in told[1:3]] == [
        ["epoch", "2"],
        ["a long name", "6"],
    ]
    assert told[2].startswith("  a long name")
    assert told[0].index("calls") + len("calls") == told[1].index(" 2 ") + 2
    assert told[3:] == ["no section has ended yet"]


def test_a_section_that_repeats_is_not_a_flood(python, tmp_path):
    """After twenty lines come the 50th, 100th, 200th, …, with the mean."""
    told = lines(
        python,
        tmp_path,
        """
        from zeroin import section
        for i in range(250):
            with section("step"): pass
        """,
    )
    assert len(told) == 23
    assert [re.search(r"\((\d+)th, mean", line)[1] for line in told[20:]] == ["50", "100", "200"]


GPU = """
    import sys, types
    class Cuda:
        def __init__(self): self.used, self.most = [100, 0], [100, 0]
        def is_initialized(self): return True
        def device_count(self): return 2
        def memory_allocated(self, at): return self.used[at]
        def max_memory_allocated(self, at): return self.most[at]
        def reset_peak_memory_stats(self, at): self.most[at] = self.used[at]
        def take(self, at, size):
            self.used[at] += size; self.most[at] = max(self.most[at], self.used[at])
    sections.exact()
    torch = types.ModuleType("torch")
    torch.cuda = cuda = Cuda()
    sys.modules["torch"] = torch
    with section("outer"):
        cuda.take(0, 900_000_000); cuda.take(0, -900_000_000)
        with section("inner"):
            cuda.take(0, 300_000_000); cuda.take(0, -200_000_000); cuda.take(1, 5_000_000)
"""


def test_memory_on_gpus(python, tmp_path):
    """Per device by torch's counters, nested right: here a stand-in with the same names."""
    told, rows = measured(python, tmp_path, GPU)
    assert rows["outer/inner"]["gpu"] == [[100_000_000, 300_000_000], [5_000_000, 5_000_000]]
    assert rows["outer"]["gpu"] == [[100_000_000, 900_000_000], [5_000_000, 5_000_000]]
    assert "cuda:0 +100 MB (peak +300 MB)  cuda:1 +5.0 MB" in told[0]


COUNTED = """
    from resource import RUSAGE_SELF, getrusage
    def most(): return getrusage(RUSAGE_SELF).ru_maxrss * 1024
    with section("rises"):
        first = bytearray(100_000_000); del first
    before = most()
    with section("hidden"):
        second = bytearray(50_000_000); del second
    with section("more"):
        third = bytearray(150_000_000); del third
    print(before, most())
"""


def test_the_counter_of_the_kernel_is_left_alone(python, tmp_path):
    """Others read it as well: a peak is told where it is the process's own, and else left out."""
    done = run(python, tmp_path, "from zeroin import section, sections\n" + dedent(COUNTED))
    before, after = map(int, done.stdout.split())
    assert before > 100 * MB
    assert after > 150 * MB
    _, rows = measured(python, tmp_path, COUNTED)
    assert rows["rises"]["peak"] / MB == pytest.approx(100, abs=15)
    assert rows["hidden"]["peak"] is None
    assert rows["more"]["peak"] / MB == pytest.approx(150, abs=15)


def test_exact_peaks_under_zeroin(zeroin, tmp_path):
    """A command that watches the program may set it back; the attempt's own peak stays true."""
    source = f"import json\nfrom zeroin import section, sections\n{dedent(COUNTED)}\n"
    source += "print(json.dumps([row.as_dict() for row in sections(quiet=True)]))\n"
    (tmp_path / "train.py").write_text(source)
    done = zeroin("run", "--no-record", "-q", "--", "python", "train.py", cwd=tmp_path)
    peaks = [row["peak"] for row in json.loads(done.stdout.splitlines()[-1])]
    assert [peak / MB for peak in peaks] == pytest.approx([100, 50, 150], abs=15)


def test_memory_of_a_gpu_that_had_more_before(python, tmp_path):
    """Torch's counter is left alone as well: what it can't tell is left out."""
    _, rows = measured(python, tmp_path, GPU.replace("sections.exact()", ""))
    assert rows["outer/inner"]["gpu"] == [[100_000_000, None], [5_000_000, 5_000_000]]
    assert rows["outer"]["gpu"] == [[100_000_000, 900_000_000], [5_000_000, 5_000_000]]


def test_where_the_peak_cannot_be_reset(python, tmp_path):
    """It is left out then, and everything else is told."""
    _, rows = measured(
        python,
        tmp_path,
        """
        plain = os.open
        def refuse(path, *more, **named):
            if path == "/proc/self/clear_refs": raise PermissionError(13, "no")
            return plain(path, *more, **named)
        os.open = refuse
        sections.exact()
        first = bytearray(100_000_000); del first
        with section("a"):
            second = bytearray(50_000_000)
        """,
    )
    assert rows["a"]["peak"] is None
    assert rows["a"]["resident"] / MB == pytest.approx(50, abs=10)
