class A:
    def f(self):
        return ["A"]


class B(A):
    def f(self):
        return super(B, self).f() + ["B"]


class C(A):
    def f(self):
        return super(C, self).f() + ["C"]


class D(B, C):
    def f(self):
        s = super(D, self)
        return s.f() + ["D"]


print(D().f(), [c.__name__ for c in D.__mro__])
