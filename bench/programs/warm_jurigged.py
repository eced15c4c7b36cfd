"""A session with jurigged: prepare once, then finish again when it has taken in an edit.

A line on stdin makes it finish as well, for edits that it takes no notice of.
"""

import os
import select
import sys
import time
import traceback

import jurigged

sys.path.insert(0, os.getcwd())
noticed, heard = os.pipe()
jurigged.watch("./*.py", logger=lambda *_: os.write(heard, b"x"))


def finish():
    try:
        app.finish(state)
    except Exception:
        traceback.print_exc(file=sys.stdout)
    print("=== end", flush=True)


import app  # noqa: E402 - jurigged has to be there first

state = app.prepare()
print("---")
finish()
while True:
    ready, _, _ = select.select([0, noticed], [], [])
    if noticed in ready:
        time.sleep(0.01)  # an edit may be several changes
        os.read(noticed, 4096)
    if 0 in ready and not os.read(0, 4096):
        break
    finish()
