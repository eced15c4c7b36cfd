class A:
    __count = 0
    __slots = ("x",)

    def __init__(self):
        self.__x = 1
        A.__count += 1

    def __hidden(self):
        __local = 5
        return self.__x + __local

    def get(self):
        return self.__hidden(), A.__count


a = A()
print(a.get(), sorted(vars(a)), sorted(k for k in vars(A) if "A__" in k))
print(a._A__hidden())
try:
    a.__x
except AttributeError as error:
    print(error)
