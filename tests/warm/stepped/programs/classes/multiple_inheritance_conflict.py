# ends: TypeError
class A: ...


class B(A): ...


print([c.__name__ for c in B.mro()])


class C(A, B):
    x = 1
