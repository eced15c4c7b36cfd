# ends: AttributeError: 'A' object has no attribute '_A__nope'
class A:
    def __init__(self):
        self.__there = 1

    def f(self):
        x = self.__there
        for i in range(3):
            if i == 2:
                return self.__nope
        return x


A().f()
