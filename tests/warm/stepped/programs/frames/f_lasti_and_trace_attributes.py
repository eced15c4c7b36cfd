import sys


def f():
    frame = sys._getframe()
    return frame.f_trace, frame.f_trace_lines, frame.f_trace_opcodes, frame.f_lasti > 0


print(f(), sys.gettrace(), sys.getprofile())
