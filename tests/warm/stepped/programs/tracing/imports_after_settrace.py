# needs: 3.9
import sys

log = []


def tracer(frame, event, arg):
    if frame.f_globals.get("__name__") == "lib":
        log.append((frame.f_code.co_name, event, frame.f_lineno))
    return tracer


sys.settrace(tracer)
import lib

lib.work(2)
sys.settrace(None)
print(len(log))
for entry in log:
    print(*entry)
# --- file: lib.py
def work(n):
    total = 0
    for i in range(n):
        if i:
            continue
        total += len(str(i))
    return total


work(1)
