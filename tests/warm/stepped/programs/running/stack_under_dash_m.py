# run: -m mod
# --- file: mod.py
import sys
import traceback


def f():
    traceback.print_stack()
    out = []
    frame = sys._getframe()
    while frame:
        out.append((frame.f_code.co_name, frame.f_code.co_filename.rpartition("/")[2]))
        frame = frame.f_back
    print(out)


f()
