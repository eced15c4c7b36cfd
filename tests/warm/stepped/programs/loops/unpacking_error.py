# ends: ValueError: not enough values to unpack
def f(pairs):
    for a, b in pairs:
        print(a, b)


f([(1, 2), (3,)])
