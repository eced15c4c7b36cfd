# stdin: where\nlist\np x\nnext\nnext\np y\nstep\nwhere\nargs\nup\np x\ndown\nreturn\ncontinue\n
def g(n):
    m = n * 2
    return m


def f(x):
    breakpoint()
    y = x + 1
    z = g(y)
    print("z", z)
    return z


f(1)
print("done")
