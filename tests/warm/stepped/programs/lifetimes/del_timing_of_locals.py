class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


def f():
    a = A("a")
    b = A("b")
    print("body")
    del a
    print("after del")
    b = A("c")
    print("rebound")
    return "returned"


print(f())
x = A("x")
x = A("y")
print("x rebound")
del x
print("end")
