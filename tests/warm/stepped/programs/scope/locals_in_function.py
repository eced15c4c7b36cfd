def f(a, b=2, *c, **d):
    print(sorted(locals()))
    x = 1
    print(sorted(locals().items()))
    for i in range(2):
        y = i
    del x
    print(sorted(locals().items()))
    with open(__file__) as handle:
        print(sorted(k for k in locals()))
    [z for z in range(2)]
    return list(locals())


print(f(1))
