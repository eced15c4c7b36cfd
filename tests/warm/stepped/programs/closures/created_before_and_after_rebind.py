def f():
    fs = []
    value = "a"
    fs.append(lambda: value)
    value = "b"
    fs.append(lambda: value)
    while len(fs) < 4:
        value += "c"

        def g(n=len(fs)):
            return n, value

        fs.append(g)
    return [g() for g in fs]


print(f())
