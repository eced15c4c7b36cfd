def gen(n):
    try:
        yield n
    finally:
        print("finally", n)


g = gen(1)
next(g)
del g
print("deleted")


def f():
    h = gen(2)
    next(h)
    print("leaving")


f()
print("left")
k = gen(3)
next(k)
k = gen(4)
print("rebound")
next(k)
print("end of file")
