"""`%load_ext zeroin` in real kernels: costs, warnings, status, fresh runs."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

import kernels
import support
import warm_libraries
from left_out import heavy

# They share a warm Jupyter.
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("kernel")]


@pytest.fixture
def folder(tmp_path):
    """Where the notebook lies."""
    path = tmp_path / "work"
    path.mkdir()
    return path


@pytest.fixture(scope="session")
def jupyter():
    """An executable that is used like the interpreter of `libs`: Jupyter is imported."""
    if reason := support.lack_of_libs() or kernels.lacks():
        pytest.skip(reason)
    return warm_libraries.find_executable(kernels.JUPYTER)


@pytest.fixture
def kernel(jupyter, folder):
    """A kernel with the extension loaded."""
    with kernels.Kernel(folder, jupyter) as one:
        assert one("%load_ext zeroin") == []
        yield one


@pytest.fixture(scope="module")
def idle_kernel(jupyter, tmp_path_factory):
    """A kernel with the extension loaded, for tests that change nothing in it."""
    folder = tmp_path_factory.mktemp("idle") / "work"
    folder.mkdir()
    with kernels.Kernel(folder, jupyter) as one:
        assert one("%load_ext zeroin") == []
        yield one


def test_a_line_after_cells_that_cost_something(kernel):
    """Apart from what the cell printed, as text and as HTML; nothing after small ones."""
    assert kernel("x = 1\nx") == [["execute_result", {"text/plain": "1"}]]
    found = kernel(
        "import time; time.sleep(0.6); print('done')\nkept = bytearray(b'x') * 60_000_000"
    )
    assert found[0] == ["stdout", "done\n"]
    kind, data = found[1]
    assert kind == "display_data"
    assert re.fullmatch(r"\d{3} ms · \+\d\d\.\d MB · in use \d+(\.\d)? MB", data["text/plain"])
    assert data["text/plain"] in data["text/html"]
    peak = kernel("big = bytearray(b'x') * 150_000_000; del big")[-1][1]["text/plain"]
    assert re.search(r"\(peak \+1\d\d MB\)", peak)


def test_errors_interrupts_coroutines_and_magics(kernel):
    """Each ends as it would have, and has its line."""
    failed = kernel("import time; time.sleep(0.6)\n1 / 0")
    assert [one[0] for one in failed] == ["error", "display_data"]
    stopped = kernel("print('interrupt me')\n[time.sleep(0.1) for _ in range(600)]")
    assert ["error", "KeyboardInterrupt"] in stopped
    awaited = kernel("import asyncio\nawait asyncio.sleep(0.6)")
    assert re.match(r"\d{3} ms", awaited[-1][1]["text/plain"])
    timed = kernel("%%time\ny = 2")
    assert [one[0] for one in timed] == ["stdout"]
    assert kernel.text("y") == "2"
    assert kernel("%zeroin off") == [["stdout", "zeroin is off\n"]]
    assert kernel("time.sleep(0.6)") == []
    kernel("%zeroin on")
    kernel("%unload_ext zeroin")
    assert kernel("time.sleep(0.6)") == []
    assert "not found" in kernel.text("%zeroin status")


def test_an_edited_cell_makes_others_out_of_date(kernel):
    """One line, when it happens; `status` has all."""
    kernel("rate = 0.5", "a")
    kernel("price = 10 * rate\nprice", "b")
    said = kernel("rate = 0.7", "a")
    line = "⚠ cell [3] used rate from cell [2], which was edited and re-run as [4]: run [3] again"
    assert [data["text/plain"] for _, data in said] == [line]
    assert "<div" in said[0][1]["text/html"]
    status = kernel.text("%zeroin status")
    assert re.search(
        r"^\[3\].*rate\[2\].*⚠ out of date: rate was made anew in \[4\]$", status, re.MULTILINE
    )
    assert kernel.text("price = 10 * rate\nprice", "b") == "7.0"
    assert "out of date" not in kernel.text("%zeroin status")


def test_run_all_says_nothing_about_cells_that_are_coming(kernel):
    """The front end has sent them already."""
    cells = [("a", "x = 1"), ("b", "y = x"), ("c", "z = y")]
    kernel.all(*cells)
    again = kernel.all(("a", "x = 2"), *cells[1:])
    assert not any(any(one[0] == "display_data" for one in found) for found in again)
    assert "out of date" not in kernel.text("%zeroin status")


@heavy("matplotlib")
def test_a_fresh_run_names_what_differs(kernel, folder):
    """And leaves the session as it is."""
    kernel("import random\nseen = []", "a")
    kernel("seen.append(1)\nprint(len(seen))", "b")
    kernel("accuracy = 0.87", "c")
    kernel("print(accuracy)", "d")
    kernel("accuracy = 0.93", "c")
    kernel("leftover = 3", "x")
    kernel("seen.append(1)\nprint(len(seen))", "b")
    kernel("%matplotlib inline\nimport asyncio\nawait asyncio.sleep(0)", "e")
    (folder / "made").touch()
    kernel("import os; os.path.exists('made')", "f")
    told = kernel.text("%zeroin fresh").splitlines()
    assert "cell [5] printed 0.87 here, 0.93 fresh" in told
    assert "cell [8] printed 2 here, 1 fresh" in told
    assert "seen is [1, 1] here, [1] fresh" in told
    assert not any("accuracy is" in line or "raises" in line for line in told), told
    assert re.search(r"^fresh run of 7 of 7 cells in [\d.]+ s$", "\n".join(told), re.MULTILINE)
    assert kernel.text("len(seen)") == "2"


def test_a_fresh_run_follows_the_saved_notebook(jupyter, folder):
    """Its order counts, and what is no longer in it does not."""
    cells = [("a", "x = 1"), ("b", "print(x)"), ("c", "x = 2"), ("gone", "old = 5")]
    path = kernels.save(folder, *cells)
    with kernels.Kernel(folder, jupyter, JPY_SESSION_NAME=str(path)) as kernel:
        kernel("%load_ext zeroin")
        for name, code in (cells[3], cells[2], cells[0], cells[1]):
            kernel(code, name)
        said = kernel.text(*reversed(cells[1]))
        assert "1" in said
        path = kernels.save(folder, *cells[:3])
        os.utime(path, (2e9, 2e9))
        told = kernel.text("%zeroin fresh")
        assert "old is here, and not in a fresh run" in told
        assert "x is 1 here, 2 fresh" in told


def test_fresh_with_reset_runs_all_here(kernel):
    """The session is what a fresh run gives; the notebook's outputs come again."""
    kernel("x = 0", "a")
    kernel("x += 1\nprint('x is', x)", "b")
    kernel("x += 1\nprint('x is', x)", "b")
    kernel("junk = 1")
    found = kernel("%zeroin fresh --reset")
    assert found[0][1].startswith("x is 1\n")
    assert "3 cells were run in order, in an empty session" in kernel.text("%zeroin fresh --reset")
    assert kernel.text("x") == "1"
    assert "the same" in kernel.text("%zeroin fresh")


