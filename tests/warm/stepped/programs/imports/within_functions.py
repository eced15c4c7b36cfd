def f():
    import lib
    from lib import g as h

    return lib.n, h(2)


print(f(), f())
print("lib" in globals())


class A:
    import lib as inner
    from lib import n


print(A.n, A.inner.__name__)
# --- file: lib.py
print("imported once")
n = 1


def g(x):
    return x * 3
