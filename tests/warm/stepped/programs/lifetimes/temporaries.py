class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)

    def __enter__(self):
        return self.n

    def __exit__(self, *exc):
        print("exit", self.n)


A(1)
print("one")
A(2).n
print("two")
[A(3), A(4)]
print("list")


def f(a):
    print("in f", a.n)


f(A(5))
print("f done")
with A(6) as n:
    print("with", n)
print("with done")
for x in [A(7), A(8)]:
    print("loop", x.n)
print("loop done")
if A(9).n:
    print("if")
a = A(10).n
print("assigned")
