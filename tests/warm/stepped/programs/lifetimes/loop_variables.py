class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


def f():
    for a in (A(i) for i in range(3)):
        print("at", a.n)
    print("loop over")
    while True:
        b = A("w")
        print("break")
        break
    print("leaving")


f()
for a in map(A, "xy"):
    b = a
    print("top", a.n)
print("rest")
