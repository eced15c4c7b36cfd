class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


def take(a):
    print("take", a.n)
    a = None
    print("dropped?")


take(A(1))
print("--")


def make():
    a = A(2)
    b = A(3)
    return a


m = make()
print("made", m.n)
m = None


def chain():
    try:
        return A(4)
    finally:
        print("finally")


chain()
print("end")
