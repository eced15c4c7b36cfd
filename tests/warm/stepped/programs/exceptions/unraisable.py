# ignore: 0x[0-9a-f]+
class A:
    def __del__(self):
        raise ValueError("in del")


def f():
    a = A()
    print("made", type(a).__name__)


f()
print("after")
