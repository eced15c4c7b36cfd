import marshal
import types


def f(n):
    total = 1
    for i in range(1, n + 1):
        total *= i
    return total


data = marshal.dumps(f.__code__)
g = types.FunctionType(marshal.loads(data), globals(), "g")
print(g(5), g.__name__, len(data) > 50)
