# ends: RecursionError
def walk(n):
    yield n
    yield from walk(n + 1)


total = 0
for x in walk(0):
    total += x
