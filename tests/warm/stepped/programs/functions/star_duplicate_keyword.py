# ends: got multiple values for keyword argument 'a'
def f(**kwargs):
    return kwargs


print(f(a=1))
print(f(a=1, **{"a": 2}))
