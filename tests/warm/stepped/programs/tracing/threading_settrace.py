import sys
import threading

lines = []


def tracer(frame, event, arg):
    if frame.f_code.co_name == "work":
        lines.append((event, frame.f_lineno))
        return tracer


def work():
    a = 1
    b = 2
    return a + b


threading.settrace(tracer)
t = threading.Thread(target=work)
t.start()
t.join()
threading.settrace(None)
print(lines)
