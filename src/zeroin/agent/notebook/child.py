"""A fresh interpreter that runs cells through IPython's own machinery and tells what they gave.

Started by `fresh` as a program of its own. The first argument is the descriptor to write to, a
line of JSON a cell; the cells come on stdin.
"""

from __future__ import annotations

import io
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KEPT = 100_000  # characters of what a cell printed, as in the session


def main() -> None:
    """Run all cells, also after one that failed: as each was run in the session."""
    pipe = int(sys.argv[1])
    os.set_inheritable(pipe, False)
    job = json.load(sys.stdin)
    package = type(sys)("_zeroin_agent")
    here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    package.__path__ = [here]
    sys.modules["_zeroin_agent"] = package
    sys.path[:] = job["path"]
    sys.argv[:] = [""]
    null = open(os.devnull)  # noqa: SIM115 - for as long as it runs
    sys.stdin = null
    shell = _shell(job["shell"], job["sections"])
    if job["has_loop"]:
        import asyncio

        asyncio.run(_all(shell, job, pipe))
    else:
        from _zeroin_agent.notebook import running  # type: ignore[import-not-found]

        running.at_once(_all(shell, job, pipe))


async def _all(shell: Any, job: dict[str, Any], pipe: int) -> None:
    """A kernel has one loop for all cells, in which what they began goes on meanwhile."""
    for at, cell in enumerate(job["cells"]):
        _tell(pipe, {"at": at, **await _one(shell, cell["source"])})
        if job["has_loop"]:
            import asyncio

            await asyncio.sleep(0)
    _tell(pipe, {"names": _names(shell, job["names"])})
    _end()


def _end() -> None:
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - nobody hears its end
    os._exit(0)  # threads, tasks and exit handlers of the user's are none of our business


class Printed(io.StringIO):
    """What a cell printed; `%timeit` asks whether it may write `±`."""

    encoding = "utf-8"


def _shell(name: str, sections: list[str]) -> Any:
    """One that takes itself for the session's: programs ask for its class and its settings."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    class Shell(InteractiveShell):  # type: ignore[misc]
        """Without a screen: `%matplotlib inline` finds what it wants."""

        def enable_gui(self, gui: Any = None) -> None:
            """There is none."""

    Shell.__name__ = Shell.__qualname__ = name
    InteractiveShell._instance = Shell._instance = None
    settings: dict[str, Any] = {"config": Config({one: {} for one in sections})}
    if _has_trait(Shell):
        settings["history_enabled"] = False
    shell = Shell.instance(**settings)
    InteractiveShell._instance = shell
    shell.display_trap.hook = shell.displayhook
    shell.showtraceback = lambda *_, **__: None
    shell.showsyntaxerror = lambda *_, **__: None
    return shell


def _has_trait(shell: Any) -> bool:
    return hasattr(shell, "history_enabled")


async def _one(shell: Any, source: str) -> dict[str, Any]:
    from _zeroin_agent.notebook import running
    from _zeroin_agent.notebook.session import told  # type: ignore[import-not-found]

    out = Printed()
    real, sys.stdout = sys.stdout, out
    shell.displayhook.write_output_prompt = lambda *_: None
    plain = shell.displayhook.write_format_data
    shell.displayhook.write_format_data = lambda *_, **__: None
    shell.displayhook.finish_displayhook = lambda *_: None
    shell.display_pub.publish = lambda *_, **__: None
    try:
        result = await running.run(shell, _without_ours(source), store_history=True)
    finally:
        sys.stdout = real
        shell.displayhook.write_format_data = plain
    error = result.error_before_exec or result.error_in_exec
    value = getattr(result, "result", None)
    return {
        "printed": out.getvalue()[:KEPT],
        "result": None if value is None else told(value),
        "error": type(error).__name__ if error is not None else "",
    }


def _without_ours(source: str) -> str:
    lines = source.split("\n")
    ours = ("%zeroin", "%load_ext zeroin", "%reload_ext zeroin")
    return "\n".join("" if line.strip().startswith(ours) else line for line in lines)


def _names(shell: Any, wanted: list[str]) -> dict[str, str]:
    from _zeroin_agent import summary  # type: ignore[import-not-found]

    pairs = [(name, shell.user_ns[name]) for name in wanted if name in shell.user_ns]
    return dict(zip((name for name, _ in pairs), summary.summarise_all(pairs, 1.0)))


def _tell(pipe: int, told: dict[str, Any]) -> None:
    data = json.dumps(told).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


if __name__ == "__main__":
    main()
