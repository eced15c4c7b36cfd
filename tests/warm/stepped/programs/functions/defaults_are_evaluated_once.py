def make(n):
    print("default", n)
    return [n]


def f(a, b=make(1), *, c=make(2)):
    b.append(a)
    c.append(-a)
    return b, c


print(f(1))
print(f(2))
print(f(3, [0], c=[]))
print(f.__defaults__, f.__kwdefaults__)
