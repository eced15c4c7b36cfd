# ends: UnboundLocalError
x = 1


def f(flag):
    if flag:
        x = 2
    print("x is", x)


f(True)
f(False)
