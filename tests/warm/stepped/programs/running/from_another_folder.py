# run: ../main.py
# cwd: below
# ends: KeyError
import os
import sys

import lib

print(__file__, sys.argv[0], os.path.basename(os.getcwd()), os.path.basename(sys.path[0]))
lib.f({})
# --- file: lib.py
def f(d):
    return d["x"]
