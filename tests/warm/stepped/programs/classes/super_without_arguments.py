class A:
    def __init__(self, n):
        print("A", n)
        self.n = n

    def f(self):
        return "A.f"

    @classmethod
    def c(cls):
        return "A.c", cls.__name__


class B(A):
    def __init__(self, n):
        print("B", n)
        super().__init__(n + 1)
        self.m = n

    def f(self):
        up = super().f()
        return up + " B.f"

    @classmethod
    def c(cls):
        return super().c() + ("B.c",)


b = B(1)
print(b.n, b.m, b.f(), B.c())
