class A:
    def f(self):
        self.a = 1
        self.b = 2

    def g(self):
        self.c = 3


print(sorted(getattr(A, "__static_attributes__", ())), getattr(A, "__firstlineno__", None))
print(A.f.__code__.co_firstlineno, A.g.__code__.co_firstlineno)
