# ends: TypeError
def ok(f):
    print("decorate", f.__name__)
    return f


@ok
def f():
    return 1


print(f())


@ok
@3
def g():
    return 2
