import weakref


class A:
    pass


def gone(ref):
    print("gone", names[ref])


names = {}


def watch(obj, name):
    r = weakref.ref(obj, gone)
    names[r] = name
    return r


a = A()
r1 = watch(a, "a")
print(r1() is a)
del a
print("deleted")


def f():
    b = A()
    r = watch(b, "b")
    c = A()
    r2 = watch(c, "c")
    b = None
    print("b dropped")
    for i in range(2):
        d = A()
        watch(d, f"d{i}")
        print("pass", i)


f()
print("f done")
