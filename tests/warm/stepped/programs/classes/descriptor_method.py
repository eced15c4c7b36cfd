class method:
    def __init__(self, f):
        self.f = f

    def __get__(self, obj, owner):
        print("get", obj is not None, owner.__name__)
        import functools

        return functools.partial(self.f, obj)


class A:
    @method
    def f(self, n):
        return self, n


print(A.f(1))
print(A().f(2)[1])
