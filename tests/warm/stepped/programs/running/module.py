# run: -m mod a b
# --- file: mod.py
import sys

print(__name__, __file__, __package__, __spec__.name, sys.argv)


def f():
    return sys._getframe(1).f_code.co_name


print(f(), sys.path[0])
