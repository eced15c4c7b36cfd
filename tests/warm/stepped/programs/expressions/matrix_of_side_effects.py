log = []


class A:
    def __init__(self, n):
        self.n = n

    def __getattr__(self, name):
        log.append(("getattr", self.n, name))
        return A(f"{self.n}.{name}")

    def __call__(self, *args):
        log.append(("call", self.n, len(args)))
        return A(f"{self.n}()")

    def __getitem__(self, k):
        log.append(("item", self.n, k))
        return A(f"{self.n}[]")


a = A("a")
r = a.b(a.c)[a.d(1).n].e
for line in log:
    print(line)
print(r.n)