def test_fresh_with_reset_awaits_what_cells_await(kernel):
    """In the kernel's own loop, where also what a cell began goes on; each is numbered as before."""
    kernel("import asyncio\nloop = asyncio.get_running_loop()\nseen = []", "a")
    kernel("async def later():\n    seen.append(1)\ntask = asyncio.create_task(later())", "b")
    kernel("await task\nsame = asyncio.get_running_loop() is loop", "c")
    kernel("print(len(seen), same)\nseen.append(2)", "d")
    kernel("junk = seen.append(3)", "d")
    said = kernel("%zeroin fresh --reset", "e")
    assert said == [["stdout", "4 cells were run in order, in an empty session\n"]]
    assert kernel.text("seen, same, junk", "f") == "([1, 3], True, None)"
    assert re.search(r"^\[4\] .* same$", kernel.text("%zeroin status"), re.MULTILINE)
    assert "✓ a fresh run gives the same: 5 of 5 cells" in kernel.text("%zeroin fresh")


def test_a_reset_that_failed_forgets_no_cell(kernel):
    """Those behind the failure are known still, and the order is the one of before."""
    kernel("x = 1", "a")
    kernel("import os\nassert not os.path.exists('broken')\ny = x", "b")
    kernel("z = y", "c")
    kernel("x = 2", "a")
    (kernel.folder / "broken").touch()
    assert kernel.text("%zeroin fresh --reset").endswith("cell [3] failed: 2 of 3 cells were run\n")
    status = kernel.text("%zeroin status")
    assert re.search(r"^\[4\] .* ⚠ not run since the session was emptied$", status, re.MULTILINE)
    (kernel.folder / "broken").unlink()
    kernel("w = 5", "d")
    assert kernel.text("%zeroin fresh --reset").startswith("4 cells were run in order")
    assert kernel.text("x, y, z, w") == "(2, 2, 2, 5)"


