class A:
    def __del__(self):
        print("del")


def f():
    a = A()
    try:
        return 1
    finally:
        print("finally")


f()
print("--")


def g():
    a = A()
    with open(__file__):
        b = a
        return 2


g()
print("--")


def h():
    for i in range(2):
        a = A()
        try:
            continue
        finally:
            print("cont", i)


h()
print("end")
