"""What objects refer to, on every interpreter."""

from __future__ import annotations

import subprocess
from pathlib import Path

from zeroin.agent import referents

PROGRAM = """\
import asyncio, gc, runpy, sys
async def work():
    loop = asyncio.get_running_loop()
    waiting = loop.create_future()
    loop.call_soon(waiting.set_result, None)
    await waiting
for number in range(5):
    asyncio.run(work())
list_referents = runpy.run_path(sys.argv[1])["list_referents"]
modules = [one for one in sys.modules.values() if type(one) is type(sys)]
namespaces = {id(vars(one)) for one in modules}
for number in range(3):
    assert namespaces <= {id(one) for one in list_referents(gc.get_objects() + modules)}
    asyncio.run(work())
    gc.collect()
print("still there")
"""


def test_the_interpreter_goes_on(python):
    """Nothing that a compiled module keeps for later is freed; of each the namespace is told."""
    path = str(Path(referents.__file__))
    done = subprocess.run(
        [python, "-c", PROGRAM, path], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout, done.stderr) == ("still there\n", "")
