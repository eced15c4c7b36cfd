# ends: OverflowError
def f(n):
    x = 10.0
    for i in range(n):
        x = x**10
    return x


f(10)
