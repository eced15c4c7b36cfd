def make():
    out = []
    for i in range(3):
        def f(j=i):
            return i, j
        out.append(f)
    return out


print([f() for f in make()])
