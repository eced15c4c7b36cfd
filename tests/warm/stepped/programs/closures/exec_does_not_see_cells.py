# ends: NameError
def f():
    hidden = 1

    def g():
        seen = 2
        return eval("seen")

    print(g())

    def h():
        return eval("hidden")

    return h()


f()
