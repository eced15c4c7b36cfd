# Run a .pyc of its own code.
# ends: ZeroDivisionError
import py_compile
import subprocess
import sys

open("lib.py", "w").write("def f():\n    return 1 / 0\nprint(__name__)\nf()\n")
py_compile.compile("lib.py", "lib.pyc")
sys.stdout.flush()
sys.exit(subprocess.run([sys.executable, "lib.pyc"]).returncode)
