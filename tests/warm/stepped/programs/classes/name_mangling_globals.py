# ends: NameError: name '_A__missing' is not defined
_A__shared = "global"


class A:
    def f(self):
        global __written
        __written = 1
        return __shared

    def g(self):
        import os.path as __p
        for __i in range(2):
            pass
        return sorted(locals())

    def h(self):
        return __missing


print(A().f(), _A__written)
print(A().g())
A().h()
