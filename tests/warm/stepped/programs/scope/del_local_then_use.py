# ends: UnboundLocalError
def f():
    x = 1
    print(x)
    del x
    for i in range(2):
        x = i
    print(x)
    del x, i
    return x


f()
