x = "outer"
print([x for x in range(3)], x)


def f(n):
    n2 = n
    a = [n2 + i for i in range(n)]
    b = [[i * j + n2 for j in range(2)] for i in range(2)]
    return a, b, "i" in locals()


print(f(2))


class A:
    k = 3
    xs = [i for i in range(k)]


print(A.xs)
