import a
import b

a.counter.append(1)
print(b.total(), a.counter is b.counter)
from a import counter, bump

bump()
print(len(counter), a.n)
# --- file: a.py
counter = []
n = 0


def bump():
    global n
    n += 1
    counter.append(n)
# --- file: b.py
from a import counter


def total():
    return sum(counter)
