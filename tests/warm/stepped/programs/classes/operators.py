class V:
    def __init__(self, *xs):
        self.xs = xs

    def __add__(self, other):
        return V(*(a + b for a, b in zip(self.xs, other.xs)))

    def __radd__(self, other):
        return self if other == 0 else NotImplemented

    def __mul__(self, k):
        return V(*(a * k for a in self.xs))

    __rmul__ = __mul__

    def __matmul__(self, other):
        return sum(a * b for a, b in zip(self.xs, other.xs))

    def __iadd__(self, other):
        print("iadd")
        self.xs = (self + other).xs
        return self

    def __neg__(self):
        return self * -1

    def __eq__(self, other):
        return isinstance(other, V) and self.xs == other.xs

    def __getitem__(self, i):
        return self.xs[i]

    def __len__(self):
        return len(self.xs)

    def __contains__(self, x):
        return x in self.xs

    def __bool__(self):
        return any(self.xs)

    def __repr__(self):
        return f"V{self.xs}"

    def __call__(self, n):
        return self[n]


a, b = V(1, 2), V(3, 4)
a += b
print(a, 2 * a, a @ b, -a, sum([a, b]), a == V(4, 6), a[0:1], len(a), 6 in a, bool(V(0)), a(1))
