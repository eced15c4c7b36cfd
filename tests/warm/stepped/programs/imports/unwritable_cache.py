import os
import sys

sys.dont_write_bytecode = True
import lib

print(lib.x, os.path.exists("__pycache__"))
# --- file: lib.py
x = 1
