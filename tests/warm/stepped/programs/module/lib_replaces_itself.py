import lib

print(lib.answer, type(lib).__name__)
# --- file: lib.py
import sys


class Lib:
    answer = 42


hidden = 1
sys.modules[__name__] = Lib()
print("still", hidden)
