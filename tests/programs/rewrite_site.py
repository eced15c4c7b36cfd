"""A sitecustomize that has the files named in WANTED changed: a note before every statement.

The notes go to the file NOTES, so that what the program prints stays its own.
"""

import _ast as ast
import os
import sys

from _zeroin_agent import rewrite

WANTED = os.environ["WANTED"].split(":")
ONLY = os.environ.get("ONLY")  # the one function that is changed


def note(name, line):
    frame = sys._getframe(1)
    assert frame.f_code.co_name == name or name == "?", (frame.f_code.co_name, name)
    with open(os.environ["NOTES"], "a") as file:
        file.write(f"{os.path.basename(frame.f_code.co_filename)}:{line}\n")


def with_notes(body, name):
    made = []
    for index, one in enumerate(body):
        text = isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        future = isinstance(one, ast.ImportFrom) and one.module == "__future__"
        if not future and not (index == 0 and text) and ONLY in (None, name):
            args = [ast.Constant(name, None), ast.Constant(one.lineno, None)]
            call = ast.Call(rewrite.constant(note), args, [])
            made.append(rewrite.place(ast.Expr(call), like=one))
        made.append(one)
        inner = one.name if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)) else name
        if isinstance(one, ast.ClassDef):
            inner = one.name
        for field in ("body", "orelse", "finalbody"):
            if isinstance(getattr(one, field, None), list):
                setattr(one, field, with_notes(getattr(one, field), inner))
        for handler in getattr(one, "handlers", ()):
            handler.body = with_notes(handler.body, inner)
    return made


def change(path, source, tree):
    tree.body = with_notes(tree.body, "<module>")
    return tree


rewrite.add(lambda path: os.path.basename(path) in WANTED, change)
