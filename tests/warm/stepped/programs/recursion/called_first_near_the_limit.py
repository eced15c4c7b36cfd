# What is called for the first time close to the limit has as much room as it would have.
import sys


def note(n):
    seen.append(n)
    return n


def down(n):
    if n == 0:
        return note(n)
    return down(n - 1) + 0


def each(n):
    yield n
    if n:
        yield from each(n - 1)


seen = []
sys.setrecursionlimit(200)
for n in range(190, 200):
    try:
        down(n)
    except RecursionError as error:
        print(n, error)
print(seen)


def deep(n):
    try:
        return deep(n + 1)
    except RecursionError:
        try:
            def inner():
                return n

            found = inner()
        except RecursionError:
            found = -n
        else:
            found += 1000
        return found


print(deep(0))
for n in range(185, 200):
    try:
        print(n, sum(each(n)))
    except RecursionError as error:
        print(n, error)
        break
