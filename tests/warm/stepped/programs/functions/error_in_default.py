# ends: NameError
def f(a=1):
    return a


print(f())


def g(a=undefined_name):
    return a
