class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


def gen():
    a = A("a")
    yield 1
    b = A("b")
    yield 2
    print("gen end")


for x in gen():
    print(x)
print("--")
g = gen()
next(g)
g.close()
print("closed")
g = gen()
next(g)
g = None
print("end")
