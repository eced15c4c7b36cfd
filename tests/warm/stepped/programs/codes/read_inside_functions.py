def outer():
    def inner(x):
        y = x
        return y

    def names(f):
        return f.__code__.co_names, f.__code__.co_varnames, f.__code__.co_consts

    print(names(inner), inner(3))
    print(names(names))
    return inner.__code__.co_code == inner.__code__.co_code


print(outer())
print([f.__code__.co_stacksize for f in (lambda: 1, outer)][0])
