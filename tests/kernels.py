"""Real Jupyter kernels, spoken to as a front end does: with the ids of cells."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

import support

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Self

# What the front end and the kernel import, for tests/warm_libraries.py.
JUPYTER = (
    *("jupyter_client.blocking", "jupyter_client.manager", "jupyter_client.provisioning"),
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell"),
)

# Runs in the environment that has Jupyter, and speaks JSON a line on its stdin and stdout.
FRONT_END = r"""
import json, os, sys
from jupyter_client.manager import KernelManager

manager = KernelManager(kernel_name="python3")
manager.kernel_spec.argv[0] = sys.argv[2]
manager.start_kernel(
    cwd=sys.argv[1],
    stderr=open(os.devnull, "w"),
    # A warm interpreter did import ipykernel before there was a parent, and froze its objects.
    extra_arguments=[
        "--IPKernelApp.parent_handle=%d" % os.getpid(),
        "--IPKernelApp.exec_lines=__import__('gc').unfreeze()",
    ],
)
client = manager.client()
client.start_channels()
client.wait_for_ready(timeout=60)

def send(code, cell):
    content = dict(code=code, silent=False, store_history=True, user_expressions={},
                   allow_stdin=False, stop_on_error=False)
    message = client.session.msg("execute_request", content, metadata={"cellId": cell} if cell else {})
    client.shell_channel.send(message)
    return message["header"]["msg_id"]

def listen(ids):
    found = {one: [] for one in ids}
    waiting = set(ids)
    while waiting:
        message = client.get_iopub_msg(timeout=100)
        own = message["parent_header"].get("msg_id")
        kind, content = message["msg_type"], message["content"]
        if own not in found:
            continue
        if kind == "status" and content["execution_state"] == "idle":
            waiting.discard(own)
        elif kind == "stream":
            found[own].append([content["name"], content["text"]])
            if content["text"].endswith("interrupt me\n"):
                manager.interrupt_kernel()
        elif kind in ("display_data", "execute_result"):
            found[own].append([kind, content["data"]])
        elif kind == "error":
            found[own].append([kind, content["ename"]])
    return [found[one] for one in ids]

print("ready", flush=True)
try:
    for line in sys.stdin:
        ids = [send(*one) for one in json.loads(line)]
        print(json.dumps(listen(ids)), flush=True)
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


class Kernel:
    """A kernel in its own folder, with zeroin on its path."""

    def __init__(self, folder: Path, python: str, **env: str) -> None:
        self.folder = folder
        settings = {
            **support.clean_environment(folder.parent),
            "PYTHONPATH": str(support.SRC),
            "PYTHONDONTWRITEBYTECODE": "1",
            **env,
        }
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-c", FRONT_END, folder, python],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=settings,
            cwd=folder,
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def all(self, *cells: tuple[str, str]) -> list[list[list[Any]]]:
        """Send (id, code) all at once, as "run all" does; what each gave."""
        assert self.process.stdin is not None
        words = [[code, name] for name, code in cells]
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        return json.loads(self._line())

    def __call__(self, code: str, cell: str = "") -> list[list[Any]]:
        """Run one cell; all that it gave, in order: its kind, and the text or data."""
        return self.all((cell, code))[0]

    def text(self, code: str, cell: str = "") -> str:
        """Likewise, as one text."""
        parts = [
            data["text/plain"] if isinstance(data, dict) else data for _, data in self(code, cell)
        ]
        return "\n".join(parts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()


def save(folder: Path, *cells: tuple[str, str]) -> Path:
    """Write a notebook of code cells, as a front end saves it."""
    path = folder / "note.ipynb"
    found = [
        {
            "cell_type": "code",
            "id": name,
            "source": text,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for name, text in cells
    ]
    data = {"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(data))
    return path


@functools.cache
def lacks() -> str:
    """Why no kernel can be started; "" if one can."""
    ask = "import ipykernel, jupyter_client, nbclient"
    done = subprocess.run(
        [support.libs_python(), "-c", ask], capture_output=True, check=False, env=dict(os.environ)
    )
    return (
        "needs ipykernel and nbclient, of scripts/libs.txt: make setup" if done.returncode else ""
    )
