def f(a, *args, b=2, **kw):
    def g():
        return a, args, b, kw

    a = a + 1
    args = args[::-1]
    b = -b
    kw = sorted(kw)
    return g


print(f(1, 2, 3, b=4, z=1, y=2)())
