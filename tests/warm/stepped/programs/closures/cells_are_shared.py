def f():
    a = 1

    def g():
        nonlocal a
        a += 1

    def h():
        return a

    g()
    g()
    a *= 10
    print(h(), a)
    return g, h


g, h = f()
g()
print(h())
print(g.__closure__[0].cell_contents, g.__closure__[0] is h.__closure__[0])
print(g.__code__.co_freevars)
h.__closure__[0].cell_contents = "set"
print(h())
