class It:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        self.n -= 1
        if self.n < 0:
            raise StopIteration
        return self.n

    def __del__(self):
        print("iterator freed")


for x in It(2):
    print(x)
print("after normal end")
for x in It(5):
    break
print("after break")


def f():
    for x in It(3):
        if x == 1:
            return "returned"


print(f())


def g():
    for x in It(3):
        raise ValueError


try:
    g()
except ValueError:
    print("handler")
print("end")
