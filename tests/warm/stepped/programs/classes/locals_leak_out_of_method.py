class A:
    x = 5

    def f(self):
        return x


x = "global"
print(A().f())


class B:
    x = x
    y = [x for _ in range(1)]
    z = [v for v in x]


print(B.x, B.y, B.z)
