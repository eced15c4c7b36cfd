# needs: 3.12
import sys

m = sys.monitoring
m.use_tool_id(m.DEBUGGER_ID, "debugger")
seen = []


def line(code, number):
    if code.co_filename == __file__:
        seen.append((code.co_name, number))


def f(n):
    if n:
        try:
            return n / 0
        except ZeroDivisionError:
            n = 5
    return n


m.register_callback(m.DEBUGGER_ID, m.events.LINE, line)
m.set_events(m.DEBUGGER_ID, m.events.LINE)
f(1)
x = 1
m.set_events(m.DEBUGGER_ID, 0)
print(seen)
m.free_tool_id(m.DEBUGGER_ID)
