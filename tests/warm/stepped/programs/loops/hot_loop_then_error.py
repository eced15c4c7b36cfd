# ends: IndexError
def f(xs):
    total = 0
    for i in range(50_001):
        total += xs[i]
    return total


f(list(range(50_000)))
