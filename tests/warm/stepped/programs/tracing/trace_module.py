import sys
import trace


def f(n):
    total = 0
    for i in range(n):
        total += i
    return total


t = trace.Trace(count=1, trace=0)
t.runfunc(f, 5)
counts = t.results().counts
print(sorted((line, n) for (name, line), n in counts.items() if name == __file__))
