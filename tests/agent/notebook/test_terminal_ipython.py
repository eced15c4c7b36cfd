"""`%load_ext zeroin` in IPython in a terminal."""

from __future__ import annotations

import re

import pytest

import support

pytestmark = pytest.mark.slow
PLAIN = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@pytest.fixture
def ipython(libs, tmp_path, terminal):
    """IPython with the extension loaded."""
    env = support.clean_environment(tmp_path)
    env["PYTHONPATH"] = str(support.SRC)
    env["IPYTHONDIR"] = str(tmp_path / "ipython")
    words = [
        libs,
        "-W",
        "ignore",
        "-m",
        "IPython",
        "--simple-prompt",
        "--no-banner",
        "--colors=NoColor",
    ]
    one = terminal(words, cwd=tmp_path, env=env, cols=160, timeout=60)
    one.expect("In [1]:")
    one.line("%load_ext zeroin")
    one.expect("In [2]:")
    return one


def test_a_dim_line_after_what_cost_something(ipython):
    """And none after what did not."""
    ipython.line("x = 1")
    ipython.expect("In [3]:")
    assert "in use" not in ipython.text
    ipython.line("import time; time.sleep(0.6); print('done')")
    ipython.expect(re.compile(r"done\r\n\x1b\[2m\d{3} ms · .* · in use \d+(\.\d)? MB\x1b\[0m"))
    ipython.expect("In [4]:")
    ipython.line("%zeroin quiet")
    ipython.expect("zeroin is quiet")
    ipython.expect("In [5]:")
    ipython.line("time.sleep(0.6)")
    ipython.expect("In [6]:")
    assert ipython.text.count("in use") == 1


def test_lines_are_no_cells_that_could_be_out_of_date(ipython):
    """What was typed before is history: no warning."""
    for number, line in enumerate(["x = 1", "y = x", "x = 2", "x += 1", "x += 1"], 3):
        ipython.line(line)
        ipython.expect(f"In [{number}]:")
    assert "⚠" not in ipython.text
    ipython.line("%zeroin fresh")
    ipython.expect(re.compile(r"✓ a fresh run gives the same: 5 of 5 cells"), timeout=60)


def test_errors_and_interrupts_leave_it_working(ipython):
    """Ctrl-C in a cell, and in a fresh run."""
    ipython.line("1/0")
    ipython.expect("ZeroDivisionError")
    ipython.expect("In [3]:")
    # In short calls: an interrupt that comes right before a call is seen after it.
    ipython.line("import time; print('now'); [time.sleep(0.1) for _ in range(600)]")
    ipython.expect("now\r\n")
    ipython.send("\x03")
    ipython.expect("KeyboardInterrupt")
    ipython.expect("In [4]:")
    ipython.line("%zeroin status")
    ipython.expect("failed")
    ipython.expect("In [5]:")
    ipython.line("%zeroin fresh")
    ipython.send("\x03")
    ipython.expect(re.compile(r"interrupted: compared|KeyboardInterrupt|fresh run of"), timeout=70)
    ipython.line("x = 5; print('alive', x)")
    ipython.expect("alive 5")


def test_fresh_with_reset_awaits_in_a_terminal(ipython):
    """Where no loop is running: what awaits gets IPython's, what starts its own finds none."""
    lines = [
        "import asyncio; x = 0",
        "await asyncio.sleep(0, 1)",
        "asyncio.run(asyncio.sleep(0, 2))",
    ]
    for number, line in enumerate([*lines, "x += 1; print(x)"], 3):
        ipython.line(line)
        ipython.expect(f"In [{number}]:")
    ipython.line("%zeroin fresh --reset")
    ipython.expect("4 cells were run in order, in an empty session")
    ipython.line("print('x is', x)")
    ipython.expect("x is 1")


def test_a_result_is_not_what_a_cell_printed(ipython):
    """In a terminal both come the same way; a fresh run of either gives the same."""
    for number, line in enumerate(["x = 20", "x + 1", "print(x); x + 2", "%zeroin fresh"], 3):
        ipython.line(line)
        if number < 6:
            ipython.expect(f"In [{number}]:")
    ipython.expect("✓ a fresh run gives the same: 3 of 3 cells", timeout=60)
    ipython.line("x = 30")
    ipython.expect("In [7]:")
    ipython.line("%zeroin off")
    ipython.expect("zeroin is off")
    ipython.line("x + 3")
    ipython.expect("33")
