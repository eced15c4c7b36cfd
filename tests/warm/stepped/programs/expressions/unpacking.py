a, *b = 1, 2, 3
*c, d = "xyz"
(e, [f, *g]), h = (1, [2, 3, 4]), 5
[i, j] = {"k": 1, "l": 2}
k = l = [0]
print(a, b, c, d, e, f, g, h, i, j, k is l)
print([*range(2), *"ab"], {**{"a": 1}, "b": 2, **{"a": 3}}, {*[1, 2], 3}, (*[], 1))
m, n = n, m = 1, 2
print(m, n)
x = *[1], 2
print(x)


def f2():
    return *x, 3


print(f2())
