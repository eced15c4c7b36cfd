"""Each test is a small program in a folder of its own.

It works, a fork stands for the snapshot, the parent (or the test) changes the world, and the fork
is asked what changed.
"""

import support

AGENT = support.SRC / "zeroin" / "agent"

# `step()` moves the position on; `fork(change)` gives what a snapshot taken now says after it.
HARNESS = """
import sys, os
package = type(sys)("_zeroin_agent")
package.__path__ = [{agent!r}]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.warm.used import inputs
position = 0
def step():
    global position
    position += 1
def now():
    return position
inputs.install(now)
sys.path.insert(0, os.getcwd())
def fork(change=None):
    import json
    mark = inputs.mark()
    to, back = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(to[1])
            os.read(to[0], 1)
            text = json.dumps(inputs.changed(mark))
        except BaseException as error:
            text = repr(error)
        os.write(back[1], text.encode())
        os._exit(0)
    os.close(back[1])
    if change and (editor := os.fork()) == 0:  # somebody else: the program knows nothing of it
        change()
        os._exit(0)
    elif change:
        assert os.waitpid(editor, 0)[1] == 0
    os.write(to[1], b"x")
    text = b""
    while part := os.read(back[0], 65536):
        text += part
    os.waitpid(child, 0)
    for fd in (*to, back[0]):
        os.close(fd)
    return json.loads(text)
def save(path, text):  # as an editor does: another file, later
    with open(path + ".new", "w") as file:
        file.write(text)
    os.utime(path + ".new", ns=(10**18, 10**18 + len(text)))
    os.replace(path + ".new", path)
"""


def reasons(told):
    return [reason for _, reason in told]
