# ends: NameError
def f():
    x = 1

    def g():
        return x

    print(g())
    del x
    try:
        g()
    except NameError as error:
        print(error)
    try:
        print(x)
    except UnboundLocalError as error:
        print(error)
    x = 2
    print(g())
    del x
    return g


f()()
