def analysed(f):
    c = f.__code__
    print(c.co_name, c.co_argcount, c.co_posonlyargcount, c.co_kwonlyargcount, c.co_nlocals)
    print(c.co_varnames, c.co_names, c.co_freevars, c.co_cellvars, c.co_flags, c.co_stacksize)
    print(c.co_firstlineno, [k for k in c.co_consts if not hasattr(k, "co_code")])
    return f


@analysed
def f(a, b=1, *c, d, **e):
    x = a + b
    for i in range(3):
        x += i
    if x > 10:
        print("big", x)
    return x


@analysed
def g(k):
    def h():
        return k

    return h


print(f(1, d=2), g(3)())
