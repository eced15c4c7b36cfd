# run: app x
# ends: RuntimeError
# --- file: app/__main__.py
import sys

import other

print(__name__, __file__, sys.argv, sys.path[0], __spec__ is not None, __package__)
other.f()
# --- file: app/other.py
def f():
    raise RuntimeError(__file__)
