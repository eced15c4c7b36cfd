import types

K = 10


def f(a, b=2):
    c = a + b + K
    return c


g = types.FunctionType(f.__code__, {"K": 100, "__builtins__": __builtins__}, "g", (5,))
print(f(1), g(1), g.__defaults__)
h = types.FunctionType(f.__code__, globals(), "h", f.__defaults__, f.__closure__)
print(h(1))


def outer(n):
    def inner(x):
        nonlocal n
        n += x
        return n

    return inner


i = outer(1)
cell = types.CellType(50)
j = types.FunctionType(i.__code__, globals(), "j", None, (cell,))
print(j(1), j(1), i(1), cell.cell_contents)
