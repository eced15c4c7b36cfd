def f():
    global g
    if (g := 1):
        pass

    def inner():
        nonlocal h
        return (h := h + 1)

    h = 1
    inner()
    return h


print(f(), g)


class A:
    if (a := 3) and (b := a):
        pass


print(A.a, A.b)
