# ends: TypeError: 'int' object is not iterable
def f(xs):
    total = 0
    for x in xs:
        total += x
    return total


print(f([1, 2]))
f(3)
