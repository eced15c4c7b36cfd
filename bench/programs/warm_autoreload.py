"""An IPython session with `%autoreload 2`: prepare once, then finish again for each line."""

import sys
import traceback

from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance(colors="NoColor", history_length=0)
shell.history_manager.enabled = False
shell._showtraceback = lambda *_: None  # noqa: SLF001 - it is printed below, as Python prints it


def run(cell):
    result = shell.run_cell(cell)
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        traceback.print_exception(type(error), error, error.__traceback__, file=sys.stdout)
    print("=== end", flush=True)


sys.path.insert(0, "")
shell.run_line_magic("load_ext", "autoreload")
shell.run_line_magic("autoreload", "2")
run("import app\nstate = app.prepare()\nprint('---')\napp.finish(state)")
for _ in sys.stdin:
    run("app.finish(state)")
