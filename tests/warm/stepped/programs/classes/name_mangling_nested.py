class Outer:
    __a = 1

    class __Inner:
        __b = 2

        def f(self, __arg=3):
            __v = __arg + self.__b
            return __v, sorted(locals())

    def g(self):
        def h():
            return self.__a, self.__Inner().f()

        return h()

    def kw(self, **kwargs):
        return kwargs

    def call(self):
        return self.kw(__k=1)


print(Outer().g())
print(Outer().call())


class _Under:
    __x = 1

    def f(self):
        return self.__x


class __:
    __y = 2


print(sorted(k for k in vars(_Under) if "x" in k), [k for k in vars(__) if "y" in k])
print(_Under().f())
