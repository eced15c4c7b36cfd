# run: bin/link.py
# link: bin/link.py main.py
# ends: ValueError
import sys

import lib

print(__file__, sys.argv, sys.path[0])
lib.f()
# --- file: lib.py
def f():
    raise ValueError(__name__)
