def f():
    x = 1
    try:
        return x
    finally:
        x = 2
        print("x", x)


def g():
    xs = []
    try:
        return xs
    finally:
        xs.append(1)


print(f(), g())
