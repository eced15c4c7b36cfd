# What runs already, is suspended, is known and is made later: all of it is traced as it would be.
import sys

log = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename != __file__:
        return None
    line = frame.f_lineno - frame.f_code.co_firstlineno
    log.append((frame.f_code.co_name, event, line))
    return tracer


def known(n):
    for i in range(n):
        if i % 2:
            continue
        print(i)
    return [x for x in range(n) if x]


def count(n):
    for i in range(n):
        got = yield i
        if got:
            print(got)


def begin(n):
    if n:
        return begin(n - 1)
    sys.settrace(tracer)
    done = known(3)
    return done


class Box:
    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        print(self.value)
        return self.value * 2


running = count(3)
print(next(running))
print(begin(2))
print(running.gi_code is count.__code__, list(running), list(count(2)))


def maker(k):
    def late(x):
        y = x + k
        print(y)
        return y

    return late


print(maker(2)(3), Box(4).twice)
sys.settrace(None)
for entry in log:
    print(*entry)
