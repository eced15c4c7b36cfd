# ends: TypeError: f() got some positional-only arguments
def f(a, b, /, c, *, d=4):
    print(a, b, c, d)
    return a + b + c + d


def g(a, /, **kwargs):
    print(a, kwargs)


print(f(1, 2, 3))
print(f(1, 2, c=3, d=5))
g(1, a=2)
f(a=1, b=2, c=3)
