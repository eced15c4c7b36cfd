# ends: ZeroDivisionError
def f():
    source = "def g():\n    x = 1\n    return x / 0\ng()"
    exec(source)


def h():
    return eval("1 + nope()", {"nope": f})


h()
