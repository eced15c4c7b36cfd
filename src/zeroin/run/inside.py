"""One question to the user's interpreter, answered by a part of the agent: nothing else is run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile

from zeroin.errors import UntestableError, UsageError
from zeroin.run import interpreter, tree
from zeroin.run.environment import BOOT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

AGENT = os.path.dirname(BOOT)
# The path is put back by the part itself.
START = f"""\
import sys
started = frozenset(sys.modules)
{interpreter.LIBRARY_ALONE}
if sys.version_info < (3, 9):
    sys.stdout.write('{{"old": "%d.%d.%d"}}' % sys.version_info[:3])
    sys.exit()
order, agent, part = sys.argv[1:]
del sys.argv[1:]
package = type(sys)("_zeroin_agent")
package.__path__ = [agent]
sys.modules["_zeroin_agent"] = package
import importlib, json
importlib.import_module("_zeroin_agent." + part).main(json.loads(order), started, path)
"""


class OverdueError(UntestableError):
    """The interpreter did not answer in time."""


def ask(
    python: str,
    part: str,
    order: Mapping[str, Any],
    cwd: str,
    env: Mapping[str, str],
    seconds: float,
) -> dict[str, Any]:
    """The answer of `agent/PART.py`; a file takes it, so that nobody below holds a pipe open."""
    words = [python, "-c", START, json.dumps(order), AGENT, part]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        try:
            child = subprocess.Popen(
                words,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(
                f"{python}: can't be started: {os.strerror(error.errno or 0).lower()}",
                hint="name a Python with --python",
            ) from None
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            tree.end_with_all_below(child.pid, 0)
            raise OverdueError(
                f"{python} took longer than {seconds:g} s to import it",
                hint="give it more time with --timeout",
            ) from None
        finally:
            with contextlib.suppress(ProcessLookupError):  # it ended, and all below it
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return _read(out, err, python, child.returncode)


def _read(out: Any, err: Any, python: str, code: int) -> dict[str, Any]:
    out.seek(0)
    try:
        told = dict(json.loads(out.read().splitlines()[-1]))
    except (ValueError, IndexError):
        err.seek(0)
        said = err.read().decode(errors="replace").strip().splitlines()
        how = f"ended with signal {-code}" if code < 0 else f"ended with exit code {code}"
        why = f": {said[-1]}" if said else ""
        raise UntestableError(f"{python} {how} before it answered{why}") from None
    if "old" in told:
        raise interpreter.too_old(python, told["old"])
    return told
