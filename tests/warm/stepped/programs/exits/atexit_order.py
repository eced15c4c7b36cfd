# ignore: 0x[0-9a-f]+
# ends: ValueError
import atexit


@atexit.register
def first():
    print("registered first, runs last")


def second(n):
    print("second", n)


def failing():
    raise KeyError("in atexit")


atexit.register(second, 2)
atexit.register(failing)
atexit.register(lambda: print("last registered"))
raise ValueError("main ends")
