def f(*args, **kwargs):
    args += (len(kwargs),)
    kwargs["n"] = len(args)
    return args, kwargs


def g(first, *rest, last=None, **others):
    for i, r in enumerate(rest):
        print(i, r)
    return first, rest, last, others


print(f())
print(f(1, *[2, 3], x=4, **{"y": 5}))
print(g(*range(4), **dict(last=1, z=2)))
print(g(*"ab", *"cd"))
