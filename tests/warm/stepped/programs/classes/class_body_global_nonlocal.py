def f():
    n = 1

    class A:
        nonlocal n
        global made
        n = 2
        made = 3
        own = n

    return n, A.own, "n" in vars(A)


print(f(), made)


class B:
    global outside
    outside = 1

    def g(self): ...


print(outside, "outside" in vars(B))
