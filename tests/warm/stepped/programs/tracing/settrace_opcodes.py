import sys

count = 0


def tracer(frame, event, arg):
    global count
    if frame.f_code.co_name != "f":
        return None
    frame.f_trace_opcodes = True
    count += event == "opcode"
    return tracer


def f(a):
    b = a + 1
    return b


sys.settrace(tracer)
f(1)
sys.settrace(None)
print(count)
