fs = [lambda: i for i in range(3)]
print([f() for f in fs])


def f(n):
    gs = [lambda k=k: (k, n) for k in range(n)]
    n += 100
    return [g() for g in gs]


print(f(2))
print({k: (lambda: k)() for k in "ab"})
print(list((lambda: j)() for j in range(3)))
