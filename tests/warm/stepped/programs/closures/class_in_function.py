def make(name):
    x = 1

    class C:
        x = 2
        y = x

        def get(self):
            return x, self.x, name

        z = [x for _ in range(2)]

    x = 3
    C.__name__ = name
    return C


A = make("A")
print(A().get(), A.y, A.z, A)
