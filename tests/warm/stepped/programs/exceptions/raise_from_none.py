# ends: ValueError: clean
def f():
    try:
        [].pop()
    except IndexError:
        raise ValueError("clean") from None


f()
