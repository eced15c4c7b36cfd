import atexit
import weakref


class A:
    def __init__(self, n):
        self.n = n
        self.cycle = self

    def __del__(self):
        for i in range(2):
            print("del", self.n, i)


a = A("in a cycle")


def gen():
    try:
        yield 1
    finally:
        x = 1
        print("generator", x)


g = gen()
next(g)
f = weakref.finalize(a, lambda: print("finalize"))
atexit.register(lambda: [print("atexit", i) for i in range(1)])
