# ends: SyntaxError
print("first")
import lib
# --- file: lib.py
x = 1
def f(:
    pass
