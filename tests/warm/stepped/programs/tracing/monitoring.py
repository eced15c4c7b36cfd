# needs: 3.12
import sys

m = sys.monitoring
m.use_tool_id(4, "mine")
seen = []
m.register_callback(4, m.events.LINE, lambda code, line: seen.append((code.co_name, line)))
m.register_callback(4, m.events.PY_START, lambda code, at: seen.append(("start", code.co_name)))


def f(n):
    x = n
    for i in range(2):
        x += i
    return x


m.set_local_events(4, f.__code__, m.events.LINE | m.events.PY_START)
f(1)
m.set_local_events(4, f.__code__, 0)
print(seen)
print([m.get_tool(i) for i in range(6)])
