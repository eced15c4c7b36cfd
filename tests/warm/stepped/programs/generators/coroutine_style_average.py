def average():
    total = count = 0
    result = None
    while True:
        x = yield result
        if x is None:
            return total, count
        total += x
        count += 1
        result = total / count


a = average()
next(a)
print([a.send(x) for x in (1, 2, 6)])
try:
    a.send(None)
except StopIteration as stop:
    print(stop.value)
