# ends: ZeroDivisionError
def numbers():
    for i in (2, 1, 0):
        print("yield", i)
        yield 1 / i


def total(it):
    t = 0
    for x in it:
        t += x
    return t


total(numbers())
