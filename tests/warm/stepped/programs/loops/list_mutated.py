xs = [1, 2, 3, 4]
for x in xs:
    print(x)
    if x % 2 == 0:
        xs.remove(x)
    if len(xs) < 6:
        xs.append(x * 10 + 1)
print(xs)


def f(xs):
    for i, x in enumerate(xs):
        if i < 3:
            xs.insert(0, x)
    return xs


print(f([1]))
