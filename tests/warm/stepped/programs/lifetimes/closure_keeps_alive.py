import weakref


class A:
    pass


def f():
    a = A()
    r = weakref.ref(a)

    def g():
        return a

    return g, r


g, r = f()
print(r() is g())
g = None
print(r())


def h():
    a = A()
    r = weakref.ref(a)

    def unused():
        return 1

    return unused, r


u, r = h()
print(r())
