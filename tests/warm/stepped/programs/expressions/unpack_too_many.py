# ends: ValueError: too many values to unpack (expected 2
def f(xs):
    (a,) = xs[:1]
    a, b = xs
    return a, b


print(f([1, 2]))
f([1, 2, 3])
