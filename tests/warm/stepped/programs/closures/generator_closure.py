def f():
    n = 0

    def g():
        nonlocal n
        while n < 3:
            n += 1
            yield n

    for v in g():
        print(v, n)
        if v == 2:
            n = 10
    return n


print(f())
