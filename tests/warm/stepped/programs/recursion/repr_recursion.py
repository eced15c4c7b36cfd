class N:
    def __init__(self):
        self.me = self

    def __repr__(self):
        return f"N({self.me!r})"


try:
    repr(N())
except RecursionError as error:
    print(str(error)[:32])
xs = []
xs.append(xs)
print(xs)
