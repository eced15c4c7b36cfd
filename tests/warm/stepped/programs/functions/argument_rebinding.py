def f(a, b, c=()):
    a, b = b, a
    print(a, b)
    c = c or [a]
    del a
    print(b, c)
    a = c[0]
    b += a
    return a, b, c


print(f(1, 2))
print(f("x", "y", ["z"]))