def test_interrupting_a_reset_that_awaits(kernel):
    """Ctrl-C ends the cell that is running, whether it waits or works; the session goes on."""
    # In short waits: without us, too, ipykernel 7 cancels when its loop next wakes up by itself.
    kernel("import asyncio, os, time\nawait asyncio.sleep(0)", "a")
    kernel(
        "if os.path.exists('long'):\n    print('interrupt me')\n    [time.sleep(0.1) for _ in range(600)]",
        "b",
    )
    kernel(
        "if os.path.exists('wait'):\n    print('interrupt me')\n"
        "    [await asyncio.sleep(0.1) for _ in range(600)]",
        "c",
    )
    for name, error, cell in (("long", "KeyboardInterrupt", 3), ("wait", "CancelledError", 4)):
        (kernel.folder / name).touch()
        said = kernel("%zeroin fresh --reset")
        (kernel.folder / name).unlink()
        assert ["error", error] in said
        assert said[-1] == ["stdout", f"cell [{cell}] failed: {cell - 1} of 3 cells were run\n"]
    assert kernel.text("%zeroin fresh --reset").startswith("3 cells were run in order")


def test_fresh_with_reset_where_nothing_can_be_awaited(kernel):
    """It refuses before it empties anything, and says how to write it."""
    kernel("import asyncio\nx = 5", "a")
    kernel("await asyncio.sleep(0)\ny = x", "b")
    said = kernel.text("if x:\n    %zeroin fresh --reset", "c")
    assert said.startswith(
        "cell [3] awaits something: give %zeroin fresh --reset a line of its own"
    )
    assert "is not for --reset" in kernel.text("%zeroin fresh --reset --timeout 3")
    assert kernel.text("x + y", "d") == "10"


def test_loading_it_again(kernel):
    """The cell that does so is one of ours, and its end is heard by nobody."""
    assert kernel("%reload_ext zeroin") == []
    kernel("x = 1", "a")
    assert "[3]" in kernel.text("%zeroin status")


def test_what_was_run_again_on_an_old_value_is_marked(kernel):
    """Also where several cells lie between it and the edit: what it printed is old."""
    for name, code in (("a", "a = 2"), ("b", "b = a + 1"), ("c", "c = b * 2"), ("d", "print(c)")):
        kernel(code, name)
    kernel("a = 5", "a")
    said = kernel.text("print(c)", "d")
    assert "⚠ cell [7] used c from cell [4], which is out of date: run [3] and [4]" in said
    status = kernel.text("%zeroin status")
    assert re.search(r"\[4\].*⚠ hangs on \[3\], which is out of date", status), status
    assert re.search(r"\[7\].*⚠ hangs on \[4\], which is out of date", status), status


def test_status_marks_what_the_file_tells(jupyter, folder):
    """A cell that was deleted, one that used it, and one that took a name from below."""
    cells = [("a", "x = 1"), ("b", "y = x"), ("c", "print(z)"), ("d", "z = 2")]
    kernels.save(folder, *cells)
    with kernels.Kernel(folder, jupyter, JPY_SESSION_NAME="note.ipynb") as kernel:
        kernel("%load_ext zeroin")
        for at in (0, 1, 3, 2):
            kernel(cells[at][1], cells[at][0])
        path = kernels.save(folder, *cells[1:])
        os.utime(path, (path.stat().st_mtime + 5,) * 2)
        status = kernel.text("%zeroin status")
    assert re.search(r"\[2\].*⚠ deleted", status), status
    assert re.search(r"\[3\].*⚠ x is from \[2\], which was deleted", status), status
    assert re.search(r"\[5\].*⚠ z is from \[4\], which stands below it", status), status


def test_a_front_end_that_names_no_cells(kernel):
    """An edit can't be recognised there, and that is said."""
    kernel("x = 1")
    kernel("x = 2")
    for verb in ("status", "fresh"):
        assert "the front end names no cells" in kernel.text(f"%zeroin {verb}")


