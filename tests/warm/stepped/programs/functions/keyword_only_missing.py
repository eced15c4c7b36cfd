# ends: TypeError: f() missing 2 required keyword-only arguments: 'b' and 'c'
def f(*, a=1, b, c):
    print(a, b, c)


f(b=2, c=3)
f(**{"a": 0, "b": 1, "c": 2})
f()
