import sys


def f():
    a = object()
    print(sys.getrefcount(a))
    b = [a, a]
    print(sys.getrefcount(a))
    for x in b:
        print(sys.getrefcount(a), sys.getrefcount(x))
    del b
    print(sys.getrefcount(a))
    try:
        raise ValueError(a)
    except ValueError as e:
        print(sys.getrefcount(a))
    return sys.getrefcount(a)


print(f())
o = object()
print(sys.getrefcount(o))
