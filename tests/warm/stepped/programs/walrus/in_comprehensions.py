data = [1, 5, 3, 8]
print([y for x in data if (y := x * 2) > 5], y)
print(any((hit := x) > 4 for x in data), hit)


def f(xs):
    total = 0
    sums = [total := total + x for x in xs]
    return sums, total, [[(last := j) for j in range(i)] for i in range(3)], last


print(f(data))
print({(k := c): k for c in "ab"}, k)
