import atexit
import weakref


class A:
    def __init__(self, n):
        self.n = n

    def __del__(self):
        print("del", self.n)


a = A("global")
b = [A("in list")]
weakref.finalize(a, print, "finalize")
atexit.register(print, "atexit")


def keep(x=A("default")):
    return x


print("end of file")
