# ends: RuntimeError: third
class It:
    def __init__(self):
        self.n = 0

    def __iter__(self):
        print("iter")
        return self

    def __next__(self):
        self.n += 1
        if self.n == 3:
            raise RuntimeError("third")
        return self.n


def f():
    for x in It():
        print(x)


f()
