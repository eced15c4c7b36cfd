# ends: NameError: name 'lenght' is not defined
def f(xs):
    n = 0
    for x in xs:
        n += lenght(x)
    return n


f([[1], [2]])
