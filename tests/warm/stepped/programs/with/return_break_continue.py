class M:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        return self.n

    def __exit__(self, *exc):
        print("exit", self.n, exc)


def f():
    for i in range(5):
        with M(i) as n:
            if n == 1:
                continue
            if n == 3:
                break
            print("body", n)
    while True:
        with M("w"), M("v"):
            return "returned"


print(f())
