"""Runs cells of a notebook one after the other, and prints the warnings after each, as JSON.

Notebooks come on stdin: each a list of `[id, code]`, or `["save", [[id, code], ...]]` where it is
saved. Without IPython, so that it runs on every Python; magics are of IPython's tests.
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])
package = type(sys)("_zeroin_agent")
package.__path__ = [os.path.join(sys.argv[1], "zeroin", "agent")]
sys.modules["_zeroin_agent"] = package
from _zeroin_agent.notebook import document, flow, history, warning  # noqa: E402


def save(cells):
    found = [{"cell_type": "code", "id": key, "source": text} for key, text in cells]
    with open("note.ipynb", "w") as file:
        json.dump({"cells": found, "nbformat": 4, "nbformat_minor": 5}, file)
    stamp = os.stat("note.ipynb").st_mtime + 5  # later than the runs before it
    os.utime("note.ipynb", (stamp, stamp))


def run_all(cells):
    """What is said after each cell of one notebook."""
    if os.path.exists("note.ipynb") and cells[0][0] == "save":
        os.unlink("note.ipynb")
    names = {"__name__": "__main__", "__session__": "note.ipynb"}
    runs = history.History()
    warner = warning.Warner(runs, document.Document(names))
    said = []
    for key, text in cells:
        if key == "save":
            save(text)
            continue
        run = history.Run(key, len(said) + 1, text)
        before = {name: id(value) for name, value in names.items()}
        upto = None
        try:
            exec(compile(text, "<cell>", "exec"), names)
        except Exception as error:
            run.failed, upto = True, error.__traceback__.tb_next.tb_lineno
        names.pop("__builtins__", None)
        changed = {name for name, value in names.items() if before.get(name) != id(value)}
        runs.add(run, flow.read(text), changed, lambda name: is_value(names, name), upto)
        said.append(warner.after(run))
    return said


def is_value(names, name):
    return name in names and type(names[name]) is not type(sys)


said = [run_all(cells) for cells in json.load(sys.stdin)]
print(json.dumps(said))