def test_a_fresh_run_has_the_same_shell(kernel):
    """By its name and settings, which programs ask for; what `%timeit` tells is no difference."""
    kernel("kind = type(get_ipython()).__name__", "a")
    kernel("is_kernel = 'IPKernelApp' in get_ipython().config", "b")
    kernel("%timeit -n 1 -r 2 sum(range(9))", "c")
    assert "✓ a fresh run gives the same: 3 of 3 cells" in kernel.text("%zeroin fresh", "d")


def test_a_fresh_run_that_hangs_or_dies(kernel, folder):
    """The time limit holds, an interrupt ends it, a crash is told, and nothing is left running."""
    kernel("import os, time\nfirst = 1", "a")
    kernel("if os.path.exists('hang'): time.sleep(60)", "b")
    kernel("if os.path.exists('die'): os._exit(3)", "c")
    (folder / "hang").touch()
    assert re.match(
        r"ended after 1 s: compared [01] of 3 cells", kernel.text("%zeroin fresh --timeout 1")
    )
    stopped = str(kernel("print('interrupt me')\n%zeroin fresh"))
    assert "interrupted: compared" in stopped or "KeyboardInterrupt" in stopped
    (folder / "hang").unlink()
    (folder / "die").touch()
    assert "the fresh process died with code 3: compared 2 of 4 cells" in kernel.text(
        "%zeroin fresh"
    )
    assert kernel.text("first") == "1"


def test_errors_here_and_fresh(kernel, folder):
    """The same error is no difference; another, or none, is."""
    kernel("import os\n1 / 0", "a")
    kernel("[][1] if os.path.exists('x') else {}[1]", "b")
    kernel("assert os.path.exists('x')", "c")
    (folder / "x").touch()
    told = kernel.text("%zeroin fresh")
    assert "cell [3] raised KeyError here, IndexError fresh" in told
    assert "cell [4] raised AssertionError here and works fresh" in told
    assert "cell [2]" not in told


@pytest.mark.parametrize("words", ["fresh --timeout", "fresh --what", "what", "fresh --timeout x"])
def test_wrong_words_are_answered_with_the_usage(idle_kernel, words):
    """Nothing is run."""
    told = idle_kernel.text(f"%zeroin {words}")
    assert "how many seconds" in told or "%zeroin fresh --reset" in told


def test_two_kernels_at_once(jupyter, folder, tmp_path):
    """They know nothing of each other."""
    other = tmp_path / "other"
    other.mkdir()
    with kernels.Kernel(folder, jupyter) as one, kernels.Kernel(other, jupyter) as two:
        for kernel in (one, two):
            kernel("%load_ext zeroin")
            kernel("x = 1", "a")
            kernel("y = x", "b")
        assert "run [3] again" in one.text("x = 2", "a")
        assert "out of date" not in two.text("%zeroin status")


def test_a_notebook_run_by_nbclient(libs, folder):
    """It runs to its end, and the line stands in its outputs as text and HTML."""
    if why := kernels.lacks():
        pytest.skip(why)
    path = kernels.save(
        folder,
        ("a", "%load_ext zeroin"),
        ("b", "import time; time.sleep(0.6); print('hi')"),
        ("c", "%zeroin fresh"),
    )
    code = (
        "import sys, nbformat, nbclient\n"
        "book = nbformat.read(sys.argv[1], 4)\n"
        "nbclient.NotebookClient(book, timeout=100).execute()\n"
        "nbformat.write(book, sys.argv[1])\n"
    )
    env = {**support.clean_environment(folder.parent), "PYTHONPATH": str(support.SRC)}
    subprocess.run([libs, "-W", "ignore", "-c", code, path], cwd=folder, env=env, check=True)
    book = json.loads(path.read_text())
    outputs = [cell["outputs"] for cell in book["cells"]]
    assert outputs[0] == []
    assert [one["output_type"] for one in outputs[1]] == ["stream", "display_data"]
    assert set(outputs[1][1]["data"]) == {"text/plain", "text/html"}
    assert "✓ a fresh run gives the same: 1 of 1 cells" in "".join(outputs[2][0]["text"])


def test_under_zeroin_run_nothing_is_installed(libs, folder, zeroin):
    """`%load_ext zeroin` finds the agent's own."""
    code = "get_ipython().run_line_magic('load_ext', 'zeroin'); get_ipython().run_cell('%zeroin')"
    words = [libs, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code]
    done = zeroin("run", "--", *words, cwd=folder)
    assert "zeroin is on" in done.stdout, done.stdout + done.stderr
