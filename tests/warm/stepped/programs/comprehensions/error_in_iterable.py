# ends: TypeError: 'NoneType' object is not iterable
def f(x):
    return {k: v for k in x for v in k}


print(f(["a", "b"]))
f(None)
