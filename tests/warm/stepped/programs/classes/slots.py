# ends: AttributeError
class S:
    __slots__ = ("a", "__b", "c")

    def __init__(self):
        self.a = 1
        self.__b = 2

    def b(self):
        return self.__b


class T(S):
    __slots__ = ()


t = T()
print(t.a, t.b(), S.__slots__, sorted(n for n in dir(S) if n.endswith("b")))
try:
    t.c
except AttributeError as error:
    print(error)
t.d = 1
