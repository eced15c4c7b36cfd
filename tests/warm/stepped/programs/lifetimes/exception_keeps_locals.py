class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


def f():
    a = A("a")
    raise ValueError


try:
    f()
except ValueError as error:
    print("caught")
print("after")
try:
    f()
except ValueError:
    print("caught without name")
print("after")


def g():
    try:
        f()
    except ValueError as e:
        saved = e
    print("in g")
    del saved
    print("saved gone")


g()
