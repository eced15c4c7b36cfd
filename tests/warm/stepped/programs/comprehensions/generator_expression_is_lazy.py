log = []
g = (log.append(x) or x for x in range(3))
print(log)
print(next(g), log)
xs = [1, 2]
h = (x for x in xs)
xs = [9]
print(list(h))
n = 2
k = (x * n for x in range(3))
n = 100
print(list(k))
