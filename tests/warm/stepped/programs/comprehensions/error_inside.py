# ends: ZeroDivisionError
def f(xs):
    first = [x + 1 for x in xs]
    second = [
        10 / x
        for x in xs
        if x != 5
    ]
    return first, second


f([1, 2, 0])
