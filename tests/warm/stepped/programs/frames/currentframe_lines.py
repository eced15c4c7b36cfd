import inspect


def line():
    return inspect.currentframe().f_back.f_lineno


print(line())
x = [
    line(),
    line(),
]
print(x)


def f():
    a = line()

    b = line(); c = line()
    if line() and \
            line():
        d = line()
    return a, b, c, d, inspect.currentframe().f_lineno


print(f())
for _ in range(2):
    print(line())
while line() < 0:
    pass
with open(__file__) as handle:
    print(line())
